"""Elementwise hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]


@unary_operator
def acosh(x: Any, /, *, out: Any = None) -> Any:
    """The inverse hyperbolic cosines; NaN for real elements less than 1.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
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
    >>> xp.acosh(xp.asarray([1.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["acosh"], x, out)


@unary_operator
def asinh(x: Any, /, *, out: Any = None) -> Any:
    """The inverse hyperbolic sines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
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
    >>> xp.asinh(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["asinh"], x, out)


@unary_operator
def atanh(x: Any, /, *, out: Any = None) -> Any:
    """The inverse hyperbolic tangents; NaN for real elements outside [-1, 1].

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
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
    >>> xp.atanh(xp.asarray([0.0, 1.0]))
    Array([ 0., inf], dtype=float64, device='cpu')
    """
    return unary(op["atanh"], x, out)


@unary_operator
def cosh(x: Any, /, *, out: Any = None) -> Any:
    """The hyperbolic cosines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
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
    >>> xp.cosh(xp.asarray([0.0]))
    Array([1.], dtype=float64, device='cpu')
    """
    return unary(op["cosh"], x, out)


@unary_operator
def sinh(x: Any, /, *, out: Any = None) -> Any:
    """The hyperbolic sines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
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
    >>> xp.sinh(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["sinh"], x, out)


@unary_operator
def tanh(x: Any, /, *, out: Any = None) -> Any:
    """The hyperbolic tangents.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans become float64.
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
    >>> xp.tanh(xp.asarray([0.0, xp.inf]))
    Array([0., 1.], dtype=float64, device='cpu')
    """
    return unary(op["tanh"], x, out)
