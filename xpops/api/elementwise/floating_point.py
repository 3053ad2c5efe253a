"""Elementwise tests of floating-point numbers, their signs and their neighbours."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["copysign", "isfinite", "isinf", "isnan", "nextafter", "signbit"]


@binary_operator
def copysign(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The magnitudes of `x1` with the signs of `x2`.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point, integer or boolean; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to; float64 if both are integers or booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.copysign(xp.asarray([1.0, -2.0]), -0.0)
    Array([-1., -2.], dtype=float64, device='cpu')
    """
    return binary(op["copysign"], x1, x2, out)


@unary_operator
def isfinite(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is neither infinite nor NaN.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.isfinite(xp.asarray([1.0, xp.inf, xp.nan]))
    Array([ True, False, False], dtype=bool, device='cpu')
    """
    return unary(op["isfinite"], x, out)


@unary_operator
def isinf(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is infinite; for a complex element, whether a part is.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.isinf(xp.asarray([1.0, xp.inf, xp.nan]))
    Array([False,  True, False], dtype=bool, device='cpu')
    """
    return unary(op["isinf"], x, out)


@unary_operator
def isnan(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is NaN; for a complex element, whether a part is.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.isnan(xp.asarray([1.0, xp.inf, xp.nan]))
    Array([False, False,  True], dtype=bool, device='cpu')
    """
    return unary(op["isnan"], x, out)


@binary_operator
def nextafter(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The number of the dtype that follows `x1` in the direction of `x2`.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point, integer or boolean; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to; float64 if both are integers or booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.nextafter(xp.asarray([1.0]), 2.0)
    Array([1.], dtype=float64, device='cpu')
    """
    return binary(op["nextafter"], x1, x2, out)


@unary_operator
def signbit(x: Any, /, *, out: Any = None) -> Any:
    """Whether the sign bit is set, as in negative numbers, -0.0 and some NaNs.

    Parameters
    ----------
    x : array
        Real floating-point; integers and booleans become float64.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.signbit(xp.asarray([-0.0, 0.0]))
    Array([ True, False], dtype=bool, device='cpu')
    """
    return unary(op["signbit"], x, out)
