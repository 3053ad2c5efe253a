"""Operands that reveal mistakes, and comparisons that print the operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.testing.comparison import ulp_error
from xpops.testing.values import generator, random_bits, special_values

NDArray = np.ndarray[Any, Any]

HALVES = (dt.float16, dt.bfloat16)
# Wide enough that references have negligible errors. (On x86 a long double has 64 bits of precision.)
WIDE = {dt.float16: dt.float64, dt.bfloat16: dt.float64, dt.float32: dt.float64, dt.float64: np.dtype(np.longdouble)}


def unary_values(dtype: DType, size: int = 2000) -> NDArray:
    """The grid, random bits, and for floating point random numbers around 1."""
    parts = [special_values(dtype), random_bits(dtype, size, "x")]
    if dtype.kind in "fcV":
        parts.append((3 * generator(dtype, "n").normal(size=size)).astype(dtype))
    return np.concatenate(parts)


def binary_values(dtype: DType, size: int = 2000) -> tuple[NDArray, NDArray]:
    """Every pair of the grid (of a part of it for complex dtypes), and pairs of random values."""
    special = special_values(dtype)
    if dtype.kind == "c":
        special = special[:: special.size // 60]
    x, y = (each.reshape(-1) for each in np.meshgrid(special, special))
    random = [(random_bits(dtype, size, name), _near_one(dtype, size, name)) for name in "xy"]
    return np.concatenate([x, *random[0]]), np.concatenate([y, *random[1]])


def _near_one(dtype: DType, size: int, name: str) -> NDArray:
    if dtype.kind not in "fcV":
        return random_bits(dtype, 0, name)
    return (3 * generator(dtype, "n", name).normal(size=size)).astype(dtype)


def few_near_one(dtype: DType, shape: tuple[int, ...]) -> NDArray:
    """Six numbers near 1 again and again: a product rounds as many others do, and a million of them stay in range."""
    step = float(ml_dtypes.finfo(dtype).eps) if dtype.itemsize == 2 else 1 / 3000
    return np.random.default_rng(5).choice([1 + step * k for k in (-3, -2, -1, 1, 2, 3)], shape).astype(dtype)


def computed(dtype: DType) -> DType:
    """The dtype in which elements are computed: float32 for 16-bit floats."""
    return dt.float32 if dtype in HALVES else dtype


def assert_within(got: NDArray, wanted: NDArray, bound: float, *operands: NDArray) -> None:
    """Assert that `got` is `wanted` to `bound` units in the last place. Signs of zeros, and NaNs, must be equal."""
    error = ulp_error(got, wanted)
    error = np.where((wanted == 0) & (np.signbit(got) != np.signbit(wanted)), np.inf, error)
    report(error <= bound, got, wanted, *operands)


def assert_bits(got: NDArray, wanted: NDArray, *operands: NDArray) -> None:
    """Assert that `got` has the bits of `wanted`, except that any NaN equals any NaN."""
    assert got.dtype == wanted.dtype
    report(equal_bits(got, wanted), got, wanted, *operands)


def equal_bits(got: NDArray, wanted: NDArray) -> NDArray:
    """Where two arrays of one dtype have the same bits, or are both NaN; for complex numbers, in each part."""
    if got.dtype.kind == "c":
        return equal_bits(got.real, wanted.real) & equal_bits(got.imag, wanted.imag)
    same: NDArray = np.ascontiguousarray(got).view(f"u{got.itemsize}") == np.ascontiguousarray(wanted).view(
        f"u{got.itemsize}"
    )
    return same | ((got != got) & (wanted != wanted))


def report(ok: NDArray, got: NDArray, wanted: NDArray, *operands: NDArray) -> None:
    """Fail with the first wrong cases."""
    wrong = np.flatnonzero(~ok)
    lines = [
        f"f({', '.join(str(each[i]) for each in operands)}) is {got[i]}, not {wanted[i]}" for i in wrong[:8].tolist()
    ]
    assert not wrong.size, f"{wrong.size} of {ok.size} are wrong\n" + "\n".join(lines)
