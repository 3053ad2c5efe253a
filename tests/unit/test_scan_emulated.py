"""Scan kernels without a GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.dispatch.scans import scan
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.scan import SCANS

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)


def scanned(
    name: str, x: NDArray, axis: int = -1, dtype: Any = None, initial: bool = False, gamma: float | None = None
) -> NDArray:
    engine, factor = EmulatedEngine(workers=3), () if gamma is None else (float,)
    program = scan(engine, (layout_on_gpu(x), *factor), SCANS[name], axis, dtype, initial)
    (result,) = run(engine, *program, x, *(() if gamma is None else (gamma,)))
    return result


def expected(name: str, x: NDArray, axis: int = -1, dtype: Any = None, gamma: float = 0.0) -> NDArray:
    """NumPy's result in a wider dtype, rounded once; for float32 it is not rounded."""
    wide = {"b": np.int64, "i": np.int64, "u": np.uint64, "c": np.complex128}.get(x.dtype.kind, np.float64)
    if name == "discounted_cumsum":
        found = np.moveaxis(x.astype(wide), axis, 0).copy()
        for place in reversed(range(len(found) - 1)):
            found[place] += gamma * found[place + 1]
        return np.moveaxis(found, 0, axis)
    accumulated = getattr(np, {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}[name])(x.astype(wide), axis)
    return accumulated.astype(dtype or (wide if x.dtype.kind in "biu" else x.dtype))


def small(*shape: int) -> NDArray:
    """Integers, so that sums are exact in any order."""
    return RANDOM.integers(-8, 9, shape).astype(np.float32)


LAYOUTS: dict[str, tuple[NDArray, int]] = {
    "few tiles": (small(9001), 0),
    "groups of tiles": (small(40 * 4096 + 3), 0),
    "misaligned": (small(9001)[1:], 0),
    "a tile": (small(3, 2500), 1),
    "tiles of rows": (small(3, 8192), 1),
    "long rows": (small(130, 2100), 1),
    "rows": (small(10, 512), 1),
    "short rows": (small(1000, 32), 1),
    "shorter rows": (small(1000, 5), 1),
    "pairs": (small(1000, 2), 1),
    "ragged rows": (small(37, 131)[:, 1:], 1),
    "rows with gaps": (small(37, 140)[:, :131], 1),
    "tall columns": (small(700, 260), 0),
    "taller columns": (small(9000, 8), 0),
    "few columns": (small(3000, 3), 0),
    "few columns with gaps": (small(2, 900, 8)[:, :, 1:6], 1),
    "every other of few columns": (small(900, 14)[:, ::2], 0),
    "the most staged columns": (small(300, 31), 0),
    "odd short rows": (small(700, 29), 1),
    "odd short rows with gaps": (small(700, 31)[:, 1:-1], 1),
    "pairs of columns, several batches in a tile": (small(70, 64, 2), 1),
    "pairs of columns, a batch and a bit in a tile": (small(9, 130, 2)[:, :, ::-1], 1),
    "odd columns, several batches in a tile": (small(41, 90, 3), 1),
    "odd rows of two threads": (small(300, 41), 1),
    "odd rows of two threads, backwards": (small(300, 43)[::-1, ::-1], 1),
    "short columns of stacks": (small(90, 5, 3, 2)[:, :, 1:], 1),
    "short columns": (small(5, 300), 0),
    "wide short columns": (small(3, 5, 1031), 1),
    "wide columns": (small(700, 517), 0),
    "wide columns with gaps": (small(2, 90, 300)[:, :, 1:-2], 1),
    "few short columns of stacks": (small(9, 238, 4), 1),
    "middle": (small(6, 50, 64), 1),
    "short middle": (small(60, 4, 8), 1),
    "transposed": (small(60, 70).T, 0),
    "reversed": (small(60, 70)[::-1, ::-2], 1),
    "broadcast": (np.broadcast_to(small(70), (60, 70)), 0),
    "repeated": (np.broadcast_to(small(60, 1), (60, 70)), 1),
    "long ragged rows": (small(9, 2500 * 4 + 1)[:, 1:], 1),
    "odd rows": (small(40, 1031), 1),
    "reversed row": (small(9001)[::-1], 0),
    "reversed rows": (small(40, 600)[:, ::-1], 1),
    "reversed odd rows": (small(40, 601)[::-1, ::-1], 1),
    "stepped rows": (small(40, 600)[:, ::3], 1),
    "stepped line": (small(9001)[::2], 0),
    "repeated line": (np.broadcast_to(small(1), (9001,)), 0),
    "short and narrow": (np.broadcast_to(small(300, 1, 2), (300, 10, 2)), 1),
    "side by side": (small(30, 20, 7, 2)[:, :, 1:6, ::-1], 1),
    "far apart": (small(30, 20, 7, 2)[..., ::-1].transpose(1, 0, 3, 2), 0),
    "wide columns, shifted": (small(150, 603)[:, 3:], 0),
    "wide columns, backwards": (small(150, 608)[:, ::-1], 0),
    "wide columns, stepped": (small(2, 90, 1040)[:, :, ::2], 1),
    "columns of three strips": (small(3000, 131), 0),
    "one": (small(1), 0),
    "ones": (small(5, 1), 1),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_sum_of_every_layout(name: str) -> None:
    x, axis = LAYOUTS[name]
    np.testing.assert_array_equal(scanned("cumulative_sum", x, axis), np.cumsum(x, axis))


def as_halves(x: NDArray) -> NDArray:
    """The same view of the same numbers in float16."""
    base = x
    while base.base is not None:
        base = base.base
    place, strides = (x.ctypes.data - base.ctypes.data) // 2, tuple(stride // 2 for stride in x.strides)
    return np.ndarray(x.shape, np.float16, base.astype(np.float16), place, strides)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_sum_of_every_layout_of_halves(name: str) -> None:
    x, axis = LAYOUTS[name]
    sums = np.cumsum(x, axis).astype(np.float16)
    np.testing.assert_array_equal(scanned("cumulative_sum", as_halves(x), axis), sums)


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.complex128], ids=str)
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 14, 31])
@pytest.mark.parametrize("length", [9, 33, 47, 64, 100, 255])
def test_threads_that_share_a_batch(length: int, columns: int, dtype: Any) -> None:
    x = RANDOM.integers(-1, 2, (23, length, columns)).astype(dtype)
    np.testing.assert_array_equal(scanned("cumulative_sum", x, 1, dtype), np.cumsum(x, 1, dtype))
    gapped = np.repeat(x, 2, axis=2)[:, :, ::2]
    np.testing.assert_array_equal(scanned("cumulative_sum", gapped, 1, dtype), np.cumsum(x, 1, dtype))


