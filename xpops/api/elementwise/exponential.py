"""Elementwise exponentials and logarithms."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["exp", "expm1", "log", "log1p", "log2", "log10", "logaddexp"]


@unary_operator
def exp(x: Any, /, *, out: Any = None) -> Any:
    """e to the power x.

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
    >>> xp.exp(xp.asarray([0.0, 1.0]))
    Array([1.        , 2.71828183], dtype=float64, device='cpu')
    """
    return unary(op["exp"], x, out)


@unary_operator
def expm1(x: Any, /, *, out: Any = None) -> Any:
    """``exp(x) - 1``, accurate near 0.

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
    >>> xp.expm1(xp.asarray([1e-10]))
    Array([1.e-10], dtype=float64, device='cpu')
    """
    return unary(op["expm1"], x, out)


@unary_operator
def log(x: Any, /, *, out: Any = None) -> Any:
    """The natural logarithms; NaN for negative real elements.

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
    >>> xp.log(xp.asarray([1.0, xp.e]))
    Array([0., 1.], dtype=float64, device='cpu')
    """
    return unary(op["log"], x, out)


@unary_operator
def log10(x: Any, /, *, out: Any = None) -> Any:
    """The logarithms to base 10; NaN for negative real elements.

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
    >>> xp.log10(xp.asarray([1.0, 100.0]))
    Array([0., 2.], dtype=float64, device='cpu')
    """
    return unary(op["log10"], x, out)


@unary_operator
def log1p(x: Any, /, *, out: Any = None) -> Any:
    """``log(1 + x)``, accurate near 0.

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
    >>> xp.log1p(xp.asarray([1e-10]))
    Array([1.e-10], dtype=float64, device='cpu')
    """
    return unary(op["log1p"], x, out)


@unary_operator
def log2(x: Any, /, *, out: Any = None) -> Any:
    """The logarithms to base 2; NaN for negative real elements.

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
    >>> xp.log2(xp.asarray([1.0, 8.0]))
    Array([0., 3.], dtype=float64, device='cpu')
    """
    return unary(op["log2"], x, out)


@binary_operator
def logaddexp(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``log(exp(x1) + exp(x2))``, without intermediate overflow.

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
    >>> xp.logaddexp(xp.asarray([1000.0]), 1000.0)
    Array([1000.69314718], dtype=float64, device='cpu')
    """
    return binary(op["logaddexp"], x1, x2, out)
