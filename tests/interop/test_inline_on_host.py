"""The steady state for torch tensors, on host memory: which calls use an earlier launch, and their effects."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.ops.elementwise import OPERATORS

torch: Any = pytest.importorskip("torch")
inline: Any = pytest.importorskip("xpops.frameworks.inline")
pytestmark = pytest.mark.skipif(inline.TensorGuards is None, reason="this torch has no guards")

SIZE = 16
PACK = 4  # elements in 16 bytes; other starts are misaligned
LAYOUT = layout_of(dt.float32, (SIZE,), None, Device("cuda"))
STREAM = 7
ADD, NEGATIVE = OPERATORS["add"], OPERATORS["negative"]
places = st.integers(0, 12).map(lambda number: PACK * number)


def at(address: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_float * SIZE).from_address(address))


def added(stream: int, out: int, x1: int, x2: Any) -> None:
    """The kernel: `x2` is an address or a scalar."""
    assert stream == STREAM
    at(out)[...] = at(x1) + (x2 if isinstance(x2, float) else at(x2))


def negated(stream: int, out: int, x: int) -> None:
    assert stream == STREAM
    at(out)[...] = -at(x)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(inline, "_current_device", lambda: -1)
    return inline.InlineCache(lambda index: STREAM)


def remembered(cache: Any, *given: Any, out: Any = None) -> None:
    """Remember a call of add or, with one operand, of negative."""
    specs = tuple(LAYOUT if isinstance(x, torch.Tensor) else type(x) for x in given)
    x2 = given[1] if len(given) > 1 else None
    op, kernel = (ADD, added) if len(given) > 1 else (NEGATIVE, negated)
    like = torch.empty(SIZE) if out is None else out
    assert cache.remember(op, given[0], x2, out, specs, LAYOUT, kernel, like)


def part(memory: Any, place: int) -> Any:
    return memory[place : place + SIZE]


def apart(place: int, other: int) -> bool:
    return place == other or abs(place - other) >= SIZE


@given(places, places, places)
def test_two_operands_and_an_out_in_one_memory(first: int, second: int, target: int) -> None:
    """Partly overlapping operands take the slow path, which uses a temporary. Others take the fast path."""
    cache = inline.InlineCache(lambda index: STREAM)
    memory = torch.arange(1.0, 81.0)
    x1, x2, out = (part(memory, place) for place in (first, second, target))
    remembered(cache, *(torch.zeros(SIZE) for _ in range(2)), out=torch.zeros(SIZE))
    wanted, before = (x1 + x2).clone(), memory.clone()
    result = cache.call(ADD, x1, x2, out)
    if apart(first, target) and apart(second, target):
        assert result is out
        assert torch.equal(out, wanted)
    else:
        assert result is None
        assert torch.equal(memory, before)


@given(places, places, st.sampled_from([None, 2.5]))
def test_one_operand_and_an_out_in_one_memory(first: int, target: int, scalar: Any) -> None:
    cache = inline.InlineCache(lambda index: STREAM)
    memory = torch.arange(1.0, 81.0)
    x, out, others = part(memory, first), part(memory, target), () if scalar is None else (scalar,)
    remembered(cache, torch.zeros(SIZE), *others, out=torch.zeros(SIZE))
    wanted = (-x if scalar is None else x + scalar).clone()
    result = cache.call(NEGATIVE if scalar is None else ADD, x, scalar, out)
    if apart(first, target):
        assert result is out
        assert torch.equal(out, wanted)
    else:
        assert result is None


@pytest.mark.parametrize("others", [(), (2.5,), (torch.ones(SIZE),)], ids=["one", "scalar", "two"])
def test_a_write_counts_as_one_for_autograd(cache: Any, others: tuple[Any, ...]) -> None:
    """A backward pass that needs overwritten values raises."""
    x, out = torch.arange(float(SIZE)), torch.zeros(SIZE)
    remembered(cache, x, *others, out=out)
    for _ in range(2):
        weight = torch.ones(SIZE, requires_grad=True)
        product, version = (weight * out).sum(), out._version
        assert cache.call(ADD if others else NEGATIVE, x, others[0] if others else None, out) is out
        assert out._version > version
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


OUTS = {
    "unary": lambda x, out: xp.negative(x, out=out),
    "binary": lambda x, out: xp.add(x, x, out=out),
    "scalar": lambda x, out: xp.add(x, 1.5, out=out),
    "where": lambda x, out: xp.where(x > 1, x, 0.0, out=out),
    "clip": lambda x, out: xp.clip(x, 0.0, 1.0, out=out),
    "overlapping": lambda x, out: xp.add(out[:-1], out[1:], out=out[1:]),
}


@pytest.mark.parametrize("name", OUTS)
def test_every_out_counts_for_autograd(name: str) -> None:
    """On the slow path, and for views."""
    x, out = torch.arange(float(SIZE)), torch.zeros(SIZE)
    for _ in range(3):
        weight = torch.ones(SIZE, requires_grad=True)
        product = (weight * out).sum()
        OUTS[name](x, out)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


@pytest.mark.parametrize("writes", [False, True])
def test_what_is_misaligned_is_not_taken(cache: Any, writes: bool) -> None:
    memory, good = torch.arange(1.0, 81.0), torch.zeros(SIZE)
    out = torch.zeros(SIZE) if writes else None
    remembered(cache, good, good.clone(), out=out)
    remembered(cache, good, out=out)
    bad = part(memory, 1)
    for x1, x2 in ((bad, good), (good, bad)):
        assert cache.call(ADD, x1, x2, out) is None
    assert cache.call(NEGATIVE, bad, None, out) is None
    if writes:
        assert cache.call(ADD, good, good.clone(), bad) is None
        assert cache.call(NEGATIVE, good, None, bad) is None
    else:
        assert torch.equal(cache.call(NEGATIVE, part(memory, 8), None, None), -part(memory, 8))


def test_what_is_like_an_earlier_call_is_taken(cache: Any) -> None:
    x, y = torch.randn(SIZE), torch.randn(SIZE)
    remembered(cache, x, y)
    remembered(cache, x, 2.5)
    z = torch.randn(SIZE)
    assert torch.equal(cache.call(ADD, z, x, None), z + x)
    assert torch.equal(cache.call(ADD, z, 3.0, None), z + 3.0)
    assert cache.call(ADD, z, z, None) is None, "two operands that are one tensor were not seen before"
    remembered(cache, x, x)
    assert torch.equal(cache.call(ADD, z, z, None), z + z)


@pytest.mark.parametrize(
    "other",
    [
        torch.zeros(SIZE, dtype=torch.int32),
        torch.zeros(2 * SIZE)[::2],
        torch.zeros(2 * SIZE),
        torch.zeros(SIZE, requires_grad=True),
        torch.zeros(1).expand(SIZE),
    ],
    ids=["dtype", "strides", "shape", "gradients", "repeated"],
)
def test_what_is_another_call_is_not_taken(cache: Any, other: Any) -> None:
    x, y, out = (torch.zeros(SIZE) for _ in range(3))
    remembered(cache, x, x)
    remembered(cache, x, y)
    remembered(cache, x, y, out=out)
    for x1, x2, target in ((other, y, None), (x, other, None), (other, y, out), (x, other, out), (x, y, other)):
        assert cache.call(ADD, x1, x2, target) is None


def test_what_was_taken_without_gradients_is_taken_so_alone(cache: Any) -> None:
    leaf = torch.randn(SIZE, requires_grad=True)
    with torch.no_grad():
        remembered(cache, leaf)
        assert torch.equal(cache.call(NEGATIVE, leaf, None, None), -leaf)
    assert cache.call(NEGATIVE, leaf, None, None) is None
