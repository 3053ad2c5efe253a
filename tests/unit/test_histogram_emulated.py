"""Histogram kernels without a GPU, and that they compile."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops.engine.cuda.kernels.histogram as on_cuda
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.histogram import value_histogram_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.histogram import equal_bins

RANDOM = np.random.default_rng(12)
ENGINE = EmulatedEngine()
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64]


def counted(x: Any, count: int, ends: Any, engine: EmulatedEngine = ENGINE) -> Any:
    first, last = (x.min(), x.max()) if ends is None else ends
    layout = layout_on_gpu(x)
    bins = equal_bins(x.dtype, count, first, last)
    outs = (
        layout_of(dt.int64, (count,), None, layout.device),
        layout_of(bins.edges.dtype, bins.edges.shape, None, layout.device),
    )
    return run(engine, outs, engine.histogram(layout, bins), x)


def check(x: Any, count: int, ends: Any = None, engine: EmulatedEngine = ENGINE) -> None:
    counts, edges = counted(x, count, ends, engine)
    with np.errstate(all="ignore"):
        wanted = np.histogram(x, count, ends)
    np.testing.assert_array_equal(counts, wanted[0])
    assert edges.dtype == wanted[1].dtype
    np.testing.assert_array_equal(edges, wanted[1])


def on_edges(dtype: Any, count: int, ends: Any) -> Any:
    """The edges, and the numbers next to them."""
    edges = equal_bins(np.dtype(dtype), count, *ends).edges
    steps = (np.nextafter(edges, edges.dtype.type(to)) for to in (-np.inf, np.inf))
    return np.concatenate([edges, *steps]).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("ends", [None, (0.0, 1.0), (-0.3, 0.7), (0.1, 0.4), (-3, 5), (1.0, 1.0)], ids=str)
@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_floats(dtype: Any, ends: Any, count: int) -> None:
    x = RANDOM.normal(size=5000).astype(dtype)
    check(x, count, ends)
    if ends is not None:
        nearby = on_edges(dtype, count, ends)
        check(nearby, count, ends)
        check(np.concatenate([x, nearby, np.array([np.nan, np.inf, -np.inf, -0.0], dtype)]), count, ends)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ends", [(0.1, 0.7), (1e3, 1e3 + 7), (-1e-30, 1e-30), (-1e30, 2e30)])
@pytest.mark.parametrize("count", [257, 4096, 20000])
def test_many_bins(dtype: Any, ends: Any, count: int) -> None:
    if dtype == np.float32 and ends[0] == 1e3 and count > 4096:
        ends = (0.25, 0.5)
    check(np.concatenate([RANDOM.uniform(*ends, 20000).astype(dtype), on_edges(dtype, count, ends)]), count, ends)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("count", [1, 10, 256])
def test_integers(dtype: Any, count: int) -> None:
    info = np.iinfo(dtype)
    for low, high in ((0, 20), (info.min // 2**12, info.max // 2**12), (info.min // 4, info.max // 4)):
        x = RANDOM.integers(low, high, 3000, endpoint=True).astype(dtype)
        check(x, count)
        check(x, count, (2, 15))
        check(x, count, (-0.5, 20.25))


def test_one_value() -> None:
    for dtype in (np.float32, np.int32):
        x = np.full(40000, 3, dtype)
        for count, ends in ((1, None), (256, (0, 9)), (10000, (0, 9)), (3, (4, 9))):
            check(x, count, ends)


@pytest.mark.parametrize("size", [0, 1, 3, 4097, 70001])
def test_sizes(size: int) -> None:
    x = RANDOM.uniform(size=size + 1).astype(np.float32)
    check(x[:-1], 50, (0.0, 1.0))
    check(x[1:], 50, (0.0, 1.0))


def test_several_blocks() -> None:
    engine = EmulatedEngine(workers=4)
    check(RANDOM.normal(size=100_000).astype(np.float32), 256, (-2.0, 2.0), engine)
    check(RANDOM.normal(size=100_000).astype(np.float32), 9000, (-2.0, 2.0), engine)


def test_most_numbers_need_no_edges() -> None:
    assert equal_bins(dt.float32, 256, 0.0, 1.0).margin < 2e-4
    assert equal_bins(dt.float32, 256, -3.0, 3.0).margin < 2e-3
    assert equal_bins(dt.float64, 256, 0.1, 0.7).margin < 1e-12
    assert equal_bins(dt.float16, 1000, np.float16(0), np.float16(1)).margin == 1


def test_too_many_bins() -> None:
    with pytest.raises(
        ValueError, match=r"histogram: bins is 1000; accepted: as many as float16 tells apart in 1.0 to"
    ):
        equal_bins(dt.float16, 1000, 1.0, 1.5)


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda d: np.dtype(d).name)
def test_kernels_compile(dtype: Any, capability: int) -> None:
    for count in (10, 1000, 10000):
        for ends in ((0.0, 1.0), (np.dtype(dtype).type(0), np.dtype(dtype).type(1))):
            if dtype in FLOATS and np.dtype(dtype).itemsize == 2:
                count = 10
            x = layout_of(np.dtype(dtype), (100,), None, Device("cuda"))
            source = value_histogram_glue(x, equal_bins(x.dtype, count, *ends), tuning_of(capability).histogram)
            assert compile_cubin("histogram", source, capability)


def test_copies_of_counters() -> None:
    x = layout_of(dt.float32, (100,), None, Device("cuda"))
    found = [on_cuda._numbers(x, length, tuning_of(90).histogram) for length in (10, 256, 257, 8192, 8193)]
    assert found == [f"4, {bins}, 256, 2" for bins in ("256, 32", "256, 32", "512, 16", "8192, 1", "0, 1")]
