"""Kernels of selection and counting, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run
from tests.helpers.oracle import bits
from xpops.core import dtypes as dt
from xpops.engine.cuda.kernels.elementwise import dense_copier
from xpops.engine.cuda.kernels.selection import tiles, writers
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.selection import row_step
from xpops.plan.transpose.boxes import sector_reads

RANDOM = np.random.default_rng(5)
ENGINE = EmulatedEngine()
# Sizes around a tile of float32, which has 4096 elements, and enough tiles for two warps.
SIZES = [1, 31, 33, 4095, 4096, 4097, 12289, 40000]


def results(plan: Any, *operands: Any) -> tuple[Any, ...]:
    program = plan if isinstance(plan, tuple) else plan(STREAM, *(operand.ctypes.data for operand in operands))
    return run(ENGINE, *program, *operands)


def compressed(x: Any, mask: Any) -> Any:
    (found,) = results(ENGINE.compress(layout_on_gpu(x), layout_on_gpu(mask)), x, mask)
    return found


def same(got: Any, wanted: Any) -> None:
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert np.array_equal(bits(got), bits(wanted))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
def test_elements(size: int, share: float) -> None:
    x, mask = RANDOM.normal(size=size).astype(np.float32), RANDOM.random(size) < share
    same(compressed(x, mask), x[mask])


@pytest.mark.parametrize("dtype", [dt.uint8, dt.bfloat16, dt.float64, dt.complex128], ids=str)
def test_every_width(dtype: Any) -> None:
    x, mask = (RANDOM.random(20000) * 100).astype(dtype), RANDOM.random(20000) < 0.4
    same(compressed(x, mask), x[mask])
    same(compressed(x[1:], mask[:-1]), x[1:][mask[:-1]])
    same(compressed(x[:-1], mask[1:]), x[:-1][mask[1:]])


@pytest.mark.parametrize("dtype", [dt.uint8, dt.float16, dt.float32, dt.int64, dt.complex128], ids=str)
def test_elements_of_any_layout(dtype: Any) -> None:
    base = (RANDOM.random((31, 70, 40)) * 100).astype(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(base[0], 3, axis=1)
    views = (
        base[:, ::2],
        base[::-1, :, ::-1],
        base[:, :, 1:-2],
        base[:, 3:4],
        base.T,
        windows,
        base[:, :1] + base[:1, :1],
    )
    for x in views:
        for share in (0, 0.01, 0.5, 1):
            mask = RANDOM.random(x.shape) < share
            same(compressed(x, mask), x[mask])


@pytest.mark.parametrize("rest", [(2,), (4,), (7,), (3, 11), (0,), (1, 2, 3)], ids=str)
def test_rows(rest: tuple[int, ...]) -> None:
    x, mask = RANDOM.normal(size=(300, *rest)).astype(np.float32), RANDOM.random(300) < 0.3
    same(compressed(x, mask), x[mask])


@pytest.mark.parametrize("dtype", [dt.uint8, dt.float32, dt.complex128], ids=str)
@pytest.mark.parametrize("share", [0, 0.001, 0.05, 0.2, 0.6, 1])
def test_scattered_elements(dtype: Any, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many are chosen from a copy."""
    copies: list[int] = []

    def note(runtime: Any, x: Any) -> Any:
        dense, copied = dense_copier(runtime, x)
        return dense, lambda *given: copies.append(1) or copied(*given)

    monkeypatch.setattr(writers, "dense_copier", note)
    for shape, order in (((9, 900, 5), (1, 2, 0)), ((900, 5, 9), (0, 1, 2))):
        x = (100 * RANDOM.random([shape[axis] for axis in order])).astype(dtype).transpose(np.argsort(order))
        mask = RANDOM.random(shape) < share
        for _ in range(2):
            same(compressed(x, mask), x[mask])
    is_many = share * x.size >= x.nbytes / 16
    assert len(copies) == 2 * (is_many and dtype != dt.complex128)


