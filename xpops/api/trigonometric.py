"""Elementwise trigonometric and hyperbolic functions. Angles are in radians."""

from __future__ import annotations

from typing import Any

from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


def acos(x: Any, /, *, out: Any = None) -> Any:
    """The arc cosines, in [0, pi]; NaN for real elements outside [-1, 1].

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.acos(xp.asarray([1.0, -1.0]))
    Array([0.        , 3.14159265], dtype=float64, device='cpu')
    """
    return unary(op["acos"], x, out)


def acosh(x: Any, /, *, out: Any = None) -> Any:
    """The inverse hyperbolic cosines; NaN for real elements less than 1.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.acosh(xp.asarray([1.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["acosh"], x, out)


def asin(x: Any, /, *, out: Any = None) -> Any:
    """The arc sines, in [-pi/2, pi/2]; NaN for real elements outside [-1, 1].

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.asin(xp.asarray([0.0, 1.0]))
    Array([0.        , 1.57079633], dtype=float64, device='cpu')
    """
    return unary(op["asin"], x, out)


def asinh(x: Any, /, *, out: Any = None) -> Any:
    """The inverse hyperbolic sines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.asinh(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["asinh"], x, out)


def atan(x: Any, /, *, out: Any = None) -> Any:
    """The arc tangents, in [-pi/2, pi/2].

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.atan(xp.asarray([0.0, 1.0]))
    Array([0.        , 0.78539816], dtype=float64, device='cpu')
    """
    return unary(op["atan"], x, out)


def atan2(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The angles of the points (x2, x1), in [-pi, pi].

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.atan2(xp.asarray([1.0, -1.0]), -1.0)
    Array([ 2.35619449, -2.35619449], dtype=float64, device='cpu')
    """
    return binary(op["atan2"], x1, x2, out)


def atanh(x: Any, /, *, out: Any = None) -> Any:
    """The inverse hyperbolic tangents; NaN for real elements outside [-1, 1].

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.atanh(xp.asarray([0.0, 1.0]))
    Array([ 0., inf], dtype=float64, device='cpu')
    """
    return unary(op["atanh"], x, out)


def cos(x: Any, /, *, out: Any = None) -> Any:
    """The cosines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.cos(xp.asarray([0.0]))
    Array([1.], dtype=float64, device='cpu')
    """
    return unary(op["cos"], x, out)


def cosh(x: Any, /, *, out: Any = None) -> Any:
    """The hyperbolic cosines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.cosh(xp.asarray([0.0]))
    Array([1.], dtype=float64, device='cpu')
    """
    return unary(op["cosh"], x, out)


def sin(x: Any, /, *, out: Any = None) -> Any:
    """The sines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.sin(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["sin"], x, out)


def sinh(x: Any, /, *, out: Any = None) -> Any:
    """The hyperbolic sines.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.sinh(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["sinh"], x, out)


def tan(x: Any, /, *, out: Any = None) -> Any:
    """The tangents.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.tan(xp.asarray([0.0]))
    Array([0.], dtype=float64, device='cpu')
    """
    return unary(op["tan"], x, out)


def tanh(x: Any, /, *, out: Any = None) -> Any:
    """The hyperbolic tangents.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.tanh(xp.asarray([0.0, xp.inf]))
    Array([0., 1.], dtype=float64, device='cpu')
    """
    return unary(op["tanh"], x, out)
