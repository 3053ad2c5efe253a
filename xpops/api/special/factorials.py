"""Quotients and products of gamma functions."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator
from xpops.dispatch import binary
from xpops.ops.special import SPECIAL as op

__all__ = ["betaln", "binom", "poch"]


@binary_operator
def betaln(a: Any, b: Any, /, *, out: Any = None) -> Any:
    """The logarithm of the absolute value of the beta function.

    Parameters
    ----------
    a : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    b : array or scalar
        As `a`.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype to which the operands promote; integer and boolean arrays count as float64.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.special.betaln(xp.asarray([1.0, 2.5]), 3.0)
    Array([-1.09861229, -2.97998392], dtype=float64, device='cpu')
    """
    return binary(op["betaln"], a, b, out)


@binary_operator
def binom(n: Any, k: Any, /, *, out: Any = None) -> Any:
    """The binomial coefficient of any real numbers.

    Parameters
    ----------
    n : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    k : array or scalar
        As `n`.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype to which the operands promote; integer and boolean arrays count as float64.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.special.binom(xp.asarray([4.0, 0.5]), 2.0)
    Array([ 6.   , -0.125], dtype=float64, device='cpu')
    """
    return binary(op["binom"], n, k, out)


@binary_operator
def poch(z: Any, m: Any, /, *, out: Any = None) -> Any:
    """Pochhammer's symbol, ``gamma(z + m) / gamma(z)``.

    Parameters
    ----------
    z : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    m : array or scalar
        As `z`.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype to which the operands promote; integer and boolean arrays count as float64.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.special.poch(xp.asarray([1.0, 0.5]), 3.0)
    Array([6.   , 1.875], dtype=float64, device='cpu')
    """
    return binary(op["poch"], z, m, out)