@pytest.mark.parametrize("dtype", [dt.uint8, dt.float32, dt.complex128], ids=str)
@pytest.mark.parametrize("share", [0, 0.02, 0.2, 1])
def test_scattered_rows(dtype: Any, share: float) -> None:
    """Many are gathered from a copy."""
    for x in (RANDOM.random((30, 20, 70)).transpose(2, 1, 0), RANDOM.random((70, 600)).T[:, ::-1]):
        x = (100 * x).astype(dtype)
        assert (sector_reads(layout_on_gpu(x), tuning_of(90).elementwise, 256) > 1) == (x.ndim == 3)
        mask = RANDOM.random(len(x)) < share
        for _ in range(2):
            same(compressed(x, mask), x[mask])


@pytest.mark.parametrize("dtype", [dt.uint8, dt.float32, dt.complex128], ids=str)
def test_rows_of_any_layout(dtype: Any) -> None:
    base = (RANDOM.random((60, 14, 9, 6)) * 100).astype(dtype)
    views = [
        (base[:, 1:5], 1),
        (base[:, :, 2:, ::2], 1),
        (base[::-1, :, ::-1], 1),
        (base[::3], 1),
        (base[:, :, :, :1], 3),
        (base[:, :, 3:7], 2),
        (base.transpose(0, 3, 2, 1), 1),
        (np.broadcast_to(base[:1], base.shape), 1),
    ]
    for x, axes in views:
        layout = layout_on_gpu(x)
        assert row_step(layout, axes) is not None
        for share in (0, 0.3, 1):
            mask = RANDOM.random(x.shape[:axes]) < share
            for _ in range(2):
                same(compressed(x, mask), x[mask])


def test_rows_at_several_distances() -> None:
    base = RANDOM.normal(size=(5, 7, 6, 4))
    for x, axes in ((base[:, 1:], 2), (base.swapaxes(0, 1), 2), (base[:, ::-1], 2)):
        assert row_step(layout_on_gpu(x), axes) is None


def test_a_mask_holds_any_byte() -> None:
    raw = RANDOM.integers(0, 256, 5000).astype(np.uint8) * (RANDOM.random(5000) < 0.5)
    x = np.arange(5000)
    same(compressed(x, raw.view(np.bool_)), x[raw != 0])


@pytest.mark.parametrize("dtype", [dt.bool, dt.int8, dt.float16, dt.complex64], ids=str)
def test_coordinates(dtype: Any) -> None:
    x = RANDOM.integers(0, 3, (50, 3, 41)).astype(np.float32).astype(dtype)
    if dtype not in (dt.bool, dt.int8):
        x[::7, 1] = np.nan
        x[::5, 2] = -0.0
    for got, wanted in zip(results(ENGINE.nonzero(layout_on_gpu(x)), x), np.nonzero(x.astype(bool)), strict=True):
        same(got, wanted)


