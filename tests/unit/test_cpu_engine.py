"""Parts of the CPU engine: calls without warnings, aligned memory, and products of integers by limbs."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core.devices import CPU
from xpops.core.dtypes import bfloat16, float32
from xpops.core.layouts import layout_of
from xpops.engine.cpu import matmul
from xpops.engine.cpu.memory import allocator
from xpops.engine.cpu.quiet import quietly


def divide_by_zero() -> Any:
    return np.divide(np.ones(3), np.zeros(3))


def test_warnings_are_off_inside_only() -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.all(np.isinf(quietly(divide_by_zero)))
        assert np.all(np.isinf(quietly(quietly, divide_by_zero)))
        with pytest.raises(FloatingPointError):
            divide_by_zero()


def test_an_error_passes_and_the_next_call_works() -> None:
    with pytest.raises(ZeroDivisionError):
        quietly(lambda: 1 // 0)
    assert quietly(max, 1, 2) == 2


def test_threads_call_at_the_same_time() -> None:
    barrier, found = threading.Barrier(8, timeout=30), []

    def work() -> None:
        for _ in range(20):
            found.append(quietly(lambda: (barrier.wait(), divide_by_zero())[1]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160


@pytest.mark.parametrize("dtype", [float32, bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (5, 7), (1000, 1001)], ids=str)
def test_memory_is_aligned(shape: Any, dtype: Any) -> None:
    allocate = allocator(layout_of(dtype, shape, None, CPU))
    for _ in range(20):
        data, _ = allocate(0)
        assert (data.shape, data.dtype, data.ctypes.data % 64) == (shape, dtype, 0)
        data[...] = 1


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "int64"])
def test_long_products_of_integers_are_computed_in_parts(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "_TERMS", 50)
    info, random = np.iinfo(dtype), np.random.default_rng(3)
    x1, x2 = (random.integers(info.min, info.max, (2, 120, 120), dtype, endpoint=True) for _ in range(2))
    out: Any = np.empty((2, 120, 120), dtype)
    layouts = [layout_of(x1.dtype, x1.shape, None, CPU)] * 3
    matmul.matmul(*layouts, False)(0, out, x1, x2)
    np.testing.assert_array_equal(out, x1 @ x2)


def test_views_of_views_are_freed_without_recursion() -> None:
    x, owner = xp.ones((4, 4), device=CPU), weakref.ref(lent := np.arange(6.0).reshape(2, 3))
    for _ in range(100_000):
        x = x.T
    np.testing.assert_array_equal(x.to_numpy(), np.ones((4, 4)))
    shown = xp.asarray(lent, device=CPU, copy=False).T.T.T[::-1]
    del x, lent
    gc.collect()
    np.testing.assert_array_equal(shown.to_numpy(), np.arange(6.0).reshape(2, 3).T[::-1])
    del shown
    gc.collect()
    assert owner() is None


@pytest.mark.parametrize("value", [2**70, -(2**70), 2**64 + 1, (2**8 + 1) << 100, ((2**8 + 1) << 100) + 1, 2**200])
def test_integers_beyond_64_bits_are_rounded_once(value: int) -> None:
    """A bfloat16 has 8 bits: a number above the middle of two is rounded up, even if float64 does not hold it."""
    x = np.zeros(3, bfloat16)
    scale = max(value.bit_length() - 8, 0)
    wanted = float("inf") if value >= 2**128 else float(round(Fraction(value, 2**scale)) * 2**scale)
    for _ in range(2):
        assert (xp.add(x, value).astype(np.float64) == wanted).all()
        assert (xp.clip(x, 0, abs(value)) == 0).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_sums_are_rounded_once_where_a_part_of_the_sum_is_beyond_the_dtype(dtype: str) -> None:
    x = np.repeat(np.array([1e38, -1e38], dtype), 1 << 14)
    for _ in range(2):
        assert xp.sum(xp.asarray(x, device="cpu")).item() == 0
        assert xp.sum(xp.asarray(x[None], device="cpu"), axis=1).item() == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize(("shape", "axis"), [((), None), ((3,), ()), ((3,), 0)])
def test_a_sum_of_negative_zeros_is_zero(dtype: str, shape: Any, axis: Any) -> None:
    x = np.full(shape, -0.0, np.dtype(getattr(xp, dtype)))
    for function in (xp.sum, xp.mean):
        found, expected = np.asarray(function(xp.asarray(x, device="cpu"), axis=axis)), np.sum(x, axis=axis)
        assert np.array_equal(np.signbit(found.real), np.signbit(expected.real))
