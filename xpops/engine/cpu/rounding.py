"""Casts that round once, where ml_dtypes goes through float32 and rounds twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]

# Computed in float32, as on the GPU.
WIDENED = {dt.float16: dt.float32, dt.bfloat16: dt.float32}
# Sums and products of many elements are made in these.
ACCUMULATED = {
    **dict.fromkeys((dt.float16, dt.bfloat16, dt.float32), dt.float64),
    dt.complex64: dt.complex128,
}
NARROW = frozenset((dt.float16, dt.bfloat16, *dt.FLOAT8))
# float32 holds all others exactly.
_WIDE = frozenset((dt.int32, dt.uint32, dt.int64, dt.uint64, dt.float64))


def cast(x: Any, dtype: DType) -> NDArray:
    """An ndarray or Python scalar as `dtype`; `x` itself if it has it."""
    if dtype in NARROW and not (isinstance(x, np.ndarray) and x.dtype not in _WIDE):
        x = _to_odd(np.asarray(x))
    return x.astype(dtype, copy=False) if isinstance(x, np.ndarray) else np.asarray(x, dtype)


def _to_odd(x: NDArray) -> NDArray:
    """The float32 that rounds to any narrower dtype as `x` does: towards zero, with the last bit set where inexact."""
    if x.dtype not in _WIDE:
        return x
    exact, near = x.astype(np.longdouble), x.astype(np.float32)
    bits, inexact = near.view(np.uint32), np.isfinite(exact) & (near != exact)
    bits -= inexact & (np.abs(near) > np.abs(exact))
    bits |= inexact
    return near
