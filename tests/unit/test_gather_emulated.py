"""Kernels that gather and scatter, without a GPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run, tuned
from tests.helpers.oracle import bits
from xpops.core.layouts import contiguous_strides, layout_of
from xpops.engine.cuda.runtime import faults
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.gather import gathered_shape
from xpops.plan.staged_gather import StagedGatherPlan, plan_staged_gather

RANDOM = np.random.default_rng(6)
ENGINE = EmulatedEngine()
POLICY = tuning_of(90).gather
NAMES = ("f: first", "f: second")


def same(got: Any, wanted: Any) -> None:
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert np.array_equal(bits(got), bits(wanted))


def wide(x: Any, shape: tuple[int, ...]) -> Any:
    """The layout of an ndarray that is broadcast."""
    view = np.broadcast_to(x, shape)
    return layout_of(x.dtype, shape, tuple(step // x.itemsize for step in view.strides), layout_on_gpu(x).device)


def gathered(x: Any, axes: tuple[int, ...], indices: tuple[Any, ...], place: int) -> Any:
    shape = np.broadcast_shapes(*(each.shape for each in indices))
    program = ENGINE.gather(
        layout_on_gpu(x), axes, tuple(wide(each, shape) for each in indices), place, NAMES[: len(axes)]
    )
    (found,) = run(ENGINE, *program, x, *indices)
    return found


def wanted_of(x: Any, axes: tuple[int, ...], indices: tuple[Any, ...], place: int) -> Any:
    shape = np.broadcast_shapes(*(each.shape for each in indices))
    found = np.moveaxis(x, axes, range(len(axes)))[tuple(each.astype(np.int64) for each in indices)]
    return np.moveaxis(found, range(len(shape)), range(place, place + len(shape)))


def scatter(x: Any, axes: tuple[int, ...], indices: tuple[Any, ...], place: int, value: Any) -> None:
    shape = np.broadcast_shapes(*(each.shape for each in indices))
    layouts = tuple(wide(each, shape) for each in indices)
    target = gathered_shape(layout_on_gpu(x), axes, shape, place)
    kernel = ENGINE.scatter(layout_on_gpu(x), axes, layouts, place, wide(value, target), NAMES[: len(axes)])
    kernel(STREAM, *(each.ctypes.data for each in (x, value, *indices)))


def some(length: int, shape: tuple[int, ...], dtype: Any = np.int64) -> Any:
    low = 0 if np.dtype(dtype).kind == "u" else -length
    return RANDOM.integers(low, length, shape).astype(dtype)


VIEWS = {
    "plain": lambda x: x,
    "reversed": lambda x: x[::-1, ::2, ::-1],
    "transposed": lambda x: x.transpose(2, 0, 1),
    "sliced": lambda x: x[:, :, 1:33],
    "misaligned": lambda x: x[:, 1:, 1:],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.complex128], ids=str)
def test_one_axis(view: str, dtype: Any) -> None:
    x = VIEWS[view](RANDOM.integers(0, 200, (13, 20, 64)).astype(dtype))
    for axis in range(3):
        index = some(x.shape[axis], (5, 3))
        same(gathered(x, (axis,), (index,), axis), np.take(x, index, axis))
        same(gathered(x, (axis,), (index,), 0), wanted_of(x, (axis,), (index,), 0))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float64], ids=str)
def test_places_of_one_axis_keep_the_order_of_axes(order: tuple[int, ...], dtype: Any) -> None:
    x = RANDOM.integers(0, 200, (13, 20, 34)).astype(dtype)[:, :, 1:].transpose(order)
    for axis in range(3):
        for count in (1, 7, 400):
            index = some(x.shape[axis], (count,))
            same(gathered(x, (axis,), (index,), axis), np.take(x, index, axis))
            program = ENGINE.gather(layout_on_gpu(x), (axis,), (layout_on_gpu(index),), axis, NAMES[:1])
            if count > 1:
                assert np.argsort(program.layouts[0].strides).tolist() == np.argsort(x.strides).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_dtypes_of_indices(dtype: Any) -> None:
    x = RANDOM.normal(size=(40, 6))
    index = some(40, (30,), dtype)
    same(gathered(x, (0,), (index,), 0), x[index.astype(np.int64)])


@pytest.mark.parametrize("row", [1, 2, 15, 16, 17, 60, 64, 1000, 4096 + 4])
def test_rows(row: int) -> None:
    x = RANDOM.normal(size=(9, row)).astype(np.float32)
    index = some(9, (7,))
    same(gathered(x, (0,), (index,), 0), x[index])
    order, value = RANDOM.permutation(9)[:5], RANDOM.normal(size=(5, row)).astype(np.float32)
    wanted = x.copy()
    wanted[order] = value
    scatter(x, (0,), (order,), 0, value)
    same(x, wanted)


def test_more_than_one_tile_of_each_block() -> None:
    x = RANDOM.normal(size=(5, 3)).astype(np.float32)
    index = some(5, (4000,))
    same(gathered(x, (0,), (index,), 0), x[index])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("axes", "place"), [((0, 1), 0), ((0, 2), 0), ((1, 2), 1), ((2, 1), 1), ((2, 0), 1)])
def test_two_axes(view: str, axes: tuple[int, int], place: int) -> None:
    x = VIEWS[view](RANDOM.normal(size=(13, 20, 64)).astype(np.float32))
    first, second = some(x.shape[axes[0]], (4, 1), np.int32), some(x.shape[axes[1]], (3,), np.uint8)
    same(gathered(x, axes, (first, second), place), wanted_of(x, axes, (first, second), place))
    whole = x.copy() if not x.flags.c_contiguous else x
    order = tuple(RANDOM.permutation(whole.shape[axis])[:4] for axis in axes)
    value = RANDOM.normal(size=wanted_of(whole, axes, order, place).shape[-1:]).astype(np.float32)
    wanted = whole.copy()
    key_view = np.moveaxis(wanted, axes, (0, 1))
    key_view[order] = np.moveaxis(np.broadcast_to(value, wanted_of(whole, axes, order, place).shape), place, 0)
    scatter(whole, axes, order, place, value)
    same(whole, wanted)


def test_scatter_into_views() -> None:
    for name, view in VIEWS.items():
        base = RANDOM.normal(size=(13, 20, 64))
        x, copy = view(base), base.copy()
        index = RANDOM.permutation(x.shape[1])[:5]
        value = RANDOM.normal(size=(x.shape[0], 5, x.shape[2]))
        scatter(x, (1,), (index,), 1, value)
        view(copy)[:, index] = value
        assert np.array_equal(base, copy), name


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_along(axis: int) -> None:
    x = RANDOM.normal(size=(13, 20, 6)).astype(np.float32)
    shape = tuple(4 if each == axis else length for each, length in enumerate(x.shape))
    index = some(x.shape[axis], shape, np.int16)
    for each in (x, x[::-1, :, ::-1]):
        (found,) = run(ENGINE, *ENGINE.take_along(layout_on_gpu(each), layout_on_gpu(index), axis), each, index)
        same(found, np.take_along_axis(each, index.astype(np.int64), axis))


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: x,
    "cropped": lambda x: x[1:, 1:, 1:, 1:],
    "reversed": lambda x: x[::-1, :, ::-1, ::-1],
    "turned": lambda x: x.transpose(3, 1, 0, 2),
    "swapped": lambda x: x.transpose(0, 1, 3, 2),
    "stepped": lambda x: x[:, ::2, :, ::3],
}


def drawn(data: st.DataObject, shape: tuple[int, ...], make: Callable[[tuple[int, ...]], Any]) -> Any:
    """An array of a shape, in any layout."""
    x = LAYOUTS[data.draw(st.sampled_from(sorted(LAYOUTS)))](make((9, 24, 9, 24)))
    room = tuple(min(n, limit) for n, limit in zip(shape, x.shape, strict=True))
    return make(shape) if room != shape else x[tuple(slice(n) for n in shape)]


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_layout_from_shared_memory_or_not(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.uint8, np.float16, np.float32, np.complex128]))
    slab = data.draw(st.sampled_from([256, 1024, 48 << 10]))
    shape = data.draw(st.tuples(*[st.integers(1, 8)] * 4))
    x = drawn(data, shape, lambda shape: RANDOM.integers(0, 200, shape).astype(dtype))
    axis = data.draw(st.integers(0, 3))
    count = data.draw(st.integers(1, 300 if data.draw(st.booleans()) else 8))
    lengths = tuple(count if each == axis else n for each, n in enumerate(shape))
    kind = data.draw(st.sampled_from([np.int64, np.int32, np.uint8]))
    places = drawn(data, lengths, lambda made: some(shape[axis], made, kind))
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch, gather=POLICY._replace(slab=slab))
        (found,) = run(ENGINE, *ENGINE.take_along(layout_on_gpu(x), layout_on_gpu(places), axis), x, places)
        line = np.ascontiguousarray(places[0, 0, 0])
        taken = gathered(x, (axis,), (line % shape[axis],), axis)
    same(found, np.take_along_axis(x, places.astype(np.int64), axis))
    same(taken, np.take(x, line % shape[axis], axis))


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("columns", [1, 2, 5, 700])
def test_long_lines_of_indices(rows: int, columns: int) -> None:
    x, index = RANDOM.normal(size=(rows, 9, columns)).astype(np.float32), some(9, (6000,))
    same(gathered(x, (1,), (index,), 1), np.take(x, index, 1))


def staged(shape: tuple[int, ...], axis: int, itemsize: int) -> StagedGatherPlan | None:
    """The plan of `take_along_axis` of C-contiguous arrays of one shape."""
    dense = contiguous_strides(shape)
    array = (*dense[:axis], 0, *dense[axis + 1 :])
    span = range(axis, axis + 1)
    return plan_staged_gather(shape, span, [array, dense, dense], shape[axis], dense[axis], itemsize, 16, POLICY, 132)


@pytest.mark.parametrize("columns", [128, 96, 131, 320])
def test_strips(columns: int) -> None:
    x = RANDOM.normal(size=(2, 40, columns)).astype(np.float32)[:, ::-1]
    places = some(40, x.shape)
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch, gather=POLICY._replace(slab=64))
        (found,) = run(ENGINE, *ENGINE.take_along(layout_on_gpu(x), layout_on_gpu(places), 1), x, places)
    same(found, np.take_along_axis(x, places, 1))


def test_small_results_are_spread_over_the_gpu() -> None:
    """A thread has one pack at most, but there are as many parts as multiprocessors."""
    for shape, axis, itemsize, blocks in [
        ((2, 3, 68, 904), 0, 1, 181),
        ((560, 100, 2), 2, 2, 133),
        ((24602, 64), 1, 4, 769),
        ((2, 2**24), 0, 1, 2115),
    ]:
        plan = staged(shape, axis, itemsize)
        assert plan is not None
        assert plan.blocks == blocks


def test_which_axes_fit_into_shared_memory() -> None:
    for shape, axis in [((5000, 3000), 1), ((1000, 5000), 0), ((9000, 12), 1), ((40, 6, 8000), 1), ((7, 48 << 8), 1)]:
        assert staged(shape, axis, 4) is not None
    assert staged((7, (48 << 8) + 1), 1, 4) is None
    assert staged((1537, 8000), 0, 4) is None
    assert staged((48 << 8, 1), 0, 4) is not None
    cropped = [(16, 4, 0), (9, 3, 1), (0, 0, 1)]  # of (10**6, 4, 4) elements: a part for each of the first axis
    assert plan_staged_gather((10**6, 3, 3), range(2, 3), cropped, 4, 1, 4, 16, POLICY, 132) is None
    wide = staged((2**17, 2**15), 1, 1)
    assert wide is not None
    assert wide.index_bits == 64


@pytest.mark.parametrize(
    ("index", "places", "told"),
    [
        (np.array([0, 13]), [0, 12], 13),
        (np.array([-14, 1]), [0, 1], -14),
        (np.array([2**63 - 1]), [12], 2**47 - 1),
        (np.array([-(2**63)]), [0], 1 - 2**47),
        (np.array([2**64 - 1], np.uint64), [12], 2**47 - 1),
        (np.array([200, 3], np.uint8), [12, 3], 200),
        (np.array([-100, 3], np.int8), [0, 3], -100),
        (np.array([2**32 + 3, 12]), [12, 12], 2**32 + 3),
        (np.array([3 - 2**32, -13]), [0, 0], 3 - 2**32),
        (np.array([12, 2**32 + 3], np.uint64), [12, 12], 2**32 + 3),
        (np.array([2**32 - 1], np.uint32), [12], 2**32 - 1),
        (np.array([2**31 - 1, -1], np.int32), [12, 12], 2**31 - 1),
        (np.array([-13, -(2**31)], np.int32), [0, 0], -(2**31)),
    ],
)
@pytest.mark.parametrize("limit", [1, 2**31], ids=["64 bits", "32 bits"])
def test_nothing_out_of_range_is_touched(
    index: Any, places: list[int], told: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xpops.plan.elementwise.INDEX_LIMIT", limit)
    x = np.arange(26).reshape(13, 2)
    same(gathered(x, (0,), (index,), 0), x[places])
    with pytest.raises(
        IndexError, match=rf"^f: first holds {told}; accepted: -13 to 12 \(cuda:0 found it in an earlier"
    ):
        ENGINE.faults.check()
    ENGINE.faults.check()
    before = x.copy()
    scatter(x, (0,), (index,), 0, np.array(-1))
    right = [int(each) for each in index if -13 <= int(each) < 13]
    before[right] = -1
    same(x, before)
    with pytest.raises(IndexError, match=f"f: first holds {told};"):
        ENGINE.faults.check()


def test_which_of_several_indices_is_out_of_range() -> None:
    x = np.arange(12).reshape(3, 4)
    gathered(x, (0, 1), (np.array([1, 2]), np.array([3, 4])), 0)
    with pytest.raises(IndexError, match=r"^f: second holds 4; accepted: -4 to 3"):
        ENGINE.faults.check()


def test_what_a_debugged_call_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults.config, "debug", True)
    with pytest.raises(IndexError, match=r"^f: first holds 3; accepted: -3 to 2$"):
        gathered(np.arange(3), (0,), (np.array([3]),), 0)


def test_codes_are_used_again() -> None:
    engine = EmulatedEngine()
    codes = [engine.faults.of_index("f: first", length) for length in range(1, 40000)]
    assert len(set(codes)) == 2**15 - 1
    assert engine.faults.of_index("f: first", 39999) == codes[-1]
    assert engine.faults.of_index("f: first", 1) != codes[-1]
