"""Reduction kernels without a GPU."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from random import Random
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import reduced
from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run
from tests.helpers.values import few_near_one
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import contiguous_strides, layout_of
from xpops.dispatch.reductions import reduction
from xpops.engine.cuda.kernels.reduce import inner_products, planned
from xpops.engine.cuda.tuning import reduce_policy
from xpops.ops.reduction import NUMBER_POSITIONS, REDUCTIONS, reduction_dtypes
from xpops.plan.reduce import plan_reduce

RANDOM = np.random.default_rng(3)


def emulated(name: str, x: Any, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    engine = EmulatedEngine(workers=2)
    row = {**REDUCTIONS, **NUMBER_POSITIONS}[name]
    program = reduction(engine, (layout_on_gpu(x),), row, axis, keepdims, None, correction)
    (result,) = run(engine, *program, x)
    return result


def floats(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


LAYOUTS: dict[str, tuple[Any, Any]] = {
    "whole": (floats(100_003), None),
    "misaligned": (floats(5001)[1:], None),
    "long rows": (floats(3, 8192), 1),
    "long ragged rows": (floats(3, 20001), 1),
    "block rows": (floats(64, 4096), 1),
    "warp rows": (floats(300, 256), 1),
    "ragged rows": (floats(37, 131)[:, 1:], 1),
    "short rows": (floats(1000, 32), 1),
    "shorter rows": (floats(1000, 5), 1),
    "columns": (floats(700, 260), 0),
    "few columns": (floats(3000, 3), 0),
    "17 packs of columns": (floats(900, 68), 0),
    "33 packs of columns": (floats(500, 132), 0),
    "odd columns": (floats(2000, 21), 0),
    "odd columns, batches": (floats(3, 700, 23), 1),
    "short between": (floats(500, 3, 2), 1),
    "longer between": (floats(200, 32, 6), 1),
    "middle": (floats(6, 50, 64), 1),
    "outer and inner": (floats(6, 50, 64), (0, 2)),
    "transposed": (floats(60, 70).T, 0),
    "reversed": (floats(60, 70)[::-1, ::-2], 1),
    "broadcast": (np.broadcast_to(floats(70), (60, 70)), (0, 1)),
    "repeated between": (np.broadcast_to(floats(2, 1, 8), (2, 90, 8)), 0),
    "repeated innermost": (np.broadcast_to(floats(40, 3, 1), (40, 3, 33)), 1),
    "repeated beside columns": (np.broadcast_to(floats(7, 1, 90, 16), (7, 2, 90, 16)), 2),
    "repeated beside rows": (np.broadcast_to(floats(7, 1, 16, 90), (7, 2, 16, 90)), 3),
    "repeated beside odd columns": (np.broadcast_to(floats(300, 1, 3), (300, 5, 3)), 0),
    "repeated twice": (np.broadcast_to(floats(1, 5, 1, 200, 4), (3, 5, 2, 200, 4)), (1, 3)),
    "repeated a few times": (np.broadcast_to(floats(1, 90, 40), (3, 90, 40)), 1),
    "cropped rows": (floats(37, 67)[:, :64], 1),
    "cropped columns": (floats(300, 67)[:, :64], 0),
    "cropped planes": (floats(5, 20, 67)[:, :, :64], 1),
    "misaligned rows of packs": (floats(16001)[1:].reshape(1000, 16), 1),
    "misaligned rows of 5 packs": (floats(6001)[1:].reshape(300, 20), 1),
    "misaligned rows of many packs": (floats(7681)[1:].reshape(60, 128), 1),
    "steps": (floats(60, 190)[:, ::2], 1),
    "a short reduced axis within": (floats(300, 33, 2), (0, 2)),
    "a cropped reduced axis within": (floats(60, 33, 5)[:, :, :2], (0, 2)),
    "rows of packs": (floats(90, 17, 4), 1),
    "rows of 3 columns": (floats(90, 30, 3), 1),
    "rows of 6 columns, cropped": (floats(40, 25, 9)[:, :, :6], 1),
    "folded rows": (floats(15_003, 3), 0),
    "folded rows, batches": (floats(3, 12_002, 3), 1),
    "folded rows, misaligned": (floats(45_004)[1:].reshape(15_001, 3), 0),
    "folded rows, backwards": (floats(15_001, 3)[::-1, ::-1], 0),
    "reversed within columns": (floats(500, 40, 2)[:, ::-1], 0),
    "interleaved": (np.swapaxes(floats(6, 50, 64), 0, 1), 1),
    "one": (floats(1), None),
    "no axes": (floats(5, 6), ()),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_sum_of_every_layout(name: str) -> None:
    x, axis = LAYOUTS[name]
    got = emulated("sum", x, axis)
    wanted = np.sum(x.astype(np.float64), axis)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-4)


def test_blocks_have_equally_many_packs_of_columns() -> None:
    """With 16 of 17 packs in one block, the blocks with the last pack would be idle."""
    for columns, packs in ((68, 9), (132, 11), (48, 12), (64, 16), (12, 3), (4096, 16)):
        x = layout_of(dt.float16, (200_000, columns), None, Device("cuda"), 8)
        plan = plan_reduce(x, (0,), (0, 1), 2, reduce_policy(90, 132))
        assert (plan.kernel, plan.group) == ("columns", packs)
        assert plan.block == plan.group * plan.rows > 240


def test_neighbouring_threads_read_neighbouring_memory() -> None:
    """First the packs side by side, then other rows, as many as fill a cache line."""
    gpu, policy = Device("cuda"), reduce_policy(90, 132)
    for shape, strides, axes, out, found in [
        ((2**20, 30, 4), None, (1,), (4, 0, 1), (32, 8, 1)),  # a pack, 8 of whose rows are in a line
        ((2**20, 64, 3), None, (1,), (3, 0, 1), (30, 8, 3)),  # three columns that make no pack
        ((2**20, 2048), None, (0,), (0, 1), (8, 32, 8)),
        ((2**13, 1024, 2), (2048, 2, 1), (0,), (0, -2, 1), (16, 16, 16)),  # packs of two axes
        ((2**13, 1707, 2), (13656, 2, 1), (0, 2), (0, 1, 0), (16, 16, 16)),  # the last axis is reduced, too
        ((10, 2**24), (1, 1), (0,), (0, 1), (256, 1, 256)),  # windows
    ]:
        plan = plan_reduce(layout_of(dt.float32, shape, strides, gpu), axes, out, 4, policy)
        assert (plan.kernel, plan.group, plan.rows, plan.beside) == ("columns", *found)


def test_several_rows_of_few_columns_make_whole_packs() -> None:
    gpu, policy = Device("cuda"), reduce_policy(90, 132)
    for dtype, columns, align, found in [
        (dt.float16, 7, 16, (8, 8, True)),
        (dt.float16, 7, 2, (8, 8, False)),
        (dt.float32, 6, 16, (2, 4, True)),
        (dt.float32, 6, 8, (1, 2, True)),  # packs of 8 bytes that are aligned
        (dt.int8, 3, 16, (16, 16, True)),
        (dt.float16, 8, 16, (1, 8, True)),
        (dt.float16, 33, 16, (1, 8, False)),  # too many states
    ]:
        x = layout_of(dtype, (2**22, columns), None, gpu, align)
        plan = plan_reduce(x, (0,), (0, 1), dtype.itemsize, policy)
        assert (plan.kernel, plan.fold, plan.pack, plan.aligned) == ("columns", *found)
    few = layout_of(dt.float16, (2**20, 3000, 7), None, gpu)
    assert plan_reduce(few, (1,), (7, 0, 1), 2, policy).fold == 1


def test_blocks_have_a_thread_for_each_column_that_they_share() -> None:
    random, gpu = Random(4), Device("cuda")
    for _ in range(4000):
        shape = tuple(
            random.choice((1, 2, 3, 4, 5, 7, 8, 13, 16, 33, 100, 625, 9000)) for _ in range(random.randint(1, 4))
        )
        strides, step = [0] * len(shape), random.choice((1, 1, 2, 3))
        for axis in random.sample(range(len(shape)), len(shape)):
            strides[axis] = random.choice((step,) * 8 + (0, 1, 2))  # windows, some of them
            step = step * shape[axis] + random.choice((0, 0, 1, 4))
        axes = tuple(axis for axis in range(len(shape)) if random.random() < 0.5)
        out = tuple(0 if i in axes else each for i, each in enumerate(contiguous_strides(shape)))
        dtype = random.choice((dt.int8, dt.float16, dt.float32, dt.float64))
        x = layout_of(dtype, shape, tuple(strides), gpu, random.choice((dtype.itemsize, 16)))
        plan = plan_reduce(x, axes, out, 8, reduce_policy(90, random.choice((2, 8, 132))))
        if plan.kernel == "columns":
            assert plan.group * plan.rows == plan.block <= 256
            assert plan.group % plan.beside == 0
            assert plan.splits == 1 or plan.group * plan.pack // plan.fold <= plan.block


def test_short_misaligned_rows_are_read_in_packs() -> None:
    gpu, policy = Device("cuda"), reduce_policy(90, 132)
    for dtype, length, align, found in [
        (dt.float32, 16, 4, (4, False)),
        (dt.float32, 16, 8, (2, True)),
        (dt.float32, 14, 4, (2, False)),
        (dt.float32, 15, 4, (1, True)),
        (dt.float16, 48, 2, (8, False)),
        (dt.int8, 16, 1, (16, False)),
    ]:
        x = layout_of(dtype, (2**20, length), None, gpu, align)
        plan = plan_reduce(x, (1,), (1, 0), dtype.itemsize, policy)
        assert (plan.kernel, plan.pack, plan.aligned) == ("rows", *found)


def test_columns_beside_a_repeated_axis() -> None:
    """Threads lie side by side along the columns, as without the repeated axis."""
    repeated = layout_of(dt.float64, (7, 2, 90, 16), (1440, 0, 16, 1), Device("cuda"))
    plan = plan_reduce(repeated, (2,), (32, 16, 0, 1), 8, reduce_policy(90, 132))
    assert (plan.kernel, plan.pack) == ("columns", 2)
    rows = layout_of(dt.float64, (7, 2, 16, 90), (1440, 0, 90, 1), Device("cuda"))
    assert plan_reduce(rows, (3,), (32, 16, 1, 0), 8, reduce_policy(90, 132)).kernel != "columns"


@pytest.mark.parametrize("name", ["var", "argmax", "min"])
@pytest.mark.parametrize(
    "layout",
    [
        "whole",
        "long ragged rows",
        "short rows",
        "columns",
        "few columns",
        "17 packs of columns",
        "odd columns",
        "misaligned rows of packs",
        "rows of packs",
        "rows of 3 columns",
        "reversed within columns",
        "folded rows",
        "folded rows, batches",
        "folded rows, misaligned",
        "folded rows, backwards",
    ],
)
def test_states_of_several_words(name: str, layout: str) -> None:
    x, axis = LAYOUTS[layout]
    got = emulated(name, x, axis)
    if name == "var":
        np.testing.assert_allclose(got, np.var(x.astype(np.float64), axis), rtol=1e-5)
    else:
        assert np.array_equal(got, getattr(np, name)(x, axis))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reducer(name: str) -> None:
    x = np.array([[3, -1, 2, 0], [5, 5, -7, 1]], np.int16)
    np.testing.assert_allclose(emulated(name, x, 1), reduced(REDUCTIONS[name], x, 1))


@pytest.mark.parametrize(
    "dtype", [dt.float16, dt.bfloat16, dt.complex64, dt.complex128, dt.bool, dt.uint8, dt.int64], ids=str
)
def test_every_kind_of_dtype(dtype: Any) -> None:
    """The sum is exact in the dtype in any order, so that one element more or less changes the result."""
    values = [1, 0, 1, 1, 1] if dtype.kind in "bu" else [1, 2, 3, -2, -4]
    x = np.random.default_rng(1).permutation(np.resize(values, 1003))
    x = (x * (1 - 2j)).astype(dtype) if dtype.kind == "c" else x.astype(dtype)
    wide = {"b": np.int64, "u": np.uint64, "i": np.int64, "c": np.complex128}.get(dtype.kind, np.float64)
    for part in (x, x[:-1], x[1:], x[3:500]):
        got = emulated("sum", part)
        assert got.dtype == {"b": dt.int64, "u": dt.uint64, "i": dt.int64}.get(dtype.kind, dtype)
        assert got.astype(wide) == np.sum(part.astype(wide))


REVERSED: dict[str, tuple[tuple[int, ...], Any]] = {
    "whole": ((3, 5, 1003), None),
    "long rows": ((5, 3, 301), (2,)),
    "short rows": ((50, 7), (1,)),
    "columns": ((40, 3, 37), (0,)),
    "tall columns": ((9000, 17), (0,)),
    "an axis of length 1": ((1, 13, 40), (0,)),
    "middle": ((6, 11, 33), (1,)),
    "no axes": ((5, 33), ()),
}


@pytest.mark.parametrize("flipped", [(-1,), (0,), (0, -1), (0, 1, -1)], ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64], ids=str)
@pytest.mark.parametrize("layout", REVERSED)
def test_reversed_axes(layout: str, dtype: Any, flipped: tuple[int, ...]) -> None:
    shape, axes = REVERSED[layout]
    x = np.flip(RANDOM.integers(-4, 5, shape).astype(dtype), sorted({axis % len(shape) for axis in flipped}))
    names = ["sum", "max"] + ["var"] * (dtype != np.int8) + ["argmin"] * (axes is None or (axes != () and shape[0] > 1))
    for name in names * 2:
        axis = axes[0] if name == "argmin" and axes else axes
        wanted = getattr(np, name)(x.astype(np.float64), axis)
        np.testing.assert_allclose(emulated(name, x, axis), wanted, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["argmin", "sum", "count_nonzero"])
@pytest.mark.parametrize("length", [1, 2, 3, 8, 9])
def test_narrow_elements_and_wide_results(name: str, length: int) -> None:
    for rows, columns in ((40, 7), (3, 100), (9, 64)):
        x = RANDOM.integers(0, 3, (rows, length + 1, columns)).astype(np.uint8)
        for part in (x[:, 1:], x[:, :length, ::-1], x.transpose(2, 1, 0)[:, 1:]):
            if length == 1 and name == "argmin":
                continue
            np.testing.assert_array_equal(emulated(name, part, 1), getattr(np, name)(part, 1))


def test_results_that_are_most_of_the_traffic_are_written_in_one_access() -> None:
    for dtype, length, pack in ((dt.uint8, 2, 2), (dt.uint8, 9, 16), (dt.int16, 4, 2), (dt.int64, 1, 2)):
        x = layout_of(dtype, (length, 2**20), None, Device("cuda"))
        assert plan_reduce(x, (0,), (0, 1), 8, reduce_policy(90, 132)).pack == pack


def test_results_of_repeated_elements_are_written_side_by_side() -> None:
    x = layout_of(dt.int32, (2, 10**6, 8), (8, 0, 1), Device("cuda"))
    plan = plan_reduce(x, (0,), (0, 8, 1), 8, reduce_policy(90, 132))
    assert (plan.kernel, plan.whole, plan.pack) == ("columns", True, 2)


def test_reversed_arrays_are_read_in_packs() -> None:
    policy = reduce_policy(90, 132)
    op, gpu = REDUCTIONS["sum"], Device("cuda")
    for shape, strides, axes, out in [
        ((2**22,), (-1,), (0,), (0,)),
        ((64, 2**14), (2**14, -1), (1,), (1, 0)),
        ((64, 2**14), (-(2**14), -1), (0,), (0, 1)),
        ((2**6, 2**6, 2**6), (-(2**12), 2**6, -1), (0, 1, 2), (0, 0, 0)),
    ]:
        x = layout_of(dt.float16, shape, strides, gpu, 2)
        result = layout_of(dt.float16, tuple(n for n, step in zip(shape, out, strict=True) if step), None, gpu)
        assert planned(op, x, axes, dt.float16, result, out, 0.0, policy).plan.pack == 8


@pytest.mark.parametrize("size", [256, 257, 300])
def test_ragged_rows_of_bytes(size: int) -> None:
    x = RANDOM.integers(0, 255, (5, size + 1)).astype(np.uint8)[:, 1:]
    assert np.array_equal(emulated("sum", x, 1), x.sum(1, dtype=np.uint64))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_mean_far_from_zero_costs_variance_no_digits(axis: int | None) -> None:
    x = 1e4 + floats(300, 1000)
    np.testing.assert_allclose(emulated("var", x, axis), np.var(x.astype(np.float64), axis), rtol=1e-6)


def test_a_float32_sum_is_rounded_once() -> None:
    x = floats(50_000) * np.exp(3 * floats(50_000))
    exact = math.fsum(x.tolist())
    assert emulated("sum", x) == np.float32(exact)
    assert emulated("sum", np.array([np.inf, 1, -2], np.float32)) == np.inf
    assert np.isnan(emulated("mean", np.array([np.inf, -np.inf, -2], np.float32)))


@pytest.mark.parametrize("dtype", [dt.float64, dt.complex64], ids=str)
def test_other_sums_are_rounded_once(dtype: Any) -> None:
    x = floats(60_000).astype(dtype) * (1 + (2j if dtype == dt.complex64 else 0)) / 3
    x = x.astype(dtype)
    got = emulated("sum", x)
    assert got.real == dt.REAL_OF.get(dtype, dtype).type(math.fsum(x.real.tolist()))
    assert got.imag == dt.REAL_OF.get(dtype, dtype).type(math.fsum(x.imag.tolist()))


def test_counters_are_zero_before_anyone_has_them() -> None:
    class Slow(EmulatedEngine):
        def zero(self, address: int, nbytes: int, stream: int) -> None:
            time.sleep(0.05)
            super().zero(address, nbytes, stream)

    engine = Slow()
    seen: list[tuple[int, int]] = []

    def use() -> None:
        address = engine.counters(STREAM)
        seen.append((address, ctypes.c_uint32.from_address(address).value))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1
    assert seen[0][1] == 0


def test_the_parts_of_a_complex_mean_are_apart() -> None:
    for length in (3, 2000):  # the longer sum is compensated
        x = np.full(length, 1 + 2j)
        x[1] = complex(math.nan, 2)
        got = emulated("mean", x)
        assert np.isnan(got.real)
        assert got.imag == 2


def test_no_degree_of_freedom_is_nan() -> None:
    for name in ("var", "std"):
        assert np.isnan(emulated(name, floats(3), correction=3.0))
        assert np.isnan(emulated(name, np.ones(3, np.float32), correction=4.0))


def inner(x1: Any, x2: Any) -> Any:
    """Inner products along the last axis, computed by the kernel with two inputs."""
    engine, (one, two) = EmulatedEngine(workers=2), (layout_on_gpu(x1), layout_on_gpu(x2))
    out = layout_of(one.dtype, one.shape[:-1], None, one.device)
    kernel = inner_products(engine, one, two, out)
    assert kernel is not None
    (result,) = run(engine, (out,), kernel, x1, x2)
    return result


def some(dtype: Any, *shape: int) -> Any:
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)
    return RANDOM.integers(-4, 5, shape).astype(dtype)


PAIRS: dict[str, Any] = {
    "whole": lambda x: x(100_003),
    "slices that begin elsewhere": lambda x: (x(5001)[1:], x(5004)[4:]),
    "long ragged rows": lambda x: x(3, 20001),
    "warp rows": lambda x: x(300, 256),
    "ragged rows": lambda x: x(37, 131),
    "short rows": lambda x: x(1000, 5),
    "columns": lambda x: np.moveaxis(x(700, 260), 0, -1),
    "reversed": lambda x: x(60, 70)[::-1, ::-2],
    "repeated": lambda x: np.broadcast_to(x(70), (60, 70)),
    "one": lambda x: x(1),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u2", "i8", "c8", "?"])
def test_inner_products(name: str, dtype: str) -> None:
    pair = PAIRS[name]
    if name == "slices that begin elsewhere":
        x1, x2 = pair(lambda *shape: some(dtype, *shape))
    else:
        x1, x2 = (pair(lambda *shape: some(dtype, *shape)) for _ in range(2))
    wide = x1.dtype if dtype in "?i1u2i8" else np.complex128 if dtype == "c8" else np.float64
    wanted = np.add.reduce(x1.astype(wide) * x2.astype(wide), axis=-1, dtype=wide).astype(x1.dtype)
    np.testing.assert_array_equal(inner(x1, x2), wanted)


def test_inner_products_of_what_lies_differently_are_not_ours() -> None:
    engine, x = EmulatedEngine(), floats(6, 5)
    out = layout_of(dt.float32, (6,), None, layout_on_gpu(x).device)
    assert inner_products(engine, layout_on_gpu(x), layout_on_gpu(floats(5, 6).T), out) is None


def small_integers(dtype: Any, *shape: int) -> Any:
    return RANDOM.integers(0, 4, shape).astype(dtype)


# Columns whose packs are not aligned: the last pack of each row overlaps the one before.
ODD: dict[str, tuple[Any, Any]] = {
    "odd width": (small_integers(dt.int8, 400, 83), 0),
    "odd middle": (small_integers(dt.float16, 7, 90, 37), 1),
    "odd, three axes": (small_integers(dt.float16, 5, 9, 4, 19)[..., 2:], (0, 2)),
    "cropped": (small_integers(dt.int16, 300, 29)[:, 3:20], 0),
    "shifted": (small_integers(dt.bfloat16, 90, 64).reshape(-1)[3:-61].reshape(89, 64), 0),
    "windows": (np.lib.stride_tricks.sliding_window_view(small_integers(dt.float32, 1000), 7), 1),
    "doubles": (small_integers(dt.float64, 50, 31), 0),
    "one pack": (small_integers(dt.int8, 5000, 17)[:, :16], 0),
    "less than a pack": (small_integers(dt.int8, 50, 15), 0),
    "short and wide": (small_integers(dt.uint8, 2, 10_001), 0),
    "turned": (small_integers(dt.int16, 31, 6, 40).transpose(2, 1, 0), 1),
}


@pytest.mark.parametrize("name", ["sum", "argmax", "var"])
@pytest.mark.parametrize("layout", ODD)
def test_columns_that_begin_at_any_element(name: str, layout: str) -> None:
    x, axis = ODD[layout]
    x = x.astype(np.float32) if name == "var" and x.dtype.kind in "iu" else x
    if name == "argmax" and not isinstance(axis, int):
        axis = 2
    got, wide = emulated(name, x, axis), np.asarray(x).astype(np.float64)
    wanted = getattr(np, name)(wide, axis)
    if name == "var":
        np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=1e-2 if x.dtype.itemsize == 2 else 1e-5)
    else:
        assert np.array_equal(got.astype(np.float64), wanted)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize(
    "x",
    [
        RANDOM.permutation(6000).reshape(20, 15, 20)[1:, 2:9, ::2],
        RANDOM.permutation(6000).reshape(20, 300)[::-1, ::-1],
        np.broadcast_to(RANDOM.permutation(300)[:, None], (300, 5)),
        np.full((40, 50), -np.inf)[:, 3:],
        np.where(RANDOM.random((70, 90)) < 0.01, np.nan, 1.0)[:, 1:],
    ],
    ids=["cropped", "reversed", "broadcast", "ties", "nans"],
)
def test_the_first_position_in_c_order(name: str, x: Any) -> None:
    assert emulated(name, x) == getattr(np, name)(x)


@pytest.mark.parametrize("name", NUMBER_POSITIONS)
def test_positions_of_numbers(name: str) -> None:
    """The first extreme number of long, short and split rows, after NaNs and beside infinities; -1 without numbers."""
    extreme = np.nanmax if name == "nanargmax" else np.nanmin
    for shape in ((3, 20001), (200, 33), (40, 5)):
        x = np.where(RANDOM.random(shape) < 0.9, np.nan, RANDOM.normal(size=shape)).astype(np.float32)
        x[0] = np.nan
        x[1, shape[1] // 2 :] = -np.inf if name == "nanargmax" else np.inf
        x[1, : shape[1] // 2] = np.nan
        x[2, 1::2] = x[2, 1]
        got = emulated(name, x, 1)
        for row, place in zip(x, got, strict=True):
            assert place == (-1 if np.isnan(row).all() else int(np.flatnonzero(row == extreme(row))[0]))
        with np.errstate(all="ignore"):
            assert np.array_equal(got, NUMBER_POSITIONS[name].cpu(x, 1))
        flat = x[2:].reshape(-1)
        assert emulated(name, x[2:]) == getattr(np, name)(flat)


@pytest.mark.parametrize(("shape", "axis"), [((), None), ((1, 1), None), ((1, 1), 1), ((5, 1, 3), 1)], ids=str)
def test_the_one_position_on_axes_of_length_1(pretended: Any, shape: tuple[int, ...], axis: int | None) -> None:
    x = np.full(shape, np.nan, np.float32)
    for name in ("argmin", "argmax"):
        got = getattr(xp, name)(pretended.array(x), axis=axis)
        assert got.dtype == dt.int64
        assert np.array_equal(np.asarray(got.to_device("cpu")), getattr(np, name)(x, axis=axis))


def test_a_result_has_the_order_of_axes_of_its_operand() -> None:
    x = layout_on_gpu(np.zeros((4, 5, 6, 7), np.float32).transpose(3, 1, 0, 2))
    for axis, keepdims, shape, strides in (
        (1, False, (7, 4, 6), (1, 42, 7)),
        (1, True, (7, 1, 4, 6), (1, 0, 42, 7)),
        ((0, 2), False, (5, 6), (6, 1)),
    ):
        (out,), _ = reduction(EmulatedEngine(), (x,), REDUCTIONS["sum"], axis, keepdims, None, 0.0)
        assert (out.shape, out.strides) == (shape, strides)


@pytest.mark.parametrize(("shape", "axis"), [((2**18,), 0), ((2**16, 5), 0), ((3, 2**16 + 1), 1)], ids=str)
def test_products_of_equal_numbers(shape: tuple[int, ...], axis: int) -> None:
    x = few_near_one(dt.float32, shape)
    wanted = np.multiply.reduce(x.astype(np.float64), axis)
    np.testing.assert_allclose(emulated("prod", x, axis), wanted, rtol=2.0**-23)


@pytest.mark.parametrize("name", ["sum", "var", "argmax", "all"])
@pytest.mark.parametrize(("length", "gap"), [(3, 0), (17, 1), (22, 0), (23, 2), (86, 0), (127, 0)])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64], ids=str)
def test_short_rows_that_begin_anywhere(name: str, length: int, gap: int, dtype: Any) -> None:
    rows = 400_000 // (length * np.dtype(dtype).itemsize) + 13
    memory = RANDOM.integers(-9, 9, rows * (length + gap) + 1).astype(dtype)
    host = memory[1:].reshape(rows, length + gap)[:, :length]
    for x in (host, host[::-1, ::-1], host[: rows // 2 * 2].reshape(2, -1, length)[:, ::-1]):
        wanted = reduced(REDUCTIONS[name], x.astype(np.float64), x.ndim - 1)
        np.testing.assert_allclose(emulated(name, x, x.ndim - 1).astype(np.float64), wanted, rtol=1e-3)


SEVERAL: list[tuple[str, Any, int]] = [
    *((name, np.int8, length) for name in ("max", "all") for length in (2, 3, 5, 6, 12)),
    *((name, np.float16, length) for name in ("sum", "var", "prod") for length in (2, 3, 4, 5, 6, 10)),
    *((name, np.float32, length) for name in ("sum", "std") for length in (3, 6)),
    *((name, np.float64, length) for name in ("sum", "var", "argmax") for length in (3, 5)),
    *((name, np.complex64, length) for name in ("prod", "any") for length in (3, 5)),
    ("argmax", np.float32, 2),
    ("count_nonzero", np.float32, 6),
    ("argmin", np.float16, 4),
    ("sum", np.int8, 8),
]


@pytest.mark.parametrize(("name", "dtype", "length"), SEVERAL)
def test_rows_of_which_a_thread_has_several(name: str, dtype: Any, length: int) -> None:
    op, item = REDUCTIONS[name], np.dtype(dtype).itemsize
    x = RANDOM.integers(-2, 3, (16 * 256 * 16 // item + 5, length)).astype(dtype)
    result = reduction_dtypes(op, x.dtype)[1].itemsize
    assert plan_reduce(layout_on_gpu(x), (1,), (1, 0), result, reduce_policy(90, 4)).kernel == "short"
    wanted = reduced(op, x.astype(np.complex128 if x.dtype.kind == "c" else np.float64), 1)
    np.testing.assert_allclose(emulated(name, x, 1).astype(wanted.dtype), wanted, rtol=1e-3)


def test_copied_rows_fit_shared_memory() -> None:
    policy = reduce_policy(90, 132)
    for dtype in (dt.int8, dt.float16, dt.float32):
        for length in range(2, 260):
            for gap in range(32 // dtype.itemsize):
                x = layout_of(dtype, (2**20, length), (length + gap, 1), Device("cuda"), dtype.itemsize)
                plan = plan_reduce(x, (1,), (1, 0), 4, policy)
                assert plan.kernel != "tiles" or plan.rows + 32 <= 48 << 10, (dtype, length, gap)


def test_rows_that_blocks_copy() -> None:
    """Not rows of whole packs, nor few rows, nor very short ones, nor any with wide gaps or in the same banks.
    Threads have several of the shortest.
    """
    for shape, strides, align, kernel in [
        ((2**20, 22), (22, 1), 16, "tiles"),
        ((2**20, 20), (20, 1), 4, "tiles"),
        ((2**20, 20), (20, 1), 16, "rows"),
        ((2**20, 64), (64, 1), 4, "rows"),
        ((2**20, 14), (14, 1), 16, "rows"),
        ((2**20, 18), (25, 1), 16, "tiles"),
        ((2**20, 18), (26, 1), 16, "rows"),
        ((2**10, 22), (22, 1), 16, "rows"),
        ((2**20, 131), (131, 1), 16, "rows"),
        ((2**20, 3), (3, 1), 16, "short"),
        ((2**20, 3), (3, 1), 4, "rows"),
        ((2**20, 3), (4, 1), 16, "rows"),
        ((2**20, 8), (8, 1), 16, "rows"),
        ((2**10, 3), (3, 1), 16, "rows"),
    ]:
        x = layout_of(dt.float32, shape, strides, Device("cuda"), align)
        assert plan_reduce(x, (1,), (1, 0), 4, reduce_policy(90, 132)).kernel == kernel, (shape, strides, align)


@pytest.mark.parametrize("shape", [(700, 9), (9, 700), (3000, 64), (40, 2)])
@pytest.mark.parametrize("axis", [0, 1])
def test_variances_of_numbers_whose_squares_are_infinite(shape: tuple[int, int], axis: int) -> None:
    """The first batch of a thread has no state before it, from which the distance would be squared."""
    far = np.full(shape, 3e25, np.float32)
    np.testing.assert_array_equal(emulated("var", far, axis), np.zeros(shape[1 - axis]))
    far[(0, slice(None)) if axis == 0 else (slice(None), 0)] = 0
    np.testing.assert_array_equal(emulated("var", far, axis), np.full(shape[1 - axis], np.inf))
