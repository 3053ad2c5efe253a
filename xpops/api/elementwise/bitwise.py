"""Elementwise operations on bits."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor"]


@binary_operator
def bitwise_and(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The bits set in both, ``x1 & x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Integer or boolean; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If the dtype of an operand is neither integer nor boolean.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.bitwise_and(xp.asarray([6, 3]), 5)
    Array([4, 1], dtype=int64, device='cpu')
    """
    return binary(op["bitwise_and"], x1, x2, out)


@unary_operator
def bitwise_invert(x: Any, /, *, out: Any = None) -> Any:
    """The bits inverted, ``~x``.

    Parameters
    ----------
    x : array
        Integer or boolean.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype of an operand is neither integer nor boolean.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.bitwise_invert(xp.asarray([0, 5]))
    Array([-1, -6], dtype=int64, device='cpu')
    """
    return unary(op["bitwise_invert"], x, out)


@binary_operator
def bitwise_left_shift(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The bits of `x1` moved up by `x2` places, ``x1 << x2``.

    By the dtype's width or more gives 0.

    Parameters
    ----------
    x1, x2 : array or scalar
        Integer; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If the dtype of an operand is not integer.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.bitwise_left_shift(xp.asarray([1, 3]), 2)
    Array([ 4, 12], dtype=int64, device='cpu')
    """
    return binary(op["bitwise_left_shift"], x1, x2, out)


@binary_operator
def bitwise_or(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The bits set in one or both, ``x1 | x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Integer or boolean; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If the dtype of an operand is neither integer nor boolean.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.bitwise_or(xp.asarray([6, 3]), 5)
    Array([7, 7], dtype=int64, device='cpu')
    """
    return binary(op["bitwise_or"], x1, x2, out)


@binary_operator
def bitwise_right_shift(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The bits of `x1` moved down by `x2` places, ``x1 >> x2``.

    By the dtype's width or more gives 0, or -1 for negative elements.

    Parameters
    ----------
    x1, x2 : array or scalar
        Integer; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If the dtype of an operand is not integer.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.bitwise_right_shift(xp.asarray([8, -8]), 2)
    Array([ 2, -2], dtype=int64, device='cpu')
    """
    return binary(op["bitwise_right_shift"], x1, x2, out)


@binary_operator
def bitwise_xor(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The bits set in exactly one, ``x1 ^ x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Integer or boolean; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If the dtype of an operand is neither integer nor boolean.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.bitwise_xor(xp.asarray([6, 3]), 5)
    Array([3, 6], dtype=int64, device='cpu')
    """
    return binary(op["bitwise_xor"], x1, x2, out)
