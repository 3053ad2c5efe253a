"""Trigonometric functions of degrees, and sinc."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import ternary_operator, unary_operator
from xpops.dispatch import elementwise, unary
from xpops.ops.special import SPECIAL as op

__all__ = ["cosdg", "cotdg", "radian", "sinc", "sindg", "tandg"]


@unary_operator
def cosdg(x: Any, /, *, out: Any = None) -> Any:
    """The cosine of an angle in degrees.

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
    >>> xp.special.cosdg(xp.asarray([60.0, 90.0]))
    Array([ 0.5, -0. ], dtype=float64, device='cpu')
    """
    return unary(op["cosdg"], x, out)


@unary_operator
def cotdg(x: Any, /, *, out: Any = None) -> Any:
    """The cotangent of an angle in degrees; infinite at its poles.

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
    >>> xp.special.cotdg(xp.asarray([45.0, 90.0]))
    Array([1., 0.], dtype=float64, device='cpu')
    """
    return unary(op["cotdg"], x, out)


@ternary_operator
def radian(d: Any, m: Any, s: Any, /, *, out: Any = None) -> Any:
    """Degrees, minutes and seconds in radians.

    Parameters
    ----------
    d : array or scalar
        Degrees.
    m : array or scalar
        Minutes.
    s : array or scalar
        Seconds.
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
    >>> xp.special.radian(xp.asarray([180.0, 1.0]), 30.0, 0.0)
    Array([3.1503193 , 0.02617994], dtype=float64, device='cpu')
    """
    return elementwise(op["radian"], (d, m, s), out)


@unary_operator
def sinc(x: Any, /, *, out: Any = None) -> Any:
    """``sin(pi * x) / (pi * x)``, which is 1 at 0.

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
    >>> xp.special.sinc(xp.asarray([0.0, 0.5, 1.0]))
    Array([1.00000000e+00, 6.36619772e-01, 3.89817183e-17], dtype=float64, device='cpu')
    """
    return unary(op["sinc"], x, out)


@unary_operator
def sindg(x: Any, /, *, out: Any = None) -> Any:
    """The sine of an angle in degrees.

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
    >>> xp.special.sindg(xp.asarray([30.0, 180.0]))
    Array([ 0.5, -0. ], dtype=float64, device='cpu')
    """
    return unary(op["sindg"], x, out)


@unary_operator
def tandg(x: Any, /, *, out: Any = None) -> Any:
    """The tangent of an angle in degrees; infinite at its poles.

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
    >>> xp.special.tandg(xp.asarray([45.0, 90.0]))
    Array([ 1., inf], dtype=float64, device='cpu')
    """
    return unary(op["tandg"], x, out)
