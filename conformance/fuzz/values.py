"""Values of operands: drawn from a domain, so that the function's result is defined and not badly conditioned."""

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

# The share of special values where a domain has them.
SPECIAL_SHARE = 0.04
_SPECIAL = np.asarray([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 6e4, 3e38])

# The domains of the parts of complex numbers: with infinite parts, results depend on the formula.
_OF_PARTS = {"any": "finite", "nonzero": "positive"}


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


def draw_values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], domain: str) -> NDArray:
    """A contiguous array of a domain: any, finite, positive, unit, nonzero, small, shift or a length ``<n``.

    Signed integers of a domain other than shift are of both signs.
    """
    return np.asarray(_values(rng, dtype, shape, domain))


def _values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], domain: str) -> Any:
    if domain.startswith("<"):
        return rng.integers(0, int(domain[1:]), shape).astype(dtype)
    if dtype == BOOL:
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        return _integers(rng, dtype, shape, domain)
    if dtype in COMPLEX:
        parts = [_reals(rng, shape, _OF_PARTS.get(domain, domain)) for _ in range(2)]
        return (parts[0] + 1j * parts[1]).astype(dtype)
    with np.errstate(all="ignore"):
        return _reals(rng, shape, domain).astype(dtype)


def _integers(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], domain: str) -> NDArray:
    info = np.iinfo(dtype)
    if domain == "shift":
        return rng.integers(0, 8 * dtype.itemsize, shape).astype(dtype)
    if domain in ("any", "nonzero") and rng.random() < 0.5:
        values = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    else:
        low = 0 if dtype in UNSIGNED else -5
        values = rng.integers(low, 6, shape).astype(dtype)
    if domain == "nonzero":
        values = np.where(values == 0, dtype.type(3), values)
    return np.asarray(values)


def _reals(rng: np.random.Generator, shape: tuple[int, ...], domain: str) -> NDArray:
    if domain == "small":
        return rng.integers(-4, 5, shape).astype(float)
    if domain == "unit":
        return rng.uniform(-0.999, 0.999, shape)
    values: NDArray = rng.standard_normal(shape) * rng.choice([0.01, 1.0, 30.0])
    if domain == "positive":
        return np.abs(values) + 0.01
    if domain == "nonzero":
        values = np.copysign(np.abs(values) + 0.01, values)
        is_infinite = (rng.random() < 0.5) & (rng.random(shape) < SPECIAL_SHARE)
        return np.where(is_infinite, np.copysign(np.inf, values), values)
    if domain == "any" and rng.random() < 0.5:
        values = np.where(rng.random(shape) < SPECIAL_SHARE, rng.choice(_SPECIAL, shape), values)
    return np.asarray(values)
