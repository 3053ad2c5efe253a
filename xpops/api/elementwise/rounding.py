"""Elementwise rounding."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = [
    "ceil",
    "floor",
    "round",
    "trunc",
]


@unary_operator
def ceil(x: Any, /, *, out: Any = None) -> Any:
    """The least integers not less than the elements, in their own dtype.

    Parameters
    ----------
    x : array
        Real-valued.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.ceil(xp.asarray([1.5, -1.5]))
    Array([ 2., -1.], dtype=float64, device='cpu')
    """
    return unary(op["ceil"], x, out)


@unary_operator
def floor(x: Any, /, *, out: Any = None) -> Any:
    """The greatest integers not greater than the elements, in their own dtype.

    Parameters
    ----------
    x : array
        Real-valued.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.floor(xp.asarray([1.5, -1.5]))
    Array([ 1., -2.], dtype=float64, device='cpu')
    """
    return unary(op["floor"], x, out)


@unary_operator
def round(x: Any, /, *, out: Any = None) -> Any:
    """The nearest integers, halves to even, in the elements' own dtype. Both parts of complex elements are rounded.

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
    >>> xp.round(xp.asarray([0.5, 1.5, -2.5]))
    Array([ 0.,  2., -2.], dtype=float64, device='cpu')
    """
    return unary(op["round"], x, out)


@unary_operator
def trunc(x: Any, /, *, out: Any = None) -> Any:
    """The elements without their fractional parts, in their own dtype.

    Parameters
    ----------
    x : array
        Real-valued.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.trunc(xp.asarray([1.5, -1.5]))
    Array([ 1., -1.], dtype=float64, device='cpu')
    """
    return unary(op["trunc"], x, out)
