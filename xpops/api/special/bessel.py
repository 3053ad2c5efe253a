"""Bessel functions of the first and second kind."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.special import SPECIAL as op

__all__ = ["j0", "j1", "y0", "y1", "yn"]


@unary_operator
def j0(x: Any, /, *, out: Any = None) -> Any:
    """The Bessel function of the first kind of order 0.

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
    >>> xp.special.j0(xp.asarray([0.0, 2.5]))
    Array([ 1.        , -0.04838378], dtype=float64, device='cpu')
    """
    return unary(op["j0"], x, out)


@unary_operator
def j1(x: Any, /, *, out: Any = None) -> Any:
    """The Bessel function of the first kind of order 1.

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
    >>> xp.special.j1(xp.asarray([0.0, 2.5]))
    Array([0.       , 0.4970941], dtype=float64, device='cpu')
    """
    return unary(op["j1"], x, out)


@unary_operator
def y0(x: Any, /, *, out: Any = None) -> Any:
    """The Bessel function of the second kind of order 0.

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
    >>> xp.special.y0(xp.asarray([0.5, 2.5]))
    Array([-0.44451873,  0.49807036], dtype=float64, device='cpu')
    """
    return unary(op["y0"], x, out)


@unary_operator
def y1(x: Any, /, *, out: Any = None) -> Any:
    """The Bessel function of the second kind of order 1.

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
    >>> xp.special.y1(xp.asarray([0.5, 2.5]))
    Array([-1.47147239,  0.14591814], dtype=float64, device='cpu')
    """
    return unary(op["y1"], x, out)


@binary_operator
def yn(n: Any, x: Any, /, *, out: Any = None) -> Any:
    """The Bessel function of the second kind of integer order.

    Parameters
    ----------
    n : array or scalar
        The order, an integer.
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
    >>> xp.special.yn(3, xp.asarray([0.5, 2.5]))
    Array([-42.0594943,  -0.7560555], dtype=float64, device='cpu')
    """
    return binary(op["yn"], n, x, out)
