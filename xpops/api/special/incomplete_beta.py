"""The incomplete beta function and its inverse."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import ternary_operator
from xpops.dispatch import elementwise
from xpops.ops.special import SPECIAL as op

__all__ = ["betainc", "betaincc", "betaincinv"]


@ternary_operator
def betainc(a: Any, b: Any, x: Any, /, *, out: Any = None) -> Any:
    """The regularized incomplete beta function.

    Parameters
    ----------
    a : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    b : array or scalar
        As `a`.
    x : array or scalar
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
    >>> xp.special.betainc(2.0, 3.0, xp.asarray([0.1, 0.5]))
    Array([0.0523, 0.6875], dtype=float64, device='cpu')
    """
    return elementwise(op["betainc"], (a, b, x), out)


@ternary_operator
def betaincc(a: Any, b: Any, x: Any, /, *, out: Any = None) -> Any:
    """The complement of the regularized incomplete beta function, ``1 - betainc(a, b, x)``.

    Parameters
    ----------
    a : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    b : array or scalar
        As `a`.
    x : array or scalar
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
    >>> xp.special.betaincc(2.0, 3.0, xp.asarray([0.5, 0.999]))
    Array([3.125e-01, 3.997e-09], dtype=float64, device='cpu')
    """
    return elementwise(op["betaincc"], (a, b, x), out)


@ternary_operator
def betaincinv(a: Any, b: Any, p: Any, /, *, out: Any = None) -> Any:
    """The inverse of `betainc` by its third operand.

    Parameters
    ----------
    a : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    b : array or scalar
        As `a`.
    p : array or scalar
        Probabilities.
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
    >>> xp.special.betaincinv(2.0, 3.0, xp.asarray([0.1, 0.5]))
    Array([0.14255932, 0.38572757], dtype=float64, device='cpu')
    """
    return elementwise(op["betaincinv"], (a, b, p), out)
