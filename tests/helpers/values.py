"""Operands that reveal mistakes, and errors in units in the last place."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]

HALVES = (dt.float16, dt.bfloat16)
# Wide enough that references have negligible errors. (On x86 a long double has 64 bits of precision.)
WIDE = {dt.float16: dt.float64, dt.bfloat16: dt.float64, dt.float32: dt.float64, dt.float64: np.dtype(np.longdouble)}


def generator(*seed: object) -> np.random.Generator:
    """A random generator that gives the same numbers in every run and process."""
    return np.random.default_rng(list(" ".join(map(str, seed)).encode()))


def real_grid(dtype: DType) -> NDArray:
    """Special values of both signs: 0, subnormals, 1, limits of exact integers, extremes, infinity, NaN, and others."""
    f: Any = ml_dtypes.finfo(dtype)
    eps, tiny, largest = float(f.eps), float(f.smallest_normal), float(f.max)
    subnormal = float(f.smallest_subnormal)
    positive = [0, subnormal, 5 * subnormal, tiny - subnormal, tiny, eps, 0.1, 0.25, 0.5, 0.7, 1 - eps / 2, 1, 1 + eps]
    positive += [
        1.5,
        2,
        2.5,
        3,
        np.pi / 2,
        np.pi,
        7.5,
        11,
        30,
        100,
        1 / eps,
        2 / eps,
        largest / 2,
        largest,
        np.inf,
        np.nan,
    ]
    host = np.array(positive, np.float64).astype(dtype)
    return np.concatenate([host, -host])


def integer_grid(dtype: DType) -> NDArray:
    """0, 1, -1, small numbers, shift widths, and both ends of the range."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    candidates = {low, low + 1, -65, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 63, 64, 100, high - 1, high}
    return np.array(sorted(value for value in candidates if low <= value <= high), dtype)


def grid(dtype: DType) -> NDArray:
    """The special values of any dtype but float8."""
    if dtype == dt.bool:
        return np.array([False, True])
    if dtype.kind in "iu":
        return integer_grid(dtype)
    if dtype.kind != "c":
        return real_grid(dtype)
    parts = real_grid(dt.REAL_OF[dtype])[::2]
    host = np.empty((parts.size, parts.size), dtype)
    host.real, host.imag = parts[:, None], parts
    return host.reshape(-1)


def random_bits(dtype: DType, size: int, *seed: object) -> NDArray:
    """Uniformly random bit patterns, so all magnitudes and NaNs."""
    if dtype == dt.bool:
        return generator(dtype, *seed).random(size) < 0.5
    return np.frombuffer(generator(dtype, *seed).bytes(size * dtype.itemsize), dtype).copy()


def unary_values(dtype: DType, size: int = 2000) -> NDArray:
    """The grid, random bits, and for floating point random numbers around 1."""
    parts = [grid(dtype), random_bits(dtype, size, "x")]
    if dtype.kind in "fcV":
        parts.append((3 * generator(dtype, "n").normal(size=size)).astype(dtype))
    return np.concatenate(parts)


def binary_values(dtype: DType, size: int = 2000) -> tuple[NDArray, NDArray]:
    """Every pair of the grid (of a part of it for complex dtypes), and pairs of random values."""
    special = grid(dtype)
    if dtype.kind == "c":
        special = special[:: special.size // 60]
    x, y = (each.reshape(-1) for each in np.meshgrid(special, special))
    random = [(random_bits(dtype, size, name), _near_one(dtype, size, name)) for name in "xy"]
    return np.concatenate([x, *random[0]]), np.concatenate([y, *random[1]])


def _near_one(dtype: DType, size: int, name: str) -> NDArray:
    if dtype.kind not in "fcV":
        return random_bits(dtype, 0, name)
    return (3 * generator(dtype, "n", name).normal(size=size)).astype(dtype)


def computed(dtype: DType) -> DType:
    """The dtype in which elements are computed: float32 for 16-bit floats."""
    return dt.float32 if dtype in HALVES else dtype


def ulp_error(got: NDArray, wanted: NDArray) -> NDArray:
    """The distance of `got` from `wanted`, which has a wider dtype, in units of got's last place there. NaNs are equal.

    Numbers beyond the largest are compared as if the range continued, so infinity may be an error of one unit or less.
    """
    f: Any = ml_dtypes.finfo(got.dtype)
    wide = wanted.dtype.type
    beyond = wide(2) ** int(f.maxexp)
    limit = beyond * (1 - wide(f.eps) / 4)  # from here on, numbers round to infinity
    with np.errstate(all="ignore"):
        rounded = np.where(np.abs(wanted) >= limit, np.copysign(beyond, wanted), wanted)
        close = np.where(np.isinf(got.astype(wide)), np.copysign(beyond, got.astype(wide)), got.astype(wide))
        _, exponent = np.frexp(np.abs(rounded))
        unit = np.maximum(np.ldexp(wide(f.eps), exponent - 1), wide(f.smallest_subnormal))
        error = np.abs(close - rounded) / unit
    both = np.isnan(close) & np.isnan(wanted)
    return np.where(both | (close == rounded), 0, np.where(np.isnan(error), np.inf, error)).astype(np.float64)


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
