"""Casts that round once. The casts of ml_dtypes go through float32 and round twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]

# Elementwise functions of these dtypes compute in float32, as on the GPU.
WIDENED = {dt.float16: dt.float32, dt.bfloat16: dt.float32}
# The dtypes in which sums and products of many elements are computed.
ACCUMULATED = {
    **dict.fromkeys((dt.float16, dt.bfloat16, dt.float32), dt.float64),
    dt.complex64: dt.complex128,
}
NARROW = frozenset((dt.float16, dt.bfloat16, *dt.FLOAT8))
# float32 does not hold all numbers of these dtypes exactly.
_WIDE = frozenset((dt.int32, dt.uint32, dt.int64, dt.uint64, dt.float64))


def cast(x: Any, dtype: DType) -> NDArray:
    """Convert an ndarray or Python scalar to `dtype`; an ndarray that has it is returned itself."""
    if not isinstance(x, np.ndarray):
        return np.asarray(_to_odd(np.asarray(x)) if dtype in NARROW else x, dtype)
    # NumPy rounds float64 to float16 once. Integers that float32 rounds are infinite in float16.
    if dtype in NARROW and dtype != dt.float16 and x.dtype in _WIDE:
        x = _to_odd(x)
    array: NDArray = x
    return array.astype(dtype, copy=False)


def _to_odd(x: NDArray) -> NDArray:
    """Round `x` to odd: to float32 towards zero, with the last bit set if inexact. It then rounds on as `x` would."""
    if x.dtype not in _WIDE:
        return x
    exact, near = _in_double(x), x.astype(np.float32)
    back = near.astype(np.float64)
    bits, inexact = near.view(np.uint32), np.isfinite(exact) & (back != exact)
    bits -= np.abs(back) > np.abs(exact)
    bits |= inexact
    return near


def _in_double(x: NDArray) -> NDArray:
    """`x` in float64. In integers beyond 2**53, bit 11 replaces the bits below it if one of them is set."""
    if x.dtype.itemsize == 8 and x.dtype.kind in "iu":
        top, low = x >> 53, x & 2047
        x = np.where((top == 0) | (top == -1), x, (x ^ low) | ((low != 0).astype(x.dtype) << 11))
    return x.astype(np.float64, copy=False)
