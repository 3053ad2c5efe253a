"""Exponential integrals, the dilogarithm, and complete elliptic integrals."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.special import SPECIAL as op

__all__ = ["ellipk", "ellipkm1", "exp1", "expi", "expn", "spence"]


@unary_operator
def ellipk(m: Any, /, *, out: Any = None) -> Any:
    """The complete elliptic integral of the first kind.

    Parameters
    ----------
    m : array
        The parameter, which is the square of the modulus. Real floating-point. Half types are computed in
        float32, and rounded once. Integers and booleans become float64.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `m`; float64 for integers and booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.special.ellipk(xp.asarray([0.0, 0.5, 1.0]))
    Array([1.57079633, 1.85407468,        inf], dtype=float64, device='cpu')
    """
    return unary(op["ellipk"], m, out)


@unary_operator
def ellipkm1(p: Any, /, *, out: Any = None) -> Any:
    """The complete elliptic integral of the first kind of ``1 - p``, accurate near its pole.

    Parameters
    ----------
    p : array
        1 minus the parameter. Real floating-point. Half types are computed in float32, and rounded once.
        Integers and booleans become float64.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `p`; float64 for integers and booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.special.ellipkm1(xp.asarray([1.0, 1e-20]))
    Array([ 1.57079633, 24.41214529], dtype=float64, device='cpu')
    """
    return unary(op["ellipkm1"], p, out)


@unary_operator
def exp1(x: Any, /, *, out: Any = None) -> Any:
    """The exponential integral E1, of ``exp(-t) / t`` from x to infinity.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
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
    >>> xp.special.exp1(xp.asarray([0.5, 10.0]))
    Array([5.59773595e-01, 4.15696893e-06], dtype=float64, device='cpu')
    """
    return unary(op["exp1"], x, out)


@unary_operator
def expi(x: Any, /, *, out: Any = None) -> Any:
    """The exponential integral Ei, of ``exp(t) / t`` from minus infinity to x.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
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
    >>> xp.special.expi(xp.asarray([-1.0, 1.0, 50.0]))
    Array([-2.19383934e-01,  1.89511782e+00,  1.05856369e+20], dtype=float64, device='cpu')
    """
    return unary(op["expi"], x, out)


@binary_operator
def expn(n: Any, x: Any, /, *, out: Any = None) -> Any:
    """The exponential integral of order `n`, of ``exp(-x * t) / t**n`` from 1 to infinity.

    Parameters
    ----------
    n : array or scalar
        The order, an integer that is not negative.
    x : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
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
    >>> xp.special.expn(2, xp.asarray([0.5, 10.0]))
    Array([3.26643862e-01, 3.83024047e-06], dtype=float64, device='cpu')
    """
    return binary(op["expn"], n, x, out)


@unary_operator
def spence(x: Any, /, *, out: Any = None) -> Any:
    """Spence's function, the dilogarithm of ``1 - x``.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
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
    >>> xp.special.spence(xp.asarray([0.0, 0.5, 1.0]))
    Array([1.64493407, 0.58224053, 0.        ], dtype=float64, device='cpu')
    """
    return unary(op["spence"], x, out)
