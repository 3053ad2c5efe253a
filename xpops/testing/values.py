"""Values of arrays: special ones, random bits, and random numbers of a domain."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]

# The share of special values where a domain has them.
SPECIAL_SHARE = 0.04
_SPECIAL = np.asarray([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 6e4, 3e38])
# The domains of the parts of complex numbers: with infinite parts, results depend on the formula.
_OF_PARTS = {"any": "finite", "nonzero": "positive"}


def generator(*seed: object) -> np.random.Generator:
    """A random generator that gives the same numbers in every run and process.

    Examples
    --------
    >>> bool(generator("exp", 3).random() == generator("exp", 3).random())
    True
    """
    return np.random.default_rng(list(" ".join(map(str, seed)).encode()))


def special_values(dtype: DType) -> NDArray:
    """Values of a dtype at which functions often fail.

    Parameters
    ----------
    dtype : numpy.dtype

    Returns
    -------
    numpy.ndarray
        Floating-point: of both signs, 0, subnormals, 1, the limits of exact integers, the largest number, infinity,
        NaN, and others. Complex: all pairs of such parts, the imaginary ones of both signs. Integers: small numbers,
        the widths of shifts, both ends of the range.

    Examples
    --------
    >>> from xpops.testing import special_values
    >>> special_values(xp.int8)
    array([-128, -127,  -65,   -3,   -2,   -1,    0,    1,    2,    3,    5,
              7,    8,   10,   31,   32,   63,   64,  100,  126,  127],
          dtype=int8)
    """
    if dtype == dt.bool:
        return np.array([False, True])
    if dtype.kind in "iu":
        return _special_integers(dtype)
    if dtype.kind != "c":
        return _special_reals(dtype)
    parts = _special_reals(dt.REAL_OF[dtype])[::2]
    host = np.empty((parts.size, parts.size), dtype)
    host.real, host.imag = parts[:, None], parts
    return host.reshape(-1)


def _special_reals(dtype: DType) -> NDArray:
    f: Any = ml_dtypes.finfo(dtype)
    eps, tiny, largest = float(f.eps), float(f.smallest_normal), float(f.max)
    subnormal = float(f.smallest_subnormal)
    small = [0, subnormal, 5 * subnormal, tiny - subnormal, tiny, eps, 0.1, 0.25, 0.5, 0.7, 1 - eps / 2, 1, 1 + eps]
    large = [1.5, 2, 2.5, 3, np.pi / 2, np.pi, 7.5, 11, 30, 100, 1 / eps, 2 / eps, largest / 2, largest]
    with np.errstate(all="ignore"):
        host = np.array([*small, *large, np.inf, np.nan], np.float64).astype(dtype)
    return np.concatenate([host, -host])


def _special_integers(dtype: DType) -> NDArray:
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    candidates = {low, low + 1, -65, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 63, 64, 100, high - 1, high}
    return np.array(sorted(value for value in candidates if low <= value <= high), dtype)


def random_bits(dtype: DType, size: int, *seed: object) -> NDArray:
    """Uniformly random bit patterns, so all magnitudes and NaNs. They are the same in every run.

    Examples
    --------
    >>> random_bits(xp.float16, 3, "a seed").shape
    (3,)
    """
    if dtype == dt.bool:
        return generator(dtype, *seed).random(size) < 0.5
    return np.frombuffer(generator(dtype, *seed).bytes(size * dtype.itemsize), dtype).copy()


def draw_values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], domain: str = "any") -> NDArray:
    """Random numbers of a domain, for which a function is defined and well conditioned.

    Parameters
    ----------
    rng : numpy.random.Generator
    dtype : numpy.dtype
    shape : tuple of int
    domain : str
        "any" has infinities and NaNs, too. "finite", "positive", "unit" (between -1 and 1), "nonzero"; "small" are
        integers from -4 to 4; "shift" are integers from 0 to the number of bits; "<n" are integers from 0 to n - 1.
        Signed integers of a domain other than the last two are of both signs.

    Returns
    -------
    numpy.ndarray
        C-contiguous.

    Examples
    --------
    >>> bool((draw_values(generator(0), xp.float32, (2, 3), "positive") > 0).all())
    True
    """
    return np.asarray(_values(rng, dtype, shape, domain))


def _values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], domain: str) -> Any:
    if domain.startswith("<"):
        return rng.integers(0, int(domain[1:]), shape).astype(dtype)
    if dtype == dt.bool:
        return rng.random(shape) < 0.5
    if dtype in dt.CATEGORIES["integer"]:
        return _integers(rng, dtype, shape, domain)
    if dtype in dt.COMPLEX_FLOATS:
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
        low = 0 if dtype in dt.UNSIGNED_INTEGERS else -5
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
