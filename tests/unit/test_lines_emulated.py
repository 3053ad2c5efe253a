"""Lines that broadcasting repeats are computed once: what primitives are given, with and without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.unit.conftest import PretendedEngine
from xpops.core.devices import CPU
from xpops.core.layouts import Layout
from xpops.engine import engine_of

NDArray = np.ndarray[Any, Any]
Shape = tuple[int, ...]
RANDOM = np.random.default_rng(7)

PRIMITIVES = ("fft", "gather", "scan", "softmax", "sort", "upsample")
CALLS: dict[str, Any] = {
    "cumulative_sum": lambda x, axis: xp.cumulative_sum(x, axis=axis),
    "cumulative_prod": lambda x, axis: xp.cumulative_prod(x, axis=axis, dtype=xp.float64),
    "include_initial": lambda x, axis: xp.cumulative_sum(x, axis=axis, include_initial=True),
    "discounted_cumsum": lambda x, axis: xp.nn.discounted_cumsum(x, 0.5, axis=axis),
    "softmax": lambda x, axis: xp.nn.softmax(x, axis=axis),
    "sort": lambda x, axis: xp.sort(x, axis=axis),
    "argsort": lambda x, axis: xp.argsort(x, axis=axis),
}
# The shape of an operand before and after broadcasting, the axis, and the shape of the lines that are computed.
CASES: list[tuple[Shape, Shape, int, Shape]] = [
    ((40, 1), (40, 23), 0, (40, 1)),
    ((1, 40), (23, 40), 1, (1, 40)),
    ((5, 1, 9, 1), (5, 6, 9, 2), 2, (5, 1, 9, 1)),
    ((1, 1, 1), (2, 7, 3), 1, (1, 7, 1)),  # the axis of the lines stays as it is, if it is broadcast too
    ((1, 8), (5, 8), 0, (5, 8)),
    ((4, 2, 8), (4, 2, 8), 0, (4, 2, 8)),
]


def wanted(name: str, x: NDArray, axis: int) -> NDArray:
    wide = x.astype(np.float64)
    if name == "discounted_cumsum":
        found = np.moveaxis(wide, axis, 0).copy()
        for place in reversed(range(len(found) - 1)):
            found[place] += 0.5 * found[place + 1]
        return np.moveaxis(found, 0, axis)
    if name == "softmax":
        return np.exp(wide) / np.exp(wide).sum(axis, keepdims=True)
    functions: dict[str, Any] = {
        "cumulative_sum": np.cumsum,
        "cumulative_prod": np.cumprod,
        "include_initial": lambda x, axis: np.cumulative_sum(x, axis=axis, include_initial=True),
        "sort": np.sort,
        "argsort": lambda x, axis: np.argsort(x, axis=axis, stable=True),
    }
    return np.asarray(functions[name](wide, axis))


@pytest.fixture
def operands(pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch) -> list[Layout]:
    """The layouts of the operands that primitives of both engines are given, one for each plan."""
    found: list[Layout] = []

    def watched(primitive: Any) -> Any:
        def watch(*arguments: Any) -> Any:
            found.append(next(each for each in arguments if isinstance(each, Layout)))
            return primitive(*arguments)

        return watch

    for engine in (pretended, engine_of(CPU)):
        for name in PRIMITIVES:
            monkeypatch.setattr(engine, name, watched(getattr(engine, name)))
    return found


@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "emulated"])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_distinct_lines_are_computed(
    name: str, case: Any, emulated: bool, pretended: PretendedEngine, operands: list[Layout]
) -> None:
    shape, whole, axis, lines = case
    host = RANDOM.integers(-2, 3, shape).astype(np.float32)
    x = xp.broadcast_to(pretended.array(host) if emulated else xp.asarray(host), whole)
    expected = wanted(name, np.broadcast_to(host, whole), axis)
    for _ in range(3):
        found = CALLS[name](x, axis)
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-6)
        assert found.strides == np.empty(expected.shape, found.dtype).strides
    assert [sorted(each.shape) for each in operands] == [sorted(lines)]  # a sort moves the axis to the end


@pytest.mark.parametrize("name", ["cumulative_sum", "softmax", "sort"])
def test_two_launches(name: str, pretended: PretendedEngine) -> None:
    x = xp.broadcast_to(pretended.array(np.arange(12, dtype=np.float32).reshape(3, 1, 4)), (3, 5, 4))
    for _ in range(3):
        pretended.launches = 0
        CALLS[name](x, 2)
        assert pretended.launches == 2


def test_lines_in_another_order_of_axes(pretended: PretendedEngine, operands: list[Layout]) -> None:
    host = RANDOM.integers(-2, 3, (30, 1, 40)).astype(np.float32)
    for name in ("cumulative_sum", "softmax"):
        x = xp.permute_dims(pretended.array(host.transpose(2, 1, 0)), (2, 1, 0))
        for axis in (0, 2):
            expected = wanted(name, np.broadcast_to(host, (30, 6, 40)), axis)
            for _ in range(2):
                found = CALLS[name](xp.broadcast_to(x, (30, 6, 40)), axis)
                np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-6)
                assert found.strides == np.empty(expected.shape, np.float32).strides
    assert {each.size for each in operands} == {host.size}


def test_fourier_transforms(operands: list[Layout]) -> None:
    host = RANDOM.normal(size=(5, 1, 8))
    x = xp.broadcast_to(xp.asarray(host), (5, 3, 8))
    for _ in range(2):
        np.testing.assert_allclose(
            xp.fft.fft(x, axis=0).to_numpy(), np.fft.fft(np.broadcast_to(host, (5, 3, 8)), axis=0), atol=1e-12
        )
    assert [each.shape for each in operands] == [(5, 1, 8)]


@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "emulated"])
@pytest.mark.parametrize(
    ("layout", "shape", "whole"), [("NCHW", (2, 1, 3, 4), (2, 6, 3, 4)), ("NHWC", (1, 3, 4, 5), (2, 3, 4, 5))]
)
def test_upsampling(
    layout: str, shape: Shape, whole: Shape, emulated: bool, pretended: PretendedEngine, operands: list[Layout]
) -> None:
    host, rows = RANDOM.integers(-2, 3, shape).astype(np.float32), layout.index("H")
    x = xp.broadcast_to(pretended.array(host) if emulated else xp.asarray(host), whole)
    expected = np.repeat(np.repeat(np.broadcast_to(host, whole), 2, rows), 2, rows + 1)
    for _ in range(2):
        np.testing.assert_array_equal(xp.nn.upsample_nearest2d(x, scale=2, layout=layout).to_numpy(), expected)
    assert [each.shape for each in operands] == [shape]


@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "emulated"])
@pytest.mark.parametrize(
    ("shape", "whole", "axis", "lines"),
    [
        ((9, 1), (9, 40), 0, (9, 1)),
        ((1, 30), (6, 30), 1, (1, 30)),
        ((4, 1, 9, 1), (4, 5, 9, 3), 2, (4, 1, 9, 1)),
        ((1, 1), (7, 3), 0, (7, 1)),
        ((9, 1, 8), (9, 5, 8), 0, (9, 5, 8)),  # rows of neighbours are copied at once
    ],
)
def test_take(
    shape: Shape,
    whole: Shape,
    axis: int,
    lines: Shape,
    emulated: bool,
    pretended: PretendedEngine,
    operands: list[Layout],
) -> None:
    host = RANDOM.integers(-99, 99, shape)
    places = RANDOM.integers(-whole[axis], whole[axis], 11)
    x, index = (pretended.array(each) if emulated else xp.asarray(each) for each in (host, places))
    x = xp.broadcast_to(x, whole)
    for _ in range(2):
        found = xp.take(x, index, axis=axis)
        np.testing.assert_array_equal(found.to_numpy(), np.take(np.broadcast_to(host, whole), places, axis))
    assert [each.shape for each in operands] == [lines]


@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "emulated"])
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_take_in_another_order_of_axes(axis: int, emulated: bool, pretended: PretendedEngine) -> None:
    """A gather lays its result out as its operand: the copy must know."""
    host = RANDOM.integers(-99, 99, (3, 4, 5))
    for order in ((1, 0, 2), (2, 1, 0), (0, 2, 1)):
        for step in (1, -1):
            x = xp.permute_dims(pretended.array(host) if emulated else xp.asarray(host), order)[::step]
            for place in range(4):
                key = (slice(None),) * place + (None,)
                wide = np.broadcast_to(host.transpose(order)[::step][key], (*x.shape[:place], 6, *x.shape[place:]))
                places = RANDOM.integers(-wide.shape[axis], wide.shape[axis], 7)
                index = pretended.array(places) if emulated else xp.asarray(places)
                found = xp.take(xp.broadcast_to(x[key], wide.shape), index, axis=axis)
                np.testing.assert_array_equal(found.to_numpy(), np.take(wide, places, axis))
