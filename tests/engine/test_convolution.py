"""Convolution and correlation of vectors against NumPy's, on every device."""

from __future__ import annotations

import tracemalloc
from typing import Any

import ml_dtypes
import numpy
import pytest

import xpops as xp
import xpops.numpy as np
from xpops.testing import to_numpy

RANDOM = numpy.random.default_rng(11)
MODES = ("full", "same", "valid")
functions = pytest.mark.parametrize("name", ["convolve", "correlate"])
modes = pytest.mark.parametrize("mode", MODES)


def both(name: str, a: Any, v: Any, mode: str, device: Any) -> tuple[Any, Any]:
    """Our result, twice, and NumPy's."""
    first, second = (xp.asarray(each, device=device) for each in (a, v))
    results = [to_numpy(getattr(np, name)(first, second, mode)) for _ in range(2)]
    numpy.testing.assert_array_equal(*results)
    return results[0], getattr(numpy, name)(a, v, mode)


@functions
@modes
def test_lengths_and_dtypes(name: str, mode: str, device: Any) -> None:
    for first, second in ((1, 1), (1, 5), (4, 4), (5, 4), (6, 40), (1500, 700), (700, 1500)):
        for dtype in (bool, numpy.uint8, numpy.int64, numpy.float32, numpy.float64, numpy.complex64):
            a, v = (RANDOM.integers(-3, 4, size).astype(dtype) for size in (first, second))
            v = v * numpy.array(1j, v.dtype) if dtype is numpy.complex64 else v
            found, wanted = both(name, a, v, mode, device)
            assert found.dtype == wanted.dtype
            numpy.testing.assert_array_equal(found, wanted)


@functions
@modes
def test_views_and_mixed_dtypes(name: str, mode: str, device: Any) -> None:
    a, v = RANDOM.integers(-9, 9, 300)[::-2], RANDOM.normal(size=60)[::3]
    for first, second in ((a, v), (v, a), (v[::-1], v)):
        found, wanted = both(name, first, second, mode, device)
        assert found.dtype == wanted.dtype
        numpy.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@functions
@modes
@pytest.mark.filterwarnings("ignore:invalid value")
def test_infinities_reach_only_their_sums(name: str, mode: str, device: Any) -> None:
    a, v = numpy.ones(50), numpy.ones(9)
    a[[0, 20, -1]], v[[0, -1]] = (numpy.inf, numpy.nan, -numpy.inf), (numpy.inf, -numpy.inf)
    for first, second in ((a, v), (v, a)):
        found, wanted = both(name, first, second, mode, device)
        numpy.testing.assert_array_equal(found, wanted)


@functions
@pytest.mark.parametrize("dtype", [numpy.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
def test_halves_add_in_float32(name: str, dtype: Any, device: Any) -> None:
    """In a half type the sum would stay at 2048, or at 256."""
    x = xp.ones(4096, dtype=dtype, device=device)
    assert float(getattr(np, name)(x, x, "valid")[0]) == 4096
    assert float(getattr(np, name)(x, x[:3000], "valid")[7]) == xp.asarray(3000.0, dtype=dtype)


def test_no_matrix_of_windows() -> None:
    a, v = xp.ones(4000, device="cpu"), xp.ones(2000, device="cpu")
    np.convolve(a, v)
    tracemalloc.start()
    np.convolve(a, v)
    np.correlate(a, v)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20  # the matrix has 64 MB


@functions
def test_float8_is_refused(name: str) -> None:
    x = xp.ones(3, dtype="float8_e5m2", device="cpu")
    with pytest.raises(TypeError, match=f"{name}: dtype float8_e5m2 is not accepted"):
        getattr(np, name)(x, x)


@functions
def test_gradients_are_refused(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match=f"{name}: a needs a gradient, and there is none by it"):
        getattr(np, name)(x, torch.ones(2))
