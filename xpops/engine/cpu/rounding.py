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
# float32 holds all numbers of the other real dtypes exactly.
_WIDE = frozenset((dt.int32, dt.uint32, dt.int64, dt.uint64, dt.float64))


def cast(x: Any, dtype: DType) -> NDArray:
    """Convert an ndarray or Python scalar to `dtype`; an ndarray that has it is returned itself."""
    if dtype in NARROW and not (isinstance(x, np.ndarray) and x.dtype not in _WIDE):
        x = _to_odd(np.asarray(x))
    return x.astype(dtype, copy=False) if isinstance(x, np.ndarray) else np.asarray(x, dtype)


def _to_odd(x: NDArray) -> NDArray:
    """Round `x` to odd: to float32 towards zero, with the last bit set if inexact. It then rounds on as `x` would."""
    if x.dtype not in _WIDE:
        return x
    exact, near = x.astype(np.longdouble), x.astype(np.float32)
    bits, inexact = near.view(np.uint32), np.isfinite(exact) & (near != exact)
    bits -= inexact & (np.abs(near) > np.abs(exact))
    bits |= inexact
    return near
