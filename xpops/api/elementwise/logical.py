"""Elementwise logic."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["logical_and", "logical_not", "logical_or", "logical_xor"]


@binary_operator
def logical_and(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether both elements are true (not 0).

    Parameters
    ----------
    x1, x2 : array or scalar
        Any dtype but float8; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand has a float8 dtype.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.logical_and(xp.asarray([0, 3]), True)
    Array([False,  True], dtype=bool, device='cpu')
    """
    return binary(op["logical_and"], x1, x2, out)


@unary_operator
def logical_not(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is false (0).

    Parameters
    ----------
    x : array
        Any dtype but float8.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand has a float8 dtype.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.logical_not(xp.asarray([0, 3]))
    Array([ True, False], dtype=bool, device='cpu')
    """
    return unary(op["logical_not"], x, out)


@binary_operator
def logical_or(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether one element or both are true (not 0).

    Parameters
    ----------
    x1, x2 : array or scalar
        Any dtype but float8; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand has a float8 dtype.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.logical_or(xp.asarray([0, 3]), False)
    Array([False,  True], dtype=bool, device='cpu')
    """
    return binary(op["logical_or"], x1, x2, out)


@binary_operator
def logical_xor(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether exactly one element is true (not 0).

    Parameters
    ----------
    x1, x2 : array or scalar
        Any dtype but float8; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand has a float8 dtype.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.logical_xor(xp.asarray([0, 3]), True)
    Array([ True, False], dtype=bool, device='cpu')
    """
    return binary(op["logical_xor"], x1, x2, out)
