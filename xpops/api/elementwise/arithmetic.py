"""Elementwise arithmetic: sums, differences, products and quotients."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator
from xpops.dispatch import binary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["add", "divide", "floor_divide", "multiply", "remainder", "subtract"]


@binary_operator
def add(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The sums, ``x1 + x2``.

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
    >>> xp.add(xp.asarray([1, 2]), 10)
    Array([11, 12], dtype=int64, device='cpu')
    """
    return binary(op["add"], x1, x2, out)


@binary_operator
def divide(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The quotients, ``x1 / x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Floating-point, integer or boolean; at least one is an array. They broadcast.
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
    >>> xp.divide(xp.asarray([1.0, 2.0]), 4)
    Array([0.25, 0.5 ], dtype=float64, device='cpu')
    """
    return binary(op["divide"], x1, x2, out)


@binary_operator
def floor_divide(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The quotients rounded down, ``x1 // x2``.

    Division of integers by zero gives 0.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.floor_divide(xp.asarray([7, -7]), 2)
    Array([ 3, -4], dtype=int64, device='cpu')
    """
    return binary(op["floor_divide"], x1, x2, out)


@binary_operator
def multiply(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The products, ``x1 * x2``.

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
    >>> xp.multiply(xp.asarray([1, 2]), 3)
    Array([3, 6], dtype=int64, device='cpu')
    """
    return binary(op["multiply"], x1, x2, out)


@binary_operator
def remainder(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The remainders, ``x1 % x2``, with the sign of `x2`.

    Division of integers by zero gives 0.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.remainder(xp.asarray([7, -7]), 3)
    Array([1, 2], dtype=int64, device='cpu')
    """
    return binary(op["remainder"], x1, x2, out)


@binary_operator
def subtract(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The differences, ``x1 - x2``.

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
    >>> xp.subtract(xp.asarray([1, 2]), 10)
    Array([-9, -8], dtype=int64, device='cpu')
    """
    return binary(op["subtract"], x1, x2, out)
