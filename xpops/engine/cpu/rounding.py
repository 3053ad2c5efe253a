"""Casts that round once. The casts of ml_dtypes go through float32 and round twice.

The compiled core converts float16 and bfloat16, if it was built: it takes a tenth of NumPy's time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]

# Elementwise functions of these dtypes compute in float32, as on the GPU.
WIDENED = {dt.float16: dt.float32, dt.bfloat16: dt.float32}
# The dtypes in which sums and products of many elements are computed.
ACCUMULATED = {
    **dict.fromkeys((dt.float16, dt.bfloat16, dt.float32), dt.float64),
    dt.complex64: dt.complex128,
}
# The dtypes of the numbers with which the compiled core computes.
SINGLE = frozenset((*WIDENED, dt.float32))
NARROW = frozenset((*dt.HALVES, *dt.FLOAT8))
# float32 does not hold all numbers of these dtypes exactly.
_WIDE = frozenset((dt.int32, dt.uint32, dt.int64, dt.uint64, dt.float64))
# The conversions of the compiled core: of halves to other floating-point dtypes, and to halves.
_CONVERTED = frozenset(
    (source, target)
    for source in (*dt.REAL_FLOATS, dt.int32, dt.int64)
    for target in dt.REAL_FLOATS
    if source != target and not {source, target}.isdisjoint(WIDENED) and compiled is not None
)


def cast(x: Any, dtype: DType) -> NDArray:
    """Convert an ndarray or Python scalar to `dtype`; an ndarray that has it is returned itself."""
    if not isinstance(x, np.ndarray):
        return np.asarray(_to_odd(_array_of(x)) if dtype in NARROW else x, dtype)
    if (x.dtype, dtype) in _CONVERTED:
        converted = np.empty_like(x, dtype)
        assign(converted, x)
        return converted
    # NumPy rounds float64 to float16 once. Integers that float32 rounds are infinite in float16.
    if dtype in NARROW and dtype != dt.float16 and x.dtype in _WIDE:
        x = _to_odd(x)
    array: NDArray = x
    return array.astype(dtype, copy=False)


def copied(x: NDArray, dtype: DType) -> NDArray:
    """A new array of `x`, converted to `dtype`."""
    converted = cast(x, dtype)
    return converted.copy() if converted is x else converted


def assign(out: NDArray, x: NDArray) -> None:
    """Write `x`, which broadcasts to `out`, rounded once."""
    if x.ndim == out.ndim and compiled is not None and (x.dtype, out.dtype) in _CONVERTED:
        compiled.convert(buffer_of(out), buffer_of(x))
    else:
        np.copyto(out, cast(x, out.dtype) if out.dtype in NARROW else x, casting="unsafe")


def buffer_of(x: NDArray) -> NDArray:
    """`x`, or the bits of bfloat16 as integers: it has no buffer protocol, and NumPy copies it slowly."""
    return x.view(np.uint16) if x.dtype == dt.bfloat16 else x


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


def _array_of(x: Any) -> NDArray:
    """A Python scalar as an array. An integer beyond 64 bits becomes float64, rounded to odd."""
    array = np.asarray(x)
    if array.dtype != object:
        return array
    low = x.bit_length() - 52
    return np.asarray(float((x >> low | bool(x & (1 << low) - 1)) << low))


def _in_double(x: NDArray) -> NDArray:
    """`x` in float64. In integers beyond 2**53, bit 11 replaces the bits below it if one of them is set."""
    if x.dtype.itemsize == 8 and x.dtype.kind in "iu":
        top, low = x >> 53, x & 2047
        x = np.where((top == 0) | (top == -1), x, (x ^ low) | ((low != 0).astype(x.dtype) << 11))
    return x.astype(np.float64, copy=False)