@pytest.mark.parametrize(
    "name", ["few tiles", "misaligned", "long rows", "shorter rows", "tall columns", "few columns"]
)
def test_what_comes_first(name: str) -> None:
    x, axis = LAYOUTS[name]
    np.testing.assert_array_equal(
        scanned("cumulative_sum", x, axis, initial=True), np.cumulative_sum(x, axis=axis, include_initial=True)
    )


@pytest.mark.parametrize("name", ["few tiles", "misaligned", "long rows", "rows with gaps", "tall columns", "reversed"])
def test_a_recurrence_runs_backwards(name: str) -> None:
    x, axis = LAYOUTS[name]
    np.testing.assert_allclose(
        scanned("discounted_cumsum", x, axis, gamma=0.9),
        expected("discounted_cumsum", x, axis, gamma=0.9),
        rtol=1e-5,
        atol=1e-4,
    )


@pytest.mark.parametrize("name", ["few tiles", "long rows", "tall columns", "few columns"])
def test_an_infinite_discount_gives_the_right_infinity_or_nan(name: str) -> None:
    x, axis = LAYOUTS[name]
    wanted = np.moveaxis(x.astype(np.float64), axis, 0).copy()
    with np.errstate(invalid="ignore"):
        for place in reversed(range(len(wanted) - 1)):
            wanted[place] += np.inf * wanted[place + 1]
    found = np.moveaxis(scanned("discounted_cumsum", x, axis, gamma=np.inf), axis, 0)
    known = ~np.isnan(found)
    np.testing.assert_array_equal(found[known], wanted[known])


def test_an_infinity_stays_infinite_however_far() -> None:
    x = np.ones(5000, np.float32)
    x[4900] = -np.inf
    np.testing.assert_array_equal(
        scanned("discounted_cumsum", x, gamma=0.5), expected("discounted_cumsum", x, gamma=0.5).astype(np.float32)
    )


DTYPES = [
    (dt.bool, None),
    (dt.int8, None),
    (dt.uint8, None),
    (dt.int64, dt.int16),
    (dt.float16, None),
    (dt.bfloat16, dt.float32),
    (dt.float32, dt.float64),
    (dt.complex64, None),
    (dt.complex128, None),
]


@pytest.mark.parametrize(("dtype", "result"), DTYPES, ids=str)
def test_every_kind_of_dtype(dtype: Any, result: Any) -> None:
    x = RANDOM.integers(0, 4, 5003).astype(dtype)
    wanted = expected("cumulative_sum", x, dtype=result)
    got = scanned("cumulative_sum", x, dtype=result)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.bfloat16, dt.float32], ids=str)
