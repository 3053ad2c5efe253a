"""Elementwise trigonometric functions and their inverses."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["acos", "asin", "atan", "atan2", "cos", "sin", "tan"]


@unary_operator
def acos(x: Any, /, *, out: Any = None) -> Any:
    """The arc cosines, in [0, pi]; NaN for real elements outside [-1, 1].

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
    >>> xp.acos(xp.asarray([1.0, -1.0]))
    Array([0.        , 3.14159265], dtype=float64, device='cpu')
    """
    return unary(op["acos"], x, out)


@unary_operator
def asin(x: Any, /, *, out: Any = None) -> Any:
    """The arc sines, in [-pi/2, pi/2]; NaN for real elements outside [-1, 1].

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
    >>> xp.asin(xp.asarray([0.0, 1.0]))
    Array([0.        , 1.57079633], dtype=float64, device='cpu')
    """
    return unary(op["asin"], x, out)


@unary_operator
def atan(x: Any, /, *, out: Any = None) -> Any:
    """The arc tangents, in [-pi/2, pi/2].

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
    >>> xp.atan(xp.asarray([0.0, 1.0]))
    Array([0.        , 0.78539816], dtype=float64, device='cpu')
    """
    return unary(op["atan"], x, out)


@binary_operator
def atan2(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The angles of the points (x2, x1), in [-pi, pi].

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point, integer or boolean; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to; float64 if both are integers or booleans.

    Raises
    ------
    TypeError
        If the dtype of an operand is not accepted.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.atan2(xp.asarray([1.0, -1.0]), -1.0)
    Array([ 2.35619449, -2.35619449], dtype=float64, device='cpu')
    """
    return binary(op["atan2"], x1, x2, out)


@unary_operator
def cos(x: Any, /, *, out: Any = None) -> Any:
    """The cosines.

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
    >>> xp.cos(xp.asarray([0.0]))
    Array([1.], dtype=float64, device='cpu')
    """
    return unary(op["cos"], x, out)


@unary_operator
def sin(x: Any, /, *, out: Any = None) -> Any:
    """The sines.

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
    >>> xp.sin(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["sin"], x, out)


@unary_operator
def tan(x: Any, /, *, out: Any = None) -> Any:
    """The tangents.

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
    >>> xp.tan(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["tan"], x, out)
