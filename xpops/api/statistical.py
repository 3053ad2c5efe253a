"""Statistical functions of the standard."""

from __future__ import annotations

from typing import Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.dispatch.scans import scan
from xpops.ops.reduction import REDUCTIONS as op
from xpops.ops.scan import SCANS

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The products of the elements up to each one, along an axis.

    Parameters
    ----------
    x : array
        Any dtype but float8; at least one axis. Half types are multiplied in float32, and rounded once.
    axis : int, optional
        Needed unless `x` has exactly one.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`, for integers and bool the default integer
        dtype (unsigned ones stay unsigned), which wraps.
    include_initial : bool
        Whether the result begins with a 1, and so is one longer.

    Returns
    -------
    array
        The shape of `x`, but for `include_initial`.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `axis` is no integer.
    IndexError
        If there is no such axis.
    ValueError
        If `axis` is None and `x` does not have one axis.

    Examples
    --------
    >>> xp.cumulative_prod(xp.asarray([2, 3, 4]), include_initial=True)
    Array([ 1,  2,  6, 24], dtype=int64, device='cpu')
    """
    return _scan("cumulative_prod", x, axis, dtype, include_initial)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The sums of the elements up to each one, along an axis.

    Parameters
    ----------
    x : array
        Any dtype but float8; at least one axis. Half types are added in float32, and rounded once.
    axis : int, optional
        Needed unless `x` has exactly one.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`, for integers and bool the default integer
        dtype (unsigned ones stay unsigned), which wraps.
    include_initial : bool
        Whether the result begins with a 0, and so is one longer.

    Returns
    -------
    array
        The shape of `x`, but for `include_initial`.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `axis` is no integer.
    IndexError
        If there is no such axis.
    ValueError
        If `axis` is None and `x` does not have one axis.

    Examples
    --------
    >>> xp.cumulative_sum(xp.asarray([[1, 2], [3, 4]]), axis=0)
    Array([[1, 2],
           [4, 6]], dtype=int64, device='cpu')
    """
    return _scan("cumulative_sum", x, axis, dtype, include_initial)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The greatest elements; NaN where there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or there is nothing to reduce.

    Examples
    --------
    >>> xp.max(xp.asarray([[1, 5], [7, 3]]), axis=0)
    Array([7, 5], dtype=int64, device='cpu')
    """
    return unary(reduction, "max", x, op["max"], axis, keepdims, None, 0.0)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The arithmetic means, in one pass; NaN where there is nothing. Half types accumulate in float32.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.
    dtype : numpy.dtype, optional
        Floating-point, beyond the standard; elements are converted to it first.

    Returns
    -------
    array
        The dtype of `x`, or `dtype`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.mean(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    Array([1.5, 3.5], dtype=float64, device='cpu')
    """
    return unary(reduction, "mean", x, op["mean"], axis, keepdims, _given("mean", dtype), 0.0)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The least elements; NaN where there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or there is nothing to reduce.

    Examples
    --------
    >>> xp.min(xp.asarray([[1, 5], [7, 3]]), axis=0)
    Array([1, 3], dtype=int64, device='cpu')
    """
    return unary(reduction, "min", x, op["min"], axis, keepdims, None, 0.0)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The products; 1 where there is nothing. Half types accumulate in float32.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default the dtype of `x`, or the 64-bit integer of its
        signedness where that is an integer or bool.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        Of `dtype`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.prod(xp.asarray([2, 3, 4], dtype=xp.int8))
    Array(24, dtype=int64, device='cpu')
    """
    return unary(
        reduction, "prod", x, op["prod"], axis, keepdims, None if dtype is None else as_dtype(dtype, "prod"), 0.0
    )


def std(
    x: Any,
    /,
    *,
    axis: Any = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: Any = None,
) -> Any:
    """The standard deviations, in one pass; NaN where there is nothing. Half types accumulate in float32.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    correction : int or float
        The divisor is the number of elements less this: 0 for a population, 1 for a sample.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.
    ddof : int or float, optional
        NumPy's name for `correction`.
    dtype : numpy.dtype, optional
        Floating-point, beyond the standard; elements are converted to it first.

    Returns
    -------
    array
        The dtype of `x`, or `dtype`, the real one for complex dtypes.

    Raises
    ------
    TypeError
        If the dtype is not accepted, or `ddof` and `correction` are both given.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.std(xp.asarray([1.0, 3.0]))
    Array(1., dtype=float64, device='cpu')
    """
    taken = correction_of("std", correction, ddof)
    return unary(reduction, "std", x, op["std"], axis, keepdims, _given("std", dtype), taken)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sums; 0 where there is nothing. Half types accumulate in float32.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default the dtype of `x`, or the 64-bit integer of its
        signedness where that is an integer or bool.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        Of `dtype`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=1, keepdims=True)
    Array([[3],
           [7]], dtype=int64, device='cpu')
    """
    return unary(reduction, "sum", x, op["sum"], axis, keepdims, None if dtype is None else as_dtype(dtype, "sum"), 0.0)


def var(
    x: Any,
    /,
    *,
    axis: Any = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: Any = None,
) -> Any:
    """The variances, in one pass; NaN where there is nothing. Half types accumulate in float32.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    correction : int or float
        The divisor is the number of elements less this: 0 for a population, 1 for a sample.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.
    ddof : int or float, optional
        NumPy's name for `correction`.
    dtype : numpy.dtype, optional
        Floating-point, beyond the standard; elements are converted to it first.

    Returns
    -------
    array
        The dtype of `x`, or `dtype`, the real one for complex dtypes.

    Raises
    ------
    TypeError
        If the dtype is not accepted, or `ddof` and `correction` are both given.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.var(xp.asarray([1.0, 3.0]), correction=1)
    Array(2., dtype=float64, device='cpu')
    """
    taken = correction_of("var", correction, ddof)
    return unary(reduction, "var", x, op["var"], axis, keepdims, _given("var", dtype), taken)


def correction_of(function: str, correction: float, ddof: float | None) -> float:
    """The correction, which goes by two names.

    Raises
    ------
    TypeError
        If both are given.
    """
    if ddof is None:
        return float(correction)
    if correction:
        raise TypeError(f"{function}: correction is {correction} and ddof {ddof}; accepted: one of them")
    return float(ddof)


def _given(function: str, dtype: Any) -> DType | None:
    """What a function that computes in floating-point numbers may be told to compute in."""
    if dtype is None:
        return None
    found = as_dtype(dtype, function)
    if found not in dt.CATEGORIES["floating-point"]:
        raise TypeError(f"{function}: dtype is {found}; accepted: floating-point dtypes")
    return found


def _scan(name: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Any:
    found = as_dtype(dtype, name) if dtype is not None else None
    return unary(scan, name, x, SCANS[name], axis, found, bool(include_initial))