@pytest.mark.parametrize("shape", [(3, 2005), (700, 301), (5, 1, 4001)], ids=str)
@pytest.mark.parametrize("direction", [1, -1])
def test_rows_that_begin_inside_a_pack(dtype: Any, shape: tuple[int, ...], direction: int) -> None:
    """Elements before the row must not count: products and signs of zeros show it."""
    x = RANDOM.choice([-1, 1], shape).astype(dtype)[..., ::direction]
    np.testing.assert_array_equal(
        scanned("cumulative_prod", x, dtype=dtype), expected("cumulative_prod", x, dtype=dtype)
    )
    if dtype != dt.int8:
        zeros = np.copysign(np.zeros(shape, dtype), -1)[..., ::direction]
        assert np.signbit(scanned("cumulative_sum", zeros)).all()


STAGED = [
    ((3001, 3), 0),
    ((701, 4), 1),
    ((999, 7), 1),
    ((301, 30), 1),
    ((5, 90, 2), 1),
    ((2, 1500, 31), 1),
    ((40, 1), 0),
]


@pytest.mark.parametrize(("dtype", "result"), [*DTYPES[:6], (dt.float32, None), (dt.float64, dt.float16)], ids=str)
@pytest.mark.parametrize(("shape", "axis"), STAGED, ids=str)
@pytest.mark.parametrize("first", [0, 1, 3])
def test_few_columns_and_short_rows_of_any_alignment(
    dtype: Any, result: Any, shape: tuple[int, ...], axis: int, first: int
) -> None:
    x = RANDOM.choice([0, 1] if dtype == dt.bool else [-1, 1], math.prod(shape) + first)
    x = x.astype(dtype)[first:].reshape(shape)
    np.testing.assert_array_equal(
        scanned("cumulative_prod", x, axis, result), expected("cumulative_prod", x, axis, result)
    )


@pytest.mark.parametrize("dtype", [dt.complex64, dt.int32], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_products(dtype: Any, axis: int) -> None:
    signs = RANDOM.integers(0, 2, (300, 200)) * 2 - 1
    x = (signs * (1j if dtype == dt.complex64 else 3)).astype(dtype)
    np.testing.assert_array_equal(scanned("cumulative_prod", x, axis), expected("cumulative_prod", x, axis))


@pytest.mark.parametrize("shape", [(9000,), (300, 40), (300, 5), (300, 70)])
def test_nothing_is_added_to_the_first(shape: tuple[int, ...]) -> None:
    x = np.full(shape, -0.0, np.float32)
    assert np.signbit(scanned("cumulative_sum", x, 0)).all()
    z = np.full(shape, complex(np.inf, 0), np.complex64)
    np.testing.assert_array_equal(scanned("cumulative_prod", z, 0).flat[0], z.flat[0])


def test_nothing_and_what_comes_first() -> None:
    np.testing.assert_array_equal(scanned("cumulative_prod", np.ones((0, 3), np.int8), 0, initial=True), [[1, 1, 1]])
    assert scanned("cumulative_sum", np.ones((3, 0), np.int8), 0, initial=True).shape == (4, 0)


@pytest.mark.parametrize("length", [1, 3, 4, 6, 7, 8, 9, 10, 12, 13, 16, 17, 20, 23, 27, 28, 31])
def test_a_thread_for_each_batch(length: int) -> None:
    x = small(300, length, 1 + length % 3)
    np.testing.assert_array_equal(scanned("cumulative_sum", x, 1), np.cumsum(x, 1))
    y = x[1:, :, ::-1]
    np.testing.assert_array_equal(scanned("cumulative_sum", y, 1), np.cumsum(y, 1))


def test_the_same_bits_whoever_is_first() -> None:
    x = RANDOM.normal(size=(70_000,)).astype(np.float32)
    wanted = scanned("cumulative_sum", x)
    for _ in range(3):
        np.testing.assert_array_equal(scanned("cumulative_sum", x), wanted)
    exact = np.cumsum(x.astype(np.float64))
    assert np.abs(wanted - exact).max() <= np.abs(np.cumsum(x) - exact).max()


@pytest.mark.parametrize("radix", [1, 4, 32])
def test_columns_look_back_in_every_radix(radix: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("columns", "staged"):
        monkeypatch.setattr(f"xpops.plan.scan.{module}.look_back_radix", lambda *_: radix)
    for x in (small(40 * 64, 130), small(40 * 800, 7)):
        np.testing.assert_array_equal(scanned("cumulative_sum", x, 0), np.cumsum(x, 0))
    y = small(2, 20 * 512, 8)
    np.testing.assert_array_equal(scanned("cumulative_sum", y, 1), np.cumsum(y, 1))


@pytest.mark.parametrize(("rows", "tiles"), [(1, 32), (1, 33), (1, 300), (40, 3), (3, 40), (2, 32), (5, 31)])
def test_rows_of_many_tiles(rows: int, tiles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tuning_of(90).scan._replace(rows=4224, tile_block=64, packs=1)
    monkeypatch.setattr("xpops.engine.cuda.kernels.scan.scan_policy", lambda *_: policy)
    x = small(rows, tiles * 256 - 5)
    np.testing.assert_array_equal(scanned("cumulative_sum", x, 1), np.cumsum(x, 1))
