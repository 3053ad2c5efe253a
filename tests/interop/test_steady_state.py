"""The steady state for arrays of frameworks: which calls use an earlier launch, and their effects."""

from __future__ import annotations

import enum
import gc
import sys
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
import xpops.dispatch
from xpops.arrays import viewing
from xpops.core.devices import CPU
from xpops.dispatch import primitives

torch: Any = pytest.importorskip("torch")

SIZE = 16
places = st.integers(0, 48)
FRAMEWORKS: dict[str, Callable[[Any], Any]] = {
    "xpops": lambda x: xp.asarray(x, device=CPU),
    "numpy": lambda x: x.copy(),
    "torch": lambda x: torch.from_numpy(x.copy()),
}
frameworks = pytest.mark.parametrize("make", FRAMEWORKS.values(), ids=FRAMEWORKS)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: xp.add(x, y),
    "scalar": lambda x, y: xp.multiply(2.5, x),
    "negative": lambda x, y: xp.negative(x),
    "where": lambda x, y: xp.where(xp.greater(x, 0), x, y),
    "clip": lambda x, y: xp.clip(x, 0.0, 1.0),
    "one bound": lambda x, y: xp.clip(x, max=1.0),
    "astype": lambda x, y: xp.astype(x, xp.int32),
    "sum": lambda x, y: xp.sum(x, axis=(0, 1)),
    "mean": lambda x, y: xp.mean(x, axis=[1]),
    "argmax": lambda x, y: xp.argmax(x, axis=0),
    "cumulative_sum": lambda x, y: xp.cumulative_sum(x, axis=1),
    "sort": lambda x, y: xp.sort(x, axis=0),
    "topk": lambda x, y: xp.nn.topk(x, 2),
    "softmax": lambda x, y: xp.nn.softmax(x, axis=0),
    "concat": lambda x, y: xp.concat([x, y], axis=1),
    "stack": lambda x, y: xp.stack([x, y]),
    "matmul": lambda x, y: xp.matmul(x, y),
    "take": lambda x, y: xp.take(x, xp.astype(xp.abs(y), xp.int64)[0], axis=1),
    "nonzero": lambda x, y: xp.nonzero(x),
    "where of a condition": lambda x, y: xp.where(x > 0),
    "unique": lambda x, y: xp.unique_all(x),
    "fft": lambda x, y: xp.fft.fft(x),
    "svd": lambda x, y: xp.linalg.svdvals(x),
    "pad": lambda x, y: xp.pad(x, 1),
    "roll": lambda x, y: xp.roll(x, 1, axis=0),
    "tril": lambda x, y: xp.tril(x),
    "diff": lambda x, y: xp.diff(x, axis=0),
    "zeros_like": lambda x, y: xp.zeros_like(x),
    "full_like": lambda x, y: xp.full_like(x, 2.5),
    "reshape": lambda x, y: xp.reshape(x, (-1,)),
    "permute_dims": lambda x, y: xp.permute_dims(x, [1, 0]),
    "expand_dims": lambda x, y: xp.expand_dims(x, axis=(0, 2)),
    "squeeze": lambda x, y: xp.squeeze(xp.expand_dims(x, axis=0), axis=0),
    "broadcast_to": lambda x, y: xp.broadcast_to(x, (2, 4, 4)),
    "flip": lambda x, y: xp.flip(x, axis=1),
    "unstack": lambda x, y: xp.unstack(x, axis=1),
    "diagonal": lambda x, y: xp.linalg.diagonal(x, offset=1),
    "moveaxis": lambda x, y: xp.moveaxis(x, 0, 1),
    "out": lambda x, y: xp.add(
        x, y, out=xp.zeros(x.shape, dtype=x.dtype, device=CPU) if isinstance(x, xp.Array) else x
    ),
}
VIEWS = ("reshape", "permute_dims", "expand_dims", "squeeze", "broadcast_to", "unstack", "diagonal", "moveaxis")


def of(values: Any) -> Any:
    """NumPy arrays of a result."""
    if isinstance(values, tuple):
        return tuple(map(of, values))
    return np.asarray(values)


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, expected)


