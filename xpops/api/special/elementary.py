"""Powers, exponentials and logarithms."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.special import SPECIAL as op

__all__ = ["cbrt", "cosm1", "exp2", "exp10", "expit", "exprel", "logit"]


@unary_operator
def cbrt(x: Any, /, *, out: Any = None) -> Any:
    """The cube root.

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
    >>> xp.special.cbrt(xp.asarray([8.0, -27.0]))
    Array([ 2., -3.], dtype=float64, device='cpu')
    """
    return unary(op["cbrt"], x, out)


@unary_operator
def cosm1(x: Any, /, *, out: Any = None) -> Any:
    """``cos(x) - 1``, accurate near 0.

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
    >>> xp.special.cosm1(xp.asarray([1e-5]))
    Array([-5.e-11], dtype=float64, device='cpu')
    """
    return unary(op["cosm1"], x, out)


@unary_operator
def exp2(x: Any, /, *, out: Any = None) -> Any:
    """2 to the power x.

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
    >>> xp.special.exp2(xp.asarray([3.0, 0.5]))
    Array([8.        , 1.41421356], dtype=float64, device='cpu')
    """
    return unary(op["exp2"], x, out)


@unary_operator
def exp10(x: Any, /, *, out: Any = None) -> Any:
    """10 to the power x.

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
    >>> xp.special.exp10(xp.asarray([2.0, -1.0]))
    Array([100. ,   0.1], dtype=float64, device='cpu')
    """
    return unary(op["exp10"], x, out)


@unary_operator
def expit(x: Any, /, *, out: Any = None) -> Any:
    """The logistic function, ``1 / (1 + exp(-x))``.

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
    >>> xp.special.expit(xp.asarray([-1000.0, 0.0, 1.0]))
    Array([0.        , 0.5       , 0.73105858], dtype=float64, device='cpu')
    """
    return unary(op["expit"], x, out)


@unary_operator
def exprel(x: Any, /, *, out: Any = None) -> Any:
    """``(exp(x) - 1) / x``, which is 1 at 0.

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
    >>> xp.special.exprel(xp.asarray([0.0, 1.0]))
    Array([1.        , 1.71828183], dtype=float64, device='cpu')
    """
    return unary(op["exprel"], x, out)


@unary_operator
def logit(x: Any, /, *, out: Any = None) -> Any:
    """``log(x / (1 - x))``, the inverse of `expit`.

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
    >>> xp.special.logit(xp.asarray([0.0, 0.25, 0.5]))
    Array([       -inf, -1.09861229,  0.        ], dtype=float64, device='cpu')
    """
    return unary(op["logit"], x, out)
