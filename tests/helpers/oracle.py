"""Comparisons with plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops import Array

NDArray = np.ndarray[Any, Any]


def bits(host: NDArray) -> NDArray:
    """The bytes of each element, with all NaNs replaced by one NaN. Signs of zeros stay."""
    plain = np.ascontiguousarray(host).reshape(-1)
    if plain.dtype.kind == "c":
        plain = plain.view(plain.real.dtype)
    if plain.dtype.kind in "fV":
        plain = plain.copy()
        plain[plain != plain] = np.nan
    return plain.view(np.uint8)


def assert_same(x: Array, expected: Any) -> None:
    """Assert that `x` has the dtype, shape and bits of `expected`, except that any NaN equals any NaN."""
    wanted = np.asarray(expected)
    assert isinstance(x, Array)
    assert (x.dtype, x.shape) == (wanted.dtype, wanted.shape)
    got = x.to_numpy()
    assert np.array_equal(bits(got), bits(wanted)), f"{got!r}\nis not\n{wanted!r}"


def assert_close(x: Array, expected: Any, ulp: float) -> None:
    """Assert that `x` has the dtype and shape of `expected`, and its values within `ulp` units in the last place."""
    wanted = np.asarray(expected)
    assert (x.dtype, x.shape) == (wanted.dtype, wanted.shape)
    got = x.to_numpy()
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), wanted.astype(wide), rtol=ulp * eps(wanted.dtype), atol=0)


def eps(dtype: np.dtype[Any]) -> float:
    """The distance from 1 to the next larger number."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps) if dtype.kind in "fcV" else 0.0
