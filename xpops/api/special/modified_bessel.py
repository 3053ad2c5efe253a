"""Modified Bessel functions."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.special import SPECIAL as op

__all__ = ["i0", "i0e", "i1", "i1e", "k0", "k0e", "k1", "k1e"]


@unary_operator
def i0(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 0.

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
    >>> xp.special.i0(xp.asarray([0.5, 100.0]))
    Array([1.06348337e+00, 1.07375171e+42], dtype=float64, device='cpu')
    """
    return unary(op["i0"], x, out)


@unary_operator
def i0e(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 0, times ``exp(-abs(x))``.

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
    >>> xp.special.i0e(xp.asarray([0.5, 100.0]))
    Array([0.64503527, 0.03994438], dtype=float64, device='cpu')
    """
    return unary(op["i0e"], x, out)


@unary_operator
def i1(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 1.

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
    >>> xp.special.i1(xp.asarray([0.5, 100.0]))
    Array([2.57894305e-01, 1.06836939e+42], dtype=float64, device='cpu')
    """
    return unary(op["i1"], x, out)


@unary_operator
def i1e(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 1, times ``exp(-abs(x))``.

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
    >>> xp.special.i1e(xp.asarray([0.5, 100.0]))
    Array([0.1564208 , 0.03974415], dtype=float64, device='cpu')
    """
    return unary(op["i1e"], x, out)


@unary_operator
def k0(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the second kind of order 0.

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
    >>> xp.special.k0(xp.asarray([0.5, 100.0]))
    Array([9.24419071e-01, 4.65662823e-45], dtype=float64, device='cpu')
    """
    return unary(op["k0"], x, out)


@unary_operator
def k0e(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the second kind of order 0, times ``exp(x)``.

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
    >>> xp.special.k0e(xp.asarray([0.5, 100.0]))
    Array([1.52410939, 0.12517562], dtype=float64, device='cpu')
    """
    return unary(op["k0e"], x, out)


@unary_operator
def k1(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the second kind of order 1.

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
    >>> xp.special.k1(xp.asarray([0.5, 100.0]))
    Array([1.65644112e+00, 4.67985374e-45], dtype=float64, device='cpu')
    """
    return unary(op["k1"], x, out)


@unary_operator
def k1e(x: Any, /, *, out: Any = None) -> Any:
    """The modified Bessel function of the second kind of order 1, times ``exp(x)``.

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
    >>> xp.special.k1e(xp.asarray([0.5, 100.0]))
    Array([2.73100971, 0.12579995], dtype=float64, device='cpu')
    """
    return unary(op["k1e"], x, out)
