"""Elementwise signs and magnitudes."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["abs", "negative", "positive", "sign"]


@unary_operator
def abs(x: Any, /, *, out: Any = None) -> Any:
    """The absolute values, ``|x|``.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`; float32 or float64 for complex64 or complex128.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.abs(xp.asarray([-3, 4]))
    Array([3, 4], dtype=int64, device='cpu')
    """
    return unary(op["abs"], x, out)


@unary_operator
def negative(x: Any, /, *, out: Any = None) -> Any:
    """The elements with the other sign, ``-x``.

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
    >>> xp.negative(xp.asarray([1, -2]))
    Array([-1,  2], dtype=int64, device='cpu')
    """
    return unary(op["negative"], x, out)


@unary_operator
def positive(x: Any, /, *, out: Any = None) -> Any:
    """The elements themselves, ``+x``, in a new array.

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
    >>> xp.positive(xp.asarray([1, -2]))
    Array([ 1, -2], dtype=int64, device='cpu')
    """
    return unary(op["positive"], x, out)


@unary_operator
def sign(x: Any, /, *, out: Any = None) -> Any:
    """-1, 0 or 1 by the sign; ``z / |z|`` for complex elements; NaN for NaN.

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
    >>> xp.sign(xp.asarray([-3.0, 0.0, 2.0]))
    Array([-1.,  0.,  1.], dtype=float64, device='cpu')
    """
    return unary(op["sign"], x, out)
