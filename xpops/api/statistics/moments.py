"""Means, variances and standard deviations."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from xpops.api.signatures import array_function
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.core.operands import Axes
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.reduction import REDUCTIONS as op

__all__ = ["mean", "std", "var"]


@array_function
def mean(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False, dtype: DTypeLike | None = None) -> Any:
    """The arithmetic means, in one pass; NaN if there are no elements. Half types accumulate in float32 or wider.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
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
    return unary(reduction, "mean", x, op["mean"], axis, keepdims, _floating_dtype("mean", dtype), 0.0)


@array_function
def std(
    x: Any,
    /,
    *,
    axis: Axes | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: DTypeLike | None = None,
) -> Any:
    """The standard deviations, in one pass; NaN if there are no elements. Half types accumulate in float32 or wider.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    correction : int or float
        Subtracted from the number of elements to get the divisor: 0 for a population, 1 for a sample.
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
    return unary(reduction, "std", x, op["std"], axis, keepdims, _floating_dtype("std", dtype), taken)


@array_function
def var(
    x: Any,
    /,
    *,
    axis: Axes | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: DTypeLike | None = None,
) -> Any:
    """The variances, in one pass; NaN if there are no elements. Half types accumulate in float32 or wider.

    Parameters
    ----------
    x : array
        Floating-point; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    correction : int or float
        Subtracted from the number of elements to get the divisor: 0 for a population, 1 for a sample.
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
    return unary(reduction, "var", x, op["var"], axis, keepdims, _floating_dtype("var", dtype), taken)


def correction_of(function: str, correction: float, ddof: float | None) -> float:
    """The value of `correction` or `ddof`, two names of one parameter.

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


def _floating_dtype(function: str, dtype: Any) -> DType | None:
    """`dtype` as a dtype or None. TypeError if it is not floating-point."""
    if dtype is None:
        return None
    found = as_dtype(dtype, function)
    if found not in dt.CATEGORIES["floating-point"]:
        raise TypeError(f"{function}: dtype is {found}; accepted: floating-point dtypes")
    return found
