"""Means, variances and standard deviations that ignore NaNs, beyond the standard."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from xpops.api.checks import Operand, operand_of
from xpops.api.data_types import astype
from xpops.api.elementwise.arithmetic import divide, subtract
from xpops.api.elementwise.comparison import greater
from xpops.api.elementwise.floating_point import isnan
from xpops.api.elementwise.logical import logical_not
from xpops.api.elementwise.powers import sqrt, square
from xpops.api.elementwise.signs import abs
from xpops.api.families import Family
from xpops.api.searching import count_nonzero, where
from xpops.api.signatures import array_function
from xpops.api.statistics.moments import correction_of, mean, std, var
from xpops.api.statistics.sums import sum
from xpops.core import dtypes as dt
from xpops.core.dtypes import as_dtype
from xpops.core.operands import Axes

__all__ = ["nanmean", "nanstd", "nanvar"]

# Half types are computed in float32, and the result is rounded once.
_WIDENED = {dt.float16: dt.float32, dt.bfloat16: dt.float32}


@array_function
def nanmean(x: Any, /, axis: Axes | None = None, *, dtype: DTypeLike | None = None, keepdims: bool = False) -> Any:
    """The means, ignoring NaNs; NaN for a slice without other elements.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
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
    return _nanmean((axis, dtype, keepdims), x)


def _mean(axis: Any, dtype: Any, keepdims: bool, x: Any) -> Any:
    x, given = _convert("nanmean", x, axis, dtype)
    if not given.has_nan:
        return mean(x, axis=axis, keepdims=keepdims)
    missing, wide = isnan(x), _WIDENED.get(given.dtype, given.dtype)
    total = sum(where(missing, 0, x), axis=axis, dtype=wide, keepdims=keepdims)
    count = count_nonzero(logical_not(missing), axis=axis, keepdims=keepdims)
    return astype(divide(total, count), given.dtype, copy=False)


@array_function
def nanstd(
    x: Any,
    /,
    axis: Axes | None = None,
    *,
    dtype: DTypeLike | None = None,
    ddof: float | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Any:
    """The standard deviations, ignoring NaNs; NaN if at most `correction` elements remain.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    dtype : numpy.dtype, optional
        Floating-point; elements are converted to it first.
    ddof : int or float, optional
        NumPy's name for `correction`.
    correction : int or float
        Subtracted from the number of elements to get the divisor: 0 for a population, 1 for a sample.
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
    return _nanstd((axis, dtype, correction_of("nanstd", correction, ddof), keepdims), x)


def _std(axis: Any, dtype: Any, correction: float, keepdims: bool, x: Any) -> Any:
    x, given = _convert("nanstd", x, axis, dtype)
    if not given.has_nan:
        return std(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = _variance(x, given, axis, correction, keepdims)
    return astype(sqrt(variance), dt.REAL_OF.get(given.dtype, given.dtype), copy=False)


@array_function
def nanvar(
    x: Any,
    /,
    axis: Axes | None = None,
    *,
    dtype: DTypeLike | None = None,
    ddof: float | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Any:
    """The variances, ignoring NaNs; NaN if at most `correction` elements remain.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    dtype : numpy.dtype, optional
        Floating-point; elements are converted to it first.
    ddof : int or float, optional
        NumPy's name for `correction`.
    correction : int or float
        Subtracted from the number of elements to get the divisor: 0 for a population, 1 for a sample.
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
    return _nanvar((axis, dtype, correction_of("nanvar", correction, ddof), keepdims), x)


def _var(axis: Any, dtype: Any, correction: float, keepdims: bool, x: Any) -> Any:
    x, given = _convert("nanvar", x, axis, dtype)
    if not given.has_nan:
        return var(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = _variance(x, given, axis, correction, keepdims)
    return astype(variance, dt.REAL_OF.get(given.dtype, given.dtype), copy=False)


def _convert(function: str, x: Any, axis: Any, dtype: Any) -> tuple[Any, Operand]:
    """`x` converted to `dtype`, and its description as an `Operand`."""
    given = operand_of(function, x, axis)
    if dtype is None:
        return x, given
    wanted = as_dtype(dtype, function)
    if wanted not in dt.CATEGORIES["floating-point"]:
        raise TypeError(f"{function}: dtype is {wanted}; accepted: floating-point dtypes")
    return astype(x, wanted, copy=False), given._replace(dtype=wanted)


def _variance(x: Any, given: Operand, axis: Any, correction: float, keepdims: bool) -> Any:
    """The variances of the elements that are not NaN. Half types are computed in float32."""
    wide = astype(x, _WIDENED.get(given.dtype, given.dtype), copy=False)
    missing = isnan(wide)
    deviations = where(missing, 0, subtract(wide, _mean(axis, None, True, wide)))
    squares = sum(square(abs(deviations)), axis=axis, keepdims=keepdims)
    count = count_nonzero(logical_not(missing), axis=axis, keepdims=keepdims)
    left = subtract(astype(count, dt.float64), correction)
    return divide(squares, where(greater(left, 0), left, float("nan")))


_nanmean, _nanstd, _nanvar = Family(_mean, "nanmean", "x"), Family(_std, "nanstd", "x"), Family(_var, "nanvar", "x")
