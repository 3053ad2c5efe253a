"""Operands in any order of axes, by boxes in shared memory, without a GPU."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels import elementwise
from xpops.ops.elementwise import OPERATORS
from xpops.plan.signature import signature_of
from xpops.plan.transpose.boxes import plan_boxes

NDArray = np.ndarray[Any, Any]

# Shape, and the axes from the first to the last in memory.
ORDERS = (
    ((24, 5, 16, 4), (1, 2, 3, 0)),
    ((4, 12, 60, 3), (2, 1, 0, 3)),
    ((2, 700, 20), (2, 1, 0)),
    ((48, 2, 2, 50), (3, 1, 0, 2)),
    ((7, 700), (1, 0)),
    ((3, 5, 2, 7, 11), (2, 4, 3, 1, 0)),
    ((3,) * 8, (7, 6, 5, 4, 3, 2, 1, 0)),
    ((129, 17, 9), (1, 2, 0)),
    # Lengths without small divisors.
    ((700, 17), (1, 0)),
    ((300, 19), (1, 0)),
    ((15, 2, 871), (0, 2, 1)),
    ((17, 9, 14, 23), (1, 3, 2, 0)),
)


@pytest.fixture(autouse=True)
def boxes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Disable tiles. The list holds the number of orders of each plan with boxes."""
    found: list[int] = []

    def plan(out: Any, operands: Any, policy: Any) -> Any:
        plan = plan_boxes(out, operands, policy._replace(box_distance=8))
        if plan is not None:
            found.append(len(set(plan.boxes.orders)))
        return plan

    monkeypatch.setattr(elementwise, "plan_transpose", plan)
    return found


def computed(name: str, *operands: Any, shape: tuple[int, ...]) -> NDArray:
    """The result of an operator's kernel, in C order."""
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in operands)
    engine, op = EmulatedEngine(), OPERATORS[name]
    signature = signature_of(op, specs)
    out = layout_of(signature.dtype, shape, None, engine.context.device)
    (result,) = run(engine, (out,), engine.elementwise(op, signature, specs, out), *operands)
    return result


def in_order(shape: tuple[int, ...], order: tuple[int, ...], dtype: Any, seed: int = 1) -> NDArray:
    """Random numbers, with axes in memory in this order, the last one next to each other."""
    memory = np.random.default_rng(seed).integers(0, 60, [shape[axis] for axis in order]).astype(dtype)
    return memory.transpose(np.argsort(order))


@pytest.mark.parametrize("axis", range(4))
def test_operands_too_large_for_the_cache_are_staged_once(axis: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each element is repeated along an axis."""
    plans: list[Any] = []

    def plan(out: Any, operands: Any, policy: Any) -> Any:
        plans.append(plan_boxes(out, operands, policy._replace(box_distance=8, cached_bytes=0)))
        return plans[-1]

    monkeypatch.setattr(elementwise, "plan_transpose", plan)
    for shape, order in (((21, 70, 4), (1, 2, 0)), ((5, 3, 37), (2, 1, 0)), ((40, 6, 5), (1, 2, 0))):
        x, times = np.expand_dims(in_order(shape, order, np.float64), axis), [1, 1, 1, 1]
        times[axis] = 3
        wide = tuple(length * count for length, count in zip(x.shape, times, strict=True))
        x = np.broadcast_to(x, wide)
        np.testing.assert_array_equal(computed("negative", x, shape=wide), -x)
        y = in_order(wide, (0, 1, 2, 3), np.float64, 2)
        np.testing.assert_array_equal(computed("add", x, y, shape=wide), x + y)
    assert all(plan is not None for plan in plans)


@pytest.mark.parametrize("dtype", [dt.bool, dt.int8, dt.float16, dt.float32, dt.float64, dt.complex128], ids=str)
def test_every_width(dtype: Any, boxes: list[int]) -> None:
    name, wanted = ("logical_and", np.logical_and) if dtype == dt.bool else ("add", np.add)
    for shape, order in ORDERS[:5]:
        x, y = in_order(shape, order, dtype), in_order(shape, tuple(range(len(shape))), dtype, 2)
        for _ in range(2):
            np.testing.assert_array_equal(computed(name, x, y, shape=shape), wanted(x, y))
        np.testing.assert_array_equal(computed(name, y[::-1], x, shape=shape), wanted(y[::-1], x))
    assert len(boxes) > 5


@pytest.mark.parametrize(("shape", "order"), ORDERS)
@pytest.mark.parametrize("wide", [False, True])
def test_every_order(shape: Any, order: Any, wide: bool, boxes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    if wide:
        monkeypatch.setattr("xpops.plan.elementwise.INDEX_LIMIT", 1)
    x = in_order(shape, order, np.float32)
    np.testing.assert_array_equal(computed("negative", x, shape=shape), -x)
    np.testing.assert_array_equal(computed("subtract", x, 7, shape=shape), x - 7)
    np.testing.assert_array_equal(computed("subtract", x[::-1], x[..., ::-1], shape=shape), x[::-1] - x[..., ::-1])
    assert boxes


def test_several_orders_and_dtypes(boxes: list[int]) -> None:
    shape = 6, 40, 5, 19
    x = in_order(shape, (1, 2, 3, 0), np.int8)
    y = in_order(shape, (3, 2, 0, 1), np.float32, 2)
    condition = in_order(shape, (2, 3, 1, 0), np.int8, 3) > 30
    np.testing.assert_array_equal(
        computed("where", condition, y, 1.5, shape=shape), np.where(condition, y, np.float32(1.5))
    )
    np.testing.assert_array_equal(computed("less", x, x.copy(), shape=shape), np.zeros(shape, bool))
    np.testing.assert_array_equal(
        computed("where", condition, y, y[:, ::-1], shape=shape), np.where(condition, y, y[:, ::-1])
    )
    assert max(boxes) > 2


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_view(data: st.DataObject) -> None:
    """Cropped, stepped, mirrored and repeated operands, in any orders."""
    lengths = st.sampled_from((1, 2, 3, 5, 7, 8, 13, 33, 64))
    shape = tuple(data.draw(st.lists(lengths, min_size=2, max_size=5).filter(lambda shape: 64 < prod(shape) < 30000)))
    x, y = (drawn_view(data, shape, seed) for seed in (1, 2))
    np.testing.assert_array_equal(computed("subtract", x, y, shape=shape), x - y)


def drawn_view(data: st.DataObject, shape: tuple[int, ...], seed: int) -> NDArray:
    order = data.draw(st.permutations(range(len(shape))))
    step = data.draw(st.sampled_from((1, 1, 1, 2, -1)))
    longer = [length * abs(step) if axis == order[0] else length for axis, length in enumerate(shape)]
    longer[order[-1]] += data.draw(st.sampled_from((0, 0, 1, 5)))
    dtype = data.draw(st.sampled_from((np.int8, np.int16, np.int32, np.int64)))
    x = in_order(tuple(longer), tuple(order), dtype, seed)
    key = [slice(None, None, step) if axis == order[0] else slice(length) for axis, length in enumerate(shape)]
    return np.broadcast_to(x[tuple(key)][:1], shape) if data.draw(st.integers(0, 4)) == 0 else x[tuple(key)]