@frameworks
@pytest.mark.parametrize("name", CALLS)
def test_the_second_call_is_not_planned(name: str, make: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any function, on any framework's arrays: other values in other memory."""
    call, generator = CALLS[name], np.random.default_rng(3)
    pairs = [tuple(generator.integers(-3, 4, (4, 4)).astype(np.float32) for _ in range(2)) for _ in range(3)]
    expected = []
    for pair in pairs:  # with fresh plans each time
        for table in (xpops.dispatch.steady.launches, xpops.dispatch.steady.writes, xpops.dispatch.steady.shows):
            table.clear()
        expected.append(of(call(*map(make, pair))))

    def refuse(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("the long way")

    monkeypatch.setattr(primitives, "_first_call", refuse)
    monkeypatch.setattr(viewing, "_first_view", refuse)
    monkeypatch.setattr(xpops.dispatch, "_first_call", refuse)
    monkeypatch.setattr(xpops.dispatch, "write_first", refuse)
    for pair, wanted in zip(pairs, expected, strict=True):
        operands = tuple(map(make, pair))
        result = call(*operands)
        assert_same(of(result), wanted)
        for each in result if isinstance(result, tuple) else (result,):
            own = name in ("zeros_like", "full_like")
            assert isinstance(each, xp.Array if own else type(operands[0]))


@frameworks
@pytest.mark.parametrize("name", VIEWS)
def test_views_share_memory(name: str, make: Callable[[Any], Any]) -> None:
    for _ in range(3):
        x = make(np.arange(16.0).reshape(4, 4))
        results = CALLS[name](x, x)
        results = results if isinstance(results, tuple) else (results,)
        before = [of(found).copy() for found in results]
        x[...] = x + 100
        for found, old in zip(results, before, strict=True):
            assert_same(of(found), old + 100)


@pytest.mark.parametrize("make", [FRAMEWORKS["numpy"], FRAMEWORKS["torch"]], ids=["numpy", "torch"])
@given(first=places, second=places, target=places)
def test_two_operands_and_an_out_in_one_memory(make: Any, first: int, second: int, target: int) -> None:
    """Where out overlaps an operand, the result is that of separate memory, on the first call and on later ones."""
    for _ in range(3):
        memory = make(np.arange(1.0, 65.0))
        x, y, out = (memory[place : place + SIZE] for place in (first, second, target))
        wanted = of(x) + of(y)
        assert xp.add(x, y, out=out) is out
        np.testing.assert_array_equal(of(out), wanted)
        memory = make(np.arange(1.0, 65.0))
        x, out = memory[first : first + SIZE], memory[target : target + SIZE]
        wanted = np.sqrt(of(x).copy())
        xp.sqrt(x, out=out)
        np.testing.assert_array_equal(of(out), wanted)


OUTS = {
    "unary": lambda x, out: xp.negative(x, out=out),
    "binary": lambda x, out: xp.add(x, x, out=out),
    "scalar": lambda x, out: xp.add(x, 1.5, out=out),
    "where": lambda x, out: xp.where(x > 1, x, 0.0, out=out),
    "clip": lambda x, out: xp.clip(x, 0.0, 1.0, out=out),
    "overlapping": lambda x, out: xp.add(out[:-1], out[1:], out=out[1:]),
}


@pytest.mark.parametrize("name", OUTS)
def test_every_write_counts_for_autograd(name: str) -> None:
    """A backward pass that needs overwritten values raises: on the slow path, in the steady state, and for views."""
    x, out = torch.arange(float(SIZE)), torch.zeros(SIZE)
    for _ in range(3):
        weight = torch.ones(SIZE, requires_grad=True)
        product, version = (weight * out).sum(), out._version
        OUTS[name](x, out)
        assert out._version > version
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


def test_what_differs_in_one_fact_is_another_call() -> None:
    x = torch.arange(16.0)
    others = {
        "dtype": x.to(torch.int32),
        "float64": x.double(),
        "strides": torch.arange(32.0)[::2],
        "shape": torch.arange(32.0),
        "axes": torch.arange(16.0).reshape(4, 4),
        "misaligned": torch.arange(17.0)[1:],
        "expanded": torch.ones(1).expand(16),
        "empty": torch.zeros(0),
        "scalar": torch.tensor(3.0),
        "parameter": torch.nn.Parameter(torch.ones(16), requires_grad=False),
    }
    for _ in range(3):
        for other in others.values():
            for y in (x, other, x, other):
                assert_same(of(xp.multiply(y, 3)), of(y) * 3)
                assert_same(of(xp.add(y, y)), of(y) + of(y))
                np.testing.assert_allclose(of(xp.sum(y)), of(y).sum())


def test_read_only_arrays_are_not_written() -> None:
    x, out = np.ones(4), np.zeros(4)
    for _ in range(2):
        xp.add(x, x, out=out)
    out.flags.writeable = False
    own, read_only = xp.ones(4, device=CPU), xp.broadcast_to(xp.zeros(4, device=CPU), (4,))
    for _ in range(3):
        with pytest.raises(ValueError, match="add: out is read-only"):
            xp.add(x, x, out=out)
        xp.add(own, own, out=xp.zeros(4, device=CPU))
        with pytest.raises(ValueError, match="add: out is read-only"):
            xp.add(own, own, out=read_only)
    assert out.tolist() == [2] * 4


def test_an_integer_that_the_dtype_cannot_hold() -> None:
    for make in FRAMEWORKS.values():
        x = make(np.arange(4, dtype=np.uint8))
        for _ in range(3):
            assert of(xp.add(x, 3)).tolist() == [3, 4, 5, 6]
            with pytest.raises(OverflowError, match="add: x2 is 300"):
                xp.add(x, 300)
            with pytest.raises(OverflowError, match="fill_value is 300"):
                xp.full_like(x, 300)


@frameworks
def test_remembered_calls_keep_no_array(make: Callable[[Any], Any]) -> None:
    gc.freeze()  # the collections below need not visit what other tests left: that takes a second each
    for name, call in CALLS.items():
        x, y = (make(np.eye(4, dtype=np.float32)) for _ in range(2))
        call(x, y)
        call(x, y)
        count = sys.getrefcount(x)
        watched = weakref.ref(x)
        call(x, y)
        gc.collect()
        assert sys.getrefcount(x) == count, name
        del x, y
        gc.collect()
        assert watched() is None, name


def test_tensors_of_transforms_and_nested_ones_take_the_long_way() -> None:
    x = torch.ones(3, 4)
    for _ in range(3):
        assert of(xp.negative(x)).tolist() == [[-1] * 4] * 3
        assert of(torch.func.vmap(lambda row: xp.negative(row))(x)).tolist() == [[-1] * 4] * 3
        with pytest.raises(TypeError, match="NestedTensor"):
            xp.negative(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged))
        with pytest.raises(TypeError, match="sparse"):
            xp.negative(x.to_sparse())


class Level(enum.IntEnum):
    LOW = 2


@frameworks
def test_an_operand_of_a_subclass_of_int_is_a_scalar_again(make: Any) -> None:
    x = make(np.ones(3))
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(xp.add(x, Level.LOW)), np.full(3, 3.0))


