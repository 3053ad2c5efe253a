"""Elementwise tests of floating-point numbers, their signs and their neighbours."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["copysign", "isfinite", "isinf", "isnan", "nextafter", "signbit"]


@binary_operator
def copysign(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The magnitudes of `x1` with the signs of `x2`.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

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
    >>> xp.copysign(xp.asarray([1.0, -2.0]), -0.0)
    Array([-1., -2.], dtype=float64, device='cpu')
    """
    return binary(op["copysign"], x1, x2, out)


@unary_operator
def isfinite(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is neither infinite nor NaN.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.isfinite(xp.asarray([1.0, xp.inf, xp.nan]))
    Array([ True, False, False], dtype=bool, device='cpu')
    """
    return unary(op["isfinite"], x, out)


@unary_operator
def isinf(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is infinite; of a complex one, whether a part is.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.isinf(xp.asarray([1.0, xp.inf, xp.nan]))
    Array([False,  True, False], dtype=bool, device='cpu')
    """
    return unary(op["isinf"], x, out)


@unary_operator
def isnan(x: Any, /, *, out: Any = None) -> Any:
    """Whether an element is NaN; of a complex one, whether a part is.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.isnan(xp.asarray([1.0, xp.inf, xp.nan]))
    Array([False, False,  True], dtype=bool, device='cpu')
    """
    return unary(op["isnan"], x, out)


@binary_operator
def nextafter(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The next number after `x1` in the direction of `x2` that the dtype holds.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

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
    >>> xp.nextafter(xp.asarray([1.0]), 2.0)
    Array([1.], dtype=float64, device='cpu')
    """
    return binary(op["nextafter"], x1, x2, out)


@unary_operator
def signbit(x: Any, /, *, out: Any = None) -> Any:
    """Whether the sign bit is set: of negative numbers, -0.0 and some NaNs.

    Parameters
    ----------
    x : array
        Real floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If an operand is not real-valued.

    Examples
    --------
    >>> xp.signbit(xp.asarray([-0.0, 0.0]))
    Array([ True, False], dtype=bool, device='cpu')
    """
    return unary(op["signbit"], x, out)
