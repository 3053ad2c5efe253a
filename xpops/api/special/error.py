"""The error function and the standard normal distribution."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.special import SPECIAL as op

__all__ = ["erf", "erfc", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri"]


@unary_operator
def erf(x: Any, /, *, out: Any = None) -> Any:
    """The error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x.

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
    >>> xp.special.erf(xp.asarray([0.0, 0.5, 2.0]))
    Array([0.        , 0.52049988, 0.99532227], dtype=float64, device='cpu')
    """
    return unary(op["erf"], x, out)


@unary_operator
def erfc(x: Any, /, *, out: Any = None) -> Any:
    """``1 - erf(x)``, accurate where it is small.

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
    >>> xp.special.erfc(xp.asarray([0.5, 10.0]))
    Array([4.79500122e-01, 2.08848758e-45], dtype=float64, device='cpu')
    """
    return unary(op["erfc"], x, out)


@unary_operator
def erfcx(x: Any, /, *, out: Any = None) -> Any:
    """``exp(x**2) * erfc(x)``, for which `erfc` may underflow.

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
    >>> xp.special.erfcx(xp.asarray([0.5, 100.0]))
    Array([0.61569034, 0.00564161], dtype=float64, device='cpu')
    """
    return unary(op["erfcx"], x, out)


@unary_operator
def erfinv(x: Any, /, *, out: Any = None) -> Any:
    """The inverse of `erf`.

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
    >>> xp.special.erfinv(xp.asarray([0.0, 0.5, 1.0]))
    Array([0.        , 0.47693628,        inf], dtype=float64, device='cpu')
    """
    return unary(op["erfinv"], x, out)


@unary_operator
def log_ndtr(x: Any, /, *, out: Any = None) -> Any:
    """The logarithm of `ndtr`, for which `ndtr` may underflow.

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
    >>> xp.special.log_ndtr(xp.asarray([-100.0, 0.0]))
    Array([-5.00552421e+03, -6.93147181e-01], dtype=float64, device='cpu')
    """
    return unary(op["log_ndtr"], x, out)


@unary_operator
def ndtr(x: Any, /, *, out: Any = None) -> Any:
    """The standard normal distribution function.

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
    >>> xp.special.ndtr(xp.asarray([-10.0, 0.0, 1.0]))
    Array([7.61985302e-24, 5.00000000e-01, 8.41344746e-01], dtype=float64, device='cpu')
    """
    return unary(op["ndtr"], x, out)


@unary_operator
def ndtri(p: Any, /, *, out: Any = None) -> Any:
    """The inverse of `ndtr`.

    Parameters
    ----------
    p : array
        Probabilities. Real floating-point. Half types are computed in float32, and rounded once. Integers and
        booleans become float64.
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
    >>> xp.special.ndtri(xp.asarray([0.025, 0.5]))
    Array([-1.95996398,  0.        ], dtype=float64, device='cpu')
    """
    return unary(op["ndtri"], p, out)
