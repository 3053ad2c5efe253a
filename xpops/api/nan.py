"""Sums and moments that pass over NaNs, beyond the standard: NaNs are replaced, then the plain function runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api.arithmetic import abs, divide, square, subtract
from xpops.api.bitwise import logical_not
from xpops.api.checks import Operand, operand_of
from xpops.api.comparison import greater, isnan
from xpops.api.data_types import astype
from xpops.api.exponential import sqrt
from xpops.api.manipulation import reshape
from xpops.api.searching import count_nonzero, where
from xpops.api.statistical import correction_of, cumulative_prod, cumulative_sum, mean, prod, std, sum, var
from xpops.core import dtypes as dt
from xpops.core.dtypes import as_dtype

__all__ = ["nancumprod", "nancumsum", "nanmean", "nanprod", "nanstd", "nansum", "nanvar"]

# Sums and means of these are made in float32, and rounded once.
_WIDENED = {dt.float16: dt.float32, dt.bfloat16: dt.float32}


def nancumprod(x: Any, /, axis: int | None = None, *, dtype: Any = None) -> Any:
    """The products of the elements up to each one, where NaNs count as 1.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int, optional
        By default the array is flattened.
    dtype : numpy.dtype, optional
        As for `cumulative_prod`.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.nancumprod(xp.asarray([2.0, xp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float64, device='cpu')
    """
    return _scanned("nancumprod", cumulative_prod, 1, x, axis, dtype)


def nancumsum(x: Any, /, axis: int | None = None, *, dtype: Any = None) -> Any:
    """The sums of the elements up to each one, where NaNs count as 0.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int, optional
        By default the array is flattened.
    dtype : numpy.dtype, optional
        As for `cumulative_sum`.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.nancumsum(xp.asarray([2.0, xp.nan, 3.0]))
    Array([2., 2., 5.], dtype=float64, device='cpu')
    """
    return _scanned("nancumsum", cumulative_sum, 0, x, axis, dtype)


def nanmean(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The means, NaNs passed over; NaN where there is nothing else.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        Floating-point; elements are converted to it first.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`, or `dtype`.

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nanmean(xp.asarray([1.0, xp.nan, 3.0]))
    Array(2., dtype=float64, device='cpu')
    """
    x, given = _converted("nanmean", x, axis, dtype)
    if not given.has_nan:
        return mean(x, axis=axis, keepdims=keepdims)
    missing, wide = isnan(x), _WIDENED.get(given.dtype, given.dtype)
    total = sum(where(missing, 0, x), axis=axis, dtype=wide, keepdims=keepdims)
    count = count_nonzero(logical_not(missing), axis=axis, keepdims=keepdims)
    return astype(divide(total, count), given.dtype, copy=False)


def nanprod(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The products, where NaNs count as 1.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        As for `prod`.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nanprod(xp.asarray([2.0, xp.nan, 3.0]))
    Array(6., dtype=float64, device='cpu')
    """
    given = operand_of("nanprod", x, axis)
    return prod(where(isnan(x), 1, x) if given.has_nan else x, axis=axis, dtype=dtype, keepdims=keepdims)


def nanstd(
    x: Any,
    /,
    axis: Any = None,
    *,
    dtype: Any = None,
    ddof: float | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Any:
    """The standard deviations, NaNs passed over; NaN where not more than `correction` elements are left.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        Floating-point; elements are converted to it first.
    ddof : int or float, optional
        NumPy's name for `correction`.
    correction : int or float
        The divisor is the number of elements less this: 0 for a population, 1 for a sample.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`, or `dtype`; the real one for complex dtypes.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `ddof` and `correction` are both given.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nanstd(xp.asarray([1.0, xp.nan, 3.0]))
    Array(1., dtype=float64, device='cpu')
    """
    x, given = _converted("nanstd", x, axis, dtype)
    correction = correction_of("nanstd", correction, ddof)
    if not given.has_nan:
        return std(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = _variance(x, given, axis, correction, keepdims)
    return astype(sqrt(variance), dt.REAL_OF.get(given.dtype, given.dtype), copy=False)


def nansum(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sums, where NaNs count as 0.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        As for `sum`.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nansum(xp.asarray([[1.0, xp.nan], [xp.nan, xp.nan]]), axis=1)
    Array([1., 0.], dtype=float64, device='cpu')
    """
    given = operand_of("nansum", x, axis)
    return sum(where(isnan(x), 0, x) if given.has_nan else x, axis=axis, dtype=dtype, keepdims=keepdims)


def nanvar(
    x: Any,
    /,
    axis: Any = None,
    *,
    dtype: Any = None,
    ddof: float | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Any:
    """The variances, NaNs passed over; NaN where not more than `correction` elements are left.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        Floating-point; elements are converted to it first.
    ddof : int or float, optional
        NumPy's name for `correction`.
    correction : int or float
        The divisor is the number of elements less this: 0 for a population, 1 for a sample.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`, or `dtype`; the real one for complex dtypes.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `ddof` and `correction` are both given.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nanvar(xp.asarray([1.0, xp.nan, 3.0]), ddof=1)
    Array(2., dtype=float64, device='cpu')
    """
    x, given = _converted("nanvar", x, axis, dtype)
    correction = correction_of("nanvar", correction, ddof)
    if not given.has_nan:
        return var(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = _variance(x, given, axis, correction, keepdims)
    return astype(variance, dt.REAL_OF.get(given.dtype, given.dtype), copy=False)


def _scanned(function: str, scan: Callable[..., Any], neutral: int, x: Any, axis: int | None, dtype: Any) -> Any:
    given = operand_of(function, x, axis)
    filled = where(isnan(x), neutral, x) if given.has_nan else x
    return scan(reshape(filled, (-1,)) if axis is None else filled, axis=0 if axis is None else axis, dtype=dtype)


def _converted(function: str, x: Any, axis: Any, dtype: Any) -> tuple[Any, Operand]:
    """`x` as `dtype`, and what it is then."""
    given = operand_of(function, x, axis)
    if dtype is None:
        return x, given
    wanted = as_dtype(dtype, function)
    if wanted not in dt.CATEGORIES["floating-point"]:
        raise TypeError(f"{function}: dtype is {wanted}; accepted: floating-point dtypes")
    return astype(x, wanted, copy=False), given._replace(dtype=wanted)


def _variance(x: Any, given: Operand, axis: Any, correction: float, keepdims: bool) -> Any:
    """The variances of what is not NaN, in float32 for half types."""
    wide = astype(x, _WIDENED.get(given.dtype, given.dtype), copy=False)
    missing = isnan(wide)
    deviations = where(missing, 0, subtract(wide, nanmean(wide, axis, keepdims=True)))
    squares = sum(square(abs(deviations)), axis=axis, keepdims=keepdims)
    count = count_nonzero(logical_not(missing), axis=axis, keepdims=keepdims)
    left = subtract(astype(count, dt.float64), correction)
    return divide(squares, where(greater(left, 0), left, float("nan")))