@pytest.mark.parametrize(
    ("dtype", "limit"),
    [(dt.bool, 0), *((dtype, 2**31) for dtype in (dt.bool, dt.bfloat16, dt.int32, dt.float64, dt.complex128))],
    ids=str,
)
def test_flags_of_every_size(dtype: Any, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partial packs, words and tiles, in memory that is aligned to packs or not, and with 64-bit positions."""
    monkeypatch.setattr(tiles, "INDEX_LIMIT", limit)
    whole = RANDOM.integers(0, 2, 50001).astype(np.float32).astype(dtype)
    tile = tiles.tiling_of("NonZero", layout_on_gpu(whole), 1, tuning_of(90).select).tile
    for edge in (8, 32, tile, tile + 32, 2 * tile + 4096):
        for size in (edge - 1, edge, edge + 1):
            for x in (whole[:size], whole[1 : size + 1], whole[-size:]):
                (found,) = results(ENGINE.nonzero(layout_on_gpu(x)), x)
                same(found, np.flatnonzero(x.astype(bool)))


@pytest.mark.parametrize("dtype", [dt.bool, dt.bfloat16, dt.float32, dt.complex128], ids=str)
def test_runs(dtype: Any) -> None:
    x = np.sort(RANDOM.integers(0, 2 if dtype == dt.bool else 200, 9001)).astype(dtype)
    if dtype == dt.float32:
        x[-5:], x[:40] = np.nan, [-0.0] * 20 + [0.0] * 20
    order = RANDOM.permutation(x.size)
    plan = ENGINE.runs(layout_on_gpu(x), ("values", "starts", "groups"))
    values, starts, groups = results(plan, x, order)
    first = np.concatenate([[True], x[1:] != x[:-1]])
    same(values, x[first])
    same(starts, np.flatnonzero(first))
    same(groups[order], np.cumsum(first) - 1)


@pytest.mark.parametrize("view", ["plain", "reversed", "transposed", "sliced"])
def test_masked_scatter(view: str) -> None:
    base = RANDOM.normal(size=(40, 33, 9)).astype(np.float32)
    views = {
        "plain": base,
        "reversed": base[::2, ::-1],
        "transposed": base.transpose(2, 0, 1),
        "sliced": base[:, :, 1:4],
    }
    x = views[view]
    for axes in (1, 2, 3):
        mask = RANDOM.random(x.shape[:axes]) < 0.4
        value = RANDOM.normal(size=(mask.sum(), *x.shape[axes:])).astype(np.float32)
        wanted = x.copy()
        wanted[mask] = value
        measure = ENGINE.masked_scatter(*map(layout_on_gpu, (x, mask, value)))
        results(measure, x, mask, value)
        same(x, wanted)


@pytest.mark.parametrize("dtype", [dt.uint8, dt.bfloat16, dt.float32, dt.complex128], ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_masked_scatter_of_elements(size: int, dtype: Any) -> None:
    x, mask = np.zeros(2 * size + 1, dtype)[1::2], RANDOM.random(size) < 0.3
    value = RANDOM.integers(1, 100, mask.sum()).astype(dtype)
    wanted = x.copy()
    wanted[mask] = value
    results(ENGINE.masked_scatter(*map(layout_on_gpu, (x, mask, value))), x, mask, value)
    same(x, wanted)


def test_masked_scatter_of_too_few_rows() -> None:
    x, mask, value = np.zeros(5), np.array([True, False, True, True, False]), np.ones(2)
    with pytest.raises(ValueError, match="the mask selects 3, but value has 2"):
        results(ENGINE.masked_scatter(*map(layout_on_gpu, (x, mask, value))), x, mask, value)
    assert not x.any()


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int32, np.uint64], ids=str)
@pytest.mark.parametrize("minlength", [0, 50, 20000])
def test_bincount(dtype: Any, minlength: int) -> None:
    for size, stop in [(0, 1), (1, 1), (9000, 200), (3000, 1024), (3000, 1030), (3000, 30000)]:
        largest = 1 if dtype == np.bool_ else np.iinfo(dtype).max
        x = RANDOM.integers(0, min(stop, int(largest) + 1), size).astype(dtype)
        (got,) = results(ENGINE.bincount(layout_on_gpu(x), minlength), x)
        same(got, np.bincount(x.astype(np.int64), minlength=minlength))


def test_bincount_whatever_the_call_before_counted() -> None:
    size = 3000
    measure = ENGINE.bincount(layout_on_gpu(np.zeros(size, np.int32)), 0)
    for most in (3, 5000, 5000, 100, 2000, 1, 1 << 21, 7, 7, 40000, 0):
        x = RANDOM.integers(0, most + 1, size).astype(np.int32)
        x[most % size] = most
        (got,) = results(measure, x)
        same(got, np.bincount(x))


def test_a_negative_value_has_no_bin() -> None:
    x = np.array([3, -1, 5])
    with pytest.raises(ValueError, match="bincount: x holds a negative value"):
        results(ENGINE.bincount(layout_on_gpu(x), 0), x)
