"""Kernels of correlation and convolution without a GPU, and that they compile."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.emulator import GPU, EmulatedEngine, layout_on_gpu, run
from tests.helpers.sass import stack_bytes
from tests.helpers.stacks import allowed_stack
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.correlate import correlate_glue, sums_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.numpy.convolution import _plan
from xpops.plan.signals.correlation import correlation_of, plan_correlation

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(5)
MODES = ("full", "same", "valid")
both = pytest.mark.parametrize("convolves", [True, False], ids=["convolve", "correlate"])


def some(dtype: Any, size: int) -> NDArray:
    """Small integers, whose sums are exact in every dtype."""
    x = RANDOM.integers(-2, 3, size)
    if np.dtype(dtype).kind == "c":
        return (x + 1j * RANDOM.integers(-2, 3, size)).astype(dtype)
    return x.astype(dtype)


def expected(a: NDArray, v: NDArray, convolves: bool, mode: Any) -> NDArray:
    wide = np.float32 if a.dtype == ml_dtypes.bfloat16 else a.dtype
    found = (np.convolve if convolves else np.correlate)(a.astype(wide), v.astype(wide), mode)
    return found.astype(a.dtype)


def found(engine: EmulatedEngine, a: NDArray, v: NDArray, convolves: bool, mode: str) -> NDArray:
    (result,) = run(engine, *_plan(engine, (layout_on_gpu(a), layout_on_gpu(v)), convolves, mode), a, v)
    return result


@pytest.fixture
def engine() -> EmulatedEngine:
    return EmulatedEngine()


# The edges of a thread's outputs (8), a small tile (256), a chunk of taps (512) and a tile (1024).
@both
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("first", "second"), [(1, 1), (7, 9), (9, 8), (255, 2), (258, 3), (513, 513), (1024, 1), (1540, 512), (513, 1537)]
)
def test_every_length(engine: EmulatedEngine, first: int, second: int, mode: str, convolves: bool) -> None:
    a, v = some(np.float64, first), some(np.float64, second)
    np.testing.assert_array_equal(found(engine, a, v, convolves, mode), expected(a, v, convolves, mode))


@both
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype",
    [np.bool_, np.int8, np.uint64, ml_dtypes.bfloat16, np.float32, np.complex64],
    ids=lambda dtype: np.dtype(dtype).name,
)
def test_every_dtype(engine: EmulatedEngine, dtype: Any, mode: str, convolves: bool) -> None:
    for first, second in ((300, 21), (21, 300)):
        a, v = some(dtype, first), some(dtype, second)
        np.testing.assert_array_equal(found(engine, a, v, convolves, mode), expected(a, v, convolves, mode))


@both
def test_integers_wrap(engine: EmulatedEngine, convolves: bool) -> None:
    a, v = (RANDOM.integers(-128, 128, size).astype(np.int8) for size in (40, 30))
    np.testing.assert_array_equal(found(engine, a, v, convolves, "full"), expected(a, v, convolves, "full"))


@both
@pytest.mark.parametrize("mode", MODES)
def test_strides_of_any_sign(engine: EmulatedEngine, mode: str, convolves: bool) -> None:
    a, v = some(np.float32, 700)[::-2], some(np.float32, 90)[::3]
    for first, second in ((a, v), (v, a), (a, a[::-1]), (np.broadcast_to(np.float32(2), 40), v)):
        wanted = expected(first, second, convolves, mode)
        np.testing.assert_array_equal(found(engine, first, second, convolves, mode), wanted)


@both
@pytest.mark.parametrize("mode", MODES)
def test_infinities_reach_only_their_sums(engine: EmulatedEngine, mode: str, convolves: bool) -> None:
    """No product of an infinity and a padded zero, which is NaN."""
    a, v = np.ones(300), np.ones(21)
    a[[0, 40, -1]], v[[0, -1]] = (np.inf, np.nan, -np.inf), (np.inf, -np.inf)
    for first, second in ((a, v), (v, a)):
        with np.errstate(invalid="ignore"):
            wanted = expected(first, second, convolves, mode)
        np.testing.assert_array_equal(found(engine, first, second, convolves, mode), wanted)


@both
@pytest.mark.parametrize(("first", "second"), [(5000, 4999), (4600, 4568), (4600, 4567), (6000, 4500), (1500, 20000)])
def test_few_outputs_share_their_taps_among_blocks(
    engine: EmulatedEngine, first: int, second: int, convolves: bool
) -> None:
    a, v = some(np.float32, first), some(np.float32, second)
    np.testing.assert_array_equal(found(engine, a, v, convolves, "valid"), expected(a, v, convolves, "valid"))


def test_few_outputs_take_many_blocks() -> None:
    """Two outputs of a million taps."""
    signal, taps = (layout_of(dt.float64, (n,), None, GPU) for n in (1_000_001, 1_000_000))
    plan = plan_correlation(signal, taps, correlation_of(True, "valid", (signal.size, taps.size)), 132)
    assert (plan.parts, plan.blocks, plan.lanes) == (977, 977, 32)


# A full tile, parts of the taps, and few outputs.
COMPILED = [
    (dt.float64, (100_000, 1000)), (dt.float64, (1100, 1000)), (dt.float64, (1000, 1000)),
    (dt.float32, (100_000, 1000)), (dt.bool, (100_000, 1000)), (dt.int64, (100_000, 1000)),
    (dt.bfloat16, (1100, 1000)), (dt.complex128, (9000, 1000)),
]  # fmt: skip


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
def test_every_kernel_compiles(capability: int) -> None:
    for dtype, lengths in COMPILED:
        signal, taps = (layout_of(dtype, (n,), None, GPU) for n in lengths)
        call = correlation_of(False, "valid", lengths)
        plan = plan_correlation(signal, taps, call, 4)
        sources = [correlate_glue(plan, signal, call.conjugated)]
        sources += [sums_glue(plan, signal)] if plan.parts > 1 else []
        for source in sources:
            cubin = compile_cubin("correlate", source, capability)
            assert stack_bytes(cubin) <= allowed_stack("correlate", source)
