"""Data types: ``numpy.dtype`` objects, their categories, and their names in C++ and DLPack."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

DType = np.dtype[Any]

bool = np.dtype(np.bool_)
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{bits}") for bits in (16, 32, 64))
bfloat16 = np.dtype(ml_dtypes.bfloat16)
complex64, complex128 = np.dtype(np.complex64), np.dtype(np.complex128)
float8_e4m3fn, float8_e5m2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)


class DTypeInfo(NamedTuple):
    """The names of a dtype in C++ and in DLPack.

    Attributes
    ----------
    c_type : str
        The storage type in ``native/xpops/core/types.cuh``.
    dlpack : tuple of int
        DLPack's type code and bits (lanes are always 1).
    """

    c_type: str
    dlpack: tuple[int, int]


# DLPack codes: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10 float8_e4m3fn, 12 float8_e5m2 (dlpack.h, 1.1).
INFO: dict[DType, DTypeInfo] = {
    bool: DTypeInfo("bool", (6, 8)),
    int8: DTypeInfo("int8", (0, 8)),
    int16: DTypeInfo("int16", (0, 16)),
    int32: DTypeInfo("int32", (0, 32)),
    int64: DTypeInfo("int64", (0, 64)),
    uint8: DTypeInfo("uint8", (1, 8)),
    uint16: DTypeInfo("uint16", (1, 16)),
    uint32: DTypeInfo("uint32", (1, 32)),
    uint64: DTypeInfo("uint64", (1, 64)),
    float16: DTypeInfo("float16", (2, 16)),
    bfloat16: DTypeInfo("bfloat16", (4, 16)),
    float32: DTypeInfo("float", (2, 32)),
    float64: DTypeInfo("double", (2, 64)),
    complex64: DTypeInfo("complex<float>", (5, 64)),
    complex128: DTypeInfo("complex<double>", (5, 128)),
    float8_e4m3fn: DTypeInfo("float8_e4m3fn", (10, 8)),
    float8_e5m2: DTypeInfo("float8_e5m2", (12, 8)),
}

SIGNED_INTEGERS = (int8, int16, int32, int64)
UNSIGNED_INTEGERS = (uint8, uint16, uint32, uint64)
INTEGERS = SIGNED_INTEGERS + UNSIGNED_INTEGERS
HALVES = (float16, bfloat16)
REAL_FLOATS = (*HALVES, float32, float64)
COMPLEX_FLOATS = (complex64, complex128)
FLOAT8 = (float8_e4m3fn, float8_e5m2)

DEFAULT_INTEGER, DEFAULT_FLOAT, DEFAULT_COMPLEX = int64, float64, complex128
REAL_OF: dict[DType, DType] = {complex64: float32, complex128: float64}
COMPLEX_OF: dict[DType, DType] = {float16: complex64, bfloat16: complex64, float32: complex64, float64: complex128}

# The standard's dtype categories, by the names that errors use. Of these only "any" includes float8, which is for
# storage and casts.
CATEGORIES: dict[str, frozenset[DType]] = {
    "boolean": frozenset((bool,)),
    "signed integer": frozenset(SIGNED_INTEGERS),
    "unsigned integer": frozenset(UNSIGNED_INTEGERS),
    "integer": frozenset(INTEGERS),
    "integer or boolean": frozenset((*INTEGERS, bool)),
    "real floating-point": frozenset(REAL_FLOATS),
    "complex floating-point": frozenset(COMPLEX_FLOATS),
    "floating-point": frozenset(REAL_FLOATS + COMPLEX_FLOATS),
    "real-valued": frozenset(INTEGERS + REAL_FLOATS),
    "numeric": frozenset(INTEGERS + REAL_FLOATS + COMPLEX_FLOATS),
    "arithmetic": frozenset(INFO) - frozenset(FLOAT8),
    "any": frozenset(INFO),
}

# The names that `isdtype` and `__array_namespace_info__().dtypes(kind=)` take.
KINDS: dict[str, frozenset[DType]] = {
    "bool": CATEGORIES["boolean"],
    "signed integer": CATEGORIES["signed integer"],
    "unsigned integer": CATEGORIES["unsigned integer"],
    "integral": CATEGORIES["integer"],
    "real floating": CATEGORIES["real floating-point"],
    "complex floating": CATEGORIES["complex floating-point"],
    "numeric": CATEGORIES["numeric"],
}


def as_dtype(dtype: object, function: str = "dtype") -> DType:
    """The supported ``numpy.dtype`` that `dtype` names.

    Parameters
    ----------
    dtype : numpy.dtype, numpy scalar type, Python scalar type, torch.dtype or str
        A dtype as a user passes it.
    function : str
        The public function to name in the error.

    Raises
    ------
    TypeError
        If it names no dtype, or a dtype that xpops does not support.

    Examples
    --------
    >>> as_dtype("float32"), as_dtype(int)
    (dtype('float32'), dtype('int64'))
    """
    if isinstance(dtype, np.dtype) and dtype in INFO:
        return dtype
    found: DType | None = None
    name = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype
    if isinstance(name, str) and name in _BY_NAME:
        return _BY_NAME[name]
    with suppress(TypeError):
        found = np.dtype(dtype)  # type: ignore[call-overload]
    if dtype is None or found is None or found not in INFO:
        raise TypeError(f"{function}: dtype {dtype!r} is not supported; accepted: {', '.join(_BY_NAME)}")
    return found


_BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in INFO}
