"""Elementwise comparisons."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator
from xpops.dispatch import binary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]


@binary_operator
def equal(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether two elements are equal, ``x1 == x2``. NaN equals nothing.

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
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.equal(xp.asarray([1, 2]), 2)
    Array([False,  True], dtype=bool, device='cpu')
    """
    return binary(op["equal"], x1, x2, out)


@binary_operator
def greater(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether ``x1 > x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

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
    >>> xp.greater(xp.asarray([1, 2, 3]), 2)
    Array([False, False,  True], dtype=bool, device='cpu')
    """
    return binary(op["greater"], x1, x2, out)


@binary_operator
def greater_equal(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether ``x1 >= x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

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
    >>> xp.greater_equal(xp.asarray([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool, device='cpu')
    """
    return binary(op["greater_equal"], x1, x2, out)


@binary_operator
def less(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether ``x1 < x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

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
    >>> xp.less(xp.asarray([1, 2, 3]), 2)
    Array([ True, False, False], dtype=bool, device='cpu')
    """
    return binary(op["less"], x1, x2, out)


@binary_operator
def less_equal(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether ``x1 <= x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        bool.

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
    >>> xp.less_equal(xp.asarray([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool, device='cpu')
    """
    return binary(op["less_equal"], x1, x2, out)


@binary_operator
def not_equal(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """Whether two elements differ, ``x1 != x2``. NaN differs from everything.

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
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.not_equal(xp.asarray([1, 2]), 2)
    Array([ True, False], dtype=bool, device='cpu')
    """
    return binary(op["not_equal"], x1, x2, out)
