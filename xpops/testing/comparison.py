"""Comparisons in units in the last place (ULPs)."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.testing.frameworks import to_numpy

NDArray = np.ndarray[Any, Any]

_REALS = (*dt.FLOAT8, *dt.REAL_FLOATS, np.dtype(np.longdouble))
_COMPLEX = (*dt.COMPLEX_FLOATS, np.dtype(np.clongdouble))


def ulp_error(actual: NDArray, desired: NDArray) -> NDArray:
    """The distance of real numbers from exact ones, in units in the last place.

    Parameters
    ----------
    actual : numpy.ndarray
        Of a real floating-point dtype.
    desired : numpy.ndarray
        Of the same or a wider dtype. The unit is the distance between two numbers of `actual`'s dtype at `desired`.

    Returns
    -------
    numpy.ndarray
        float64. 0 for two NaNs and for zeros of any sign; infinity for a NaN and a number, and where `desired` is
        infinite and `actual` is not. Finite numbers beyond the largest are compared as if the range continued, so an
        infinite `actual` may be an error of one unit or less.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.testing import ulp_error
    >>> ulp_error(np.nextafter(np.float32([1]), np.float32(2)), np.float64([1]))
    array([1.])
    """
    f: Any = ml_dtypes.finfo(actual.dtype)
    wide = np.longdouble if np.longdouble in (desired.dtype, _wider(actual.dtype)) else np.float64
    exact, got = desired.astype(wide), actual.astype(wide)
    beyond = wide(2) ** int(f.maxexp)
    limit = beyond * (1 - wide(f.eps) / 4)  # from here on, numbers round to infinity
    with np.errstate(all="ignore"):
        rounded = np.where(np.abs(exact) >= limit, np.copysign(beyond, exact), exact)
        close = np.where(np.isinf(got), np.copysign(beyond, got), got)
        error = np.abs(close - rounded) / _unit(rounded, f, wide)
    both = np.isnan(close) & np.isnan(exact)
    apart = np.isnan(error) | (np.isinf(exact) & (got != exact))
    return np.where(both | (got == exact) | ((close == rounded) & ~apart), 0, np.where(apart, np.inf, error)).astype(
        np.float64
    )


def assert_allclose(
    actual: Any, desired: Any, *, ulps: float = 1.0, atol: Any = 0.0, signed_zeros: bool = False
) -> None:
    """Assert that an array has the shape, the dtype and, up to a few units in the last place, the values of another.

    Parameters
    ----------
    actual : array
        Of any framework, dtype and device. It is copied to the host.
    desired : array or number
        The exact values, of the same shape. Its dtype is that of `actual`, or a wider floating-point dtype of the same
        kind, such as float64 or longdouble for float32. Python numbers and lists have no dtype of their own.
    ulps : float
        The error allowed, in units in the last place of `actual`'s dtype at the exact value. 0.5 is a correctly rounded
        result, 1 one of the two neighbours of the exact value. Of complex numbers it is the distance in the plane, in
        units of the modulus. Integers and booleans must be equal.
    atol : float or array
        An absolute error that is allowed as well, for all elements or each, such as a share of the sum of magnitudes.
    signed_zeros : bool
        Whether 0.0 and -0.0 differ.

    Raises
    ------
    AssertionError
        With the number of elements that differ, and the place, the values and the error of the worst. A NaN equals any
        NaN, and a complex number with a NaN part any other such. Infinity equals finite numbers that round to it.

    Examples
    --------
    >>> from xpops.testing import assert_allclose
    >>> x = xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32)
    >>> assert_allclose(xp.sqrt(x), np.sqrt([1.0, 2.0, 3.0]))
    >>> assert_allclose(x, [1.0, 2.0, 3.5])
    Traceback (most recent call last):
    AssertionError: assert_allclose: 1 of 3 elements differ by more than 1.0 ULPs of float32
    the worst is at (2,): actual 3.0, desired 3.5 (2097152.0 ULPs, absolute error 0.5)
    """
    got = to_numpy(actual)
    wanted = _as_reference(desired, got.dtype)
    if got.shape != wanted.shape:
        raise AssertionError(f"assert_allclose: actual has shape {got.shape}, desired {wanted.shape}")
    if not _can_be_compared(got.dtype, wanted.dtype):
        raise AssertionError(f"assert_allclose: actual has dtype {got.dtype}, desired {wanted.dtype}")
    is_exact = got.dtype in dt.CATEGORIES["integer or boolean"]
    error = (got != wanted).astype(np.float64) if is_exact else _errors(got, wanted)
    distance = _distance(got, wanted)
    if signed_zeros and not is_exact:
        error = np.where(_has_other_zeros(got, wanted), np.inf, error)
    allowed = (error <= (0 if is_exact else ulps)) | ((distance <= atol) & (error < np.inf))
    if not allowed.all():
        rank = np.where(allowed, -1, distance if is_exact else error)
        raise AssertionError(_describe(got, wanted, rank, distance, None if is_exact else ulps))


def _as_reference(desired: Any, dtype: DType) -> NDArray:
    if isinstance(desired, bool | int | float | complex | list | tuple):
        host = np.asarray(desired)
        if host.dtype.kind in "iub" and dtype in _REALS:
            host = host.astype(np.longdouble)
        if host.dtype.kind in "fc" and _can_be_compared(dtype, host.dtype):
            return host
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            converted = host.astype(dtype)
            same = np.asarray((converted.astype(host.dtype) == host) | (host != host))
        if not same.all():
            raise AssertionError(f"assert_allclose: desired has numbers that {dtype} does not hold: {host[~same][0]}")
        return converted
    return to_numpy(desired)


def _can_be_compared(dtype: DType, desired: DType) -> bool:
    if dtype == desired:
        return True
    for kind in (_REALS, _COMPLEX):
        if dtype in kind and desired in kind:
            return kind.index(dtype) < kind.index(desired) and dtype.itemsize < desired.itemsize
    return False


def _wider(dtype: DType) -> type[np.floating[Any]]:
    return np.longdouble if dtype == dt.float64 else np.float64


def _unit(exact: NDArray, f: Any, wide: Any) -> Any:
    """The distance between two numbers with the limits `f`, at exact ones."""
    _, exponent = np.frexp(np.abs(exact))
    least = wide(f.smallest_subnormal)
    return np.where(exact == 0, least, np.maximum(np.ldexp(wide(f.eps), exponent - 1), least))


def _errors(got: NDArray, wanted: NDArray) -> NDArray:
    if got.dtype.kind != "c":
        return ulp_error(got, wanted)
    real, imag = ulp_error(got.real, wanted.real), ulp_error(got.imag, wanted.imag)
    f: Any = np.finfo(got.dtype)
    wide = np.longdouble if np.clongdouble in (wanted.dtype, got.dtype) or got.dtype == dt.complex128 else np.float64
    with np.errstate(all="ignore"):
        modulus = np.hypot(wanted.real.astype(wide), wanted.imag.astype(wide))
        inside = _distance(got, wanted) / _unit(modulus, f, wide)
    # Infinite parts are compared one by one.
    return np.where(np.isfinite(inside), inside, np.maximum(real, imag)).astype(np.float64)


def _distance(got: NDArray, wanted: NDArray) -> NDArray:
    """The absolute error; 0 for equal infinities and for NaNs."""
    wide: Any = np.clongdouble if got.dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        distance = np.abs(got.astype(wide) - wanted.astype(wide))
    same = (got == wanted) | ((got != got) & (wanted != wanted))
    return np.where(same, 0, distance).astype(np.float64)


def _has_other_zeros(got: NDArray, wanted: NDArray) -> NDArray:
    if got.dtype.kind == "c":
        return _has_other_zeros(got.real, wanted.real) | _has_other_zeros(got.imag, wanted.imag)
    return np.asarray((wanted == 0) & (got == 0) & (np.signbit(got) != np.signbit(wanted)))


def _describe(got: NDArray, wanted: NDArray, rank: NDArray, distance: NDArray, ulps: float | None) -> str:
    """The message of a failure: `rank` is negative for elements that are right, and largest for the worst."""
    wrong, place = int((rank >= 0).sum()), tuple(map(int, np.unravel_index(int(np.argmax(rank)), rank.shape)))
    limit = "" if ulps is None else f" by more than {ulps} ULPs of {got.dtype}"
    error = f"absolute error {distance[place]:.3g}"
    return (
        f"assert_allclose: {wrong} of {got.size} elements differ{limit}\n"
        f"the worst is at {place}: actual {got[place]}, desired {wanted[place]} "
        + (f"({error})" if ulps is None else f"({rank[place]:.1f} ULPs, {error})")
    )
