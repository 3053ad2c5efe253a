"""The dtypes of operands, and those of references."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

NDArray = np.ndarray[Any, Any]
DType = np.dtype[Any]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALVES = (np.dtype("float16"), BFLOAT16)
FLOATS = (*HALVES, np.dtype("float32"), np.dtype("float64"))
COMPLEX = (np.dtype("complex64"), np.dtype("complex128"))
SIGNED = tuple(map(np.dtype, ("int8", "int16", "int32", "int64")))
UNSIGNED = tuple(map(np.dtype, ("uint8", "uint16", "uint32", "uint64")))
INTEGERS = (*SIGNED, *UNSIGNED)
BOOL, INT64 = np.dtype(bool), np.dtype("int64")


def is_float(dtype: DType) -> bool:
    """Whether a dtype is one of `FLOATS`; ml_dtypes' own have no kind of their own."""
    return dtype in FLOATS


def wide_dtype(dtype: DType) -> DType:
    """The dtype in which a reference is computed: that of integers is their own."""
    if dtype in COMPLEX:
        return np.dtype(np.complex128 if dtype == "complex64" else np.clongdouble)
    if is_float(dtype):
        return np.dtype(np.longdouble if dtype == "float64" else np.float64)
    return dtype