@pytest.mark.parametrize("other", FRAMEWORKS.values(), ids=FRAMEWORKS)
@frameworks
def test_out_of_another_framework_is_written_again(make: Any, other: Any) -> None:
    x, out = make(np.arange(3.0)), other(np.zeros(3))
    for step in range(3):
        assert xp.add(x, step, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), np.arange(3.0) + step)


@frameworks
def test_an_integer_tensor_as_a_parameter_may_change(make: Any) -> None:
    host, axis = np.arange(6.0).reshape(2, 3), torch.tensor(0)
    x = make(host)
    for number in (0, 1, 0, 1):
        axis.fill_(number)
        np.testing.assert_array_equal(np.asarray(xp.sum(x, axis=axis)), host.sum(number))
        np.testing.assert_array_equal(np.asarray(xp.max(x, axis=(axis,))), host.max(number))
        np.testing.assert_array_equal(np.asarray(xp.flip(x, axis=axis)), np.flip(host, number))
        np.testing.assert_array_equal(np.asarray(xp.linalg.vector_norm(x, axis=axis, ord=1)), host.sum(number))
        assert xp.zeros((axis, 2)).shape == (number, 2)


@frameworks
def test_an_array_of_lengths_is_a_shape(make: Any) -> None:
    x, lengths = make(np.arange(6.0)), torch.tensor([2, 3])
    for shape in ([2, 3], [3, 2], [2, 3]):
        lengths.copy_(torch.tensor(shape))
        for target in (lengths, lengths.numpy()):
            assert tuple(xp.reshape(x, target).shape) == tuple(shape)
    with pytest.raises(TypeError, match="reshape: shape is"):
        xp.reshape(x, torch.tensor(3.0))


def test_a_layout_that_is_learnt_again_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = import_module("xpops.frameworks.torch")
    usual, strided = torch.ones(1, 3), torch.empty_strided((1, 3), (7, 1))
    for _ in range(3):
        xp.add(usual, 1), xp.add(strided.fill_(2), 1)
    adapter._known.clear()  # as if many other layouts had been learnt
    slow, first_call = [], xp.dispatch._first_call
    monkeypatch.setattr(xp.dispatch, "_first_call", lambda *given: (slow.append(given), first_call(*given))[1])
    for x in (usual, strided) * 5:
        np.testing.assert_array_equal(np.asarray(xp.copysign(x, -2.5)), -x.numpy())
    assert 1 <= len(slow) <= 2


def test_modes_of_torch_do_not_take_our_calls_over() -> None:
    """Torch's functions on real tensors would compute nothing in this mode."""
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    x = torch.arange(6.0).reshape(2, 3)
    calls = (lambda: xp.add(x, 1), lambda: xp.exp(x), lambda: xp.sum(x), lambda: xp.nn.softmax(x), lambda: xp.sort(x))
    for call in calls:
        expected = of(call())
        for _ in range(2):
            with fake.FakeTensorMode(allow_non_fake_inputs=True):
                found = call()
            assert type(found) is torch.Tensor
            assert_same(of(found), expected)


def test_types_within_a_named_tuple_count() -> None:
    class Pair(NamedTuple):
        first: Any
        second: Any

    x = np.arange(6.0)
    for _ in range(2):
        assert xp.reshape(x, Pair(3, 2)).shape == (3, 2)
        with pytest.raises(TypeError):
            xp.reshape(x, Pair(3.0, 2.0))
        assert xp.sum(x.reshape(3, 2), axis=Pair(0, 1)) == 15
        with pytest.raises(TypeError):
            xp.sum(x.reshape(3, 2), axis=Pair(0.0, 1.0))
