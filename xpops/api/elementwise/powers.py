"""Elementwise powers and roots."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["hypot", "pow", "reciprocal", "sqrt", "square"]


@binary_operator
def hypot(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``sqrt(x1**2 + x2**2)``, without intermediate overflow.

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
    >>> xp.hypot(xp.asarray([3.0]), 4.0)
    Array([5.], dtype=float64, device='cpu')
    """
    return binary(op["hypot"], x1, x2, out)


@binary_operator
def pow(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The powers, ``x1 ** x2``.

    An integer to a negative power is rounded toward zero.

    Parameters
    ----------
    x1, x2 : array or scalar
        Numeric; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.pow(xp.asarray([2, 3]), 2)
    Array([4, 9], dtype=int64, device='cpu')
    """
    return binary(op["pow"], x1, x2, out)


@unary_operator
def reciprocal(x: Any, /, *, out: Any = None) -> Any:
    """``1 / x``.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`; float64 for integers and booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.reciprocal(xp.asarray([4.0]))
    Array([0.25], dtype=float64, device='cpu')
    """
    return unary(op["reciprocal"], x, out)


@unary_operator
def sqrt(x: Any, /, *, out: Any = None) -> Any:
    """The square roots; NaN for negative real elements.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`; float64 for integers and booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.sqrt(xp.asarray([4.0, 9.0]))
    Array([2., 3.], dtype=float64, device='cpu')
    """
    return unary(op["sqrt"], x, out)


@unary_operator
def square(x: Any, /, *, out: Any = None) -> Any:
    """``x * x``.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.square(xp.asarray([3, -4]))
    Array([ 9, 16], dtype=int64, device='cpu')
    """
    return unary(op["square"], x, out)
