"""The gamma function and functions that consist of it."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.special import SPECIAL as op

__all__ = ["gamma", "gammaln", "gammasgn", "loggamma", "multigammaln", "rgamma"]


@unary_operator
def gamma(x: Any, /, *, out: Any = None) -> Any:
    """The gamma function.

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
    >>> xp.special.gamma(xp.asarray([0.5, 5.0]))
    Array([ 1.77245385, 24.        ], dtype=float64, device='cpu')
    """
    return unary(op["gamma"], x, out)


@unary_operator
def gammaln(x: Any, /, *, out: Any = None) -> Any:
    """The logarithm of the absolute value of the gamma function.

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
    >>> xp.special.gammaln(xp.asarray([0.5, 200.0]))
    Array([5.72364943e-01, 8.57933670e+02], dtype=float64, device='cpu')
    """
    return unary(op["gammaln"], x, out)


@unary_operator
def gammasgn(x: Any, /, *, out: Any = None) -> Any:
    """The sign of the gamma function; NaN at its poles.

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
    >>> xp.special.gammasgn(xp.asarray([-1.5, -0.5, 3.0]))
    Array([ 1., -1.,  1.], dtype=float64, device='cpu')
    """
    return unary(op["gammasgn"], x, out)


@unary_operator
def loggamma(x: Any, /, *, out: Any = None) -> Any:
    """The principal branch of the logarithm of the gamma function; NaN for negative real numbers.

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

    Notes
    -----
    Complex numbers are not accepted.

    Examples
    --------
    >>> xp.special.loggamma(xp.asarray([0.5, 200.0]))
    Array([5.72364943e-01, 8.57933670e+02], dtype=float64, device='cpu')
    """
    return unary(op["loggamma"], x, out)


@binary_operator
def multigammaln(a: Any, d: Any, /, *, out: Any = None) -> Any:
    """The logarithm of the gamma function of `d` dimensions.

    Parameters
    ----------
    a : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    d : array or scalar
        The dimension, an integer.
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

    Notes
    -----
    The result is NaN unless ``a > (d - 1) / 2``, for which SciPy's function raises an error: a check would wait for
    the GPU.

    Examples
    --------
    >>> xp.special.multigammaln(xp.asarray([2.0, 3.5]), 2)
    Array([0.45158271, 2.46648573], dtype=float64, device='cpu')
    """
    return binary(op["multigammaln"], a, d, out)


@unary_operator
def rgamma(x: Any, /, *, out: Any = None) -> Any:
    """``1 / gamma(x)``, which is 0 at the poles of gamma.

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
    >>> xp.special.rgamma(xp.asarray([-1.0, 0.5, 5.0]))
    Array([0.        , 0.56418958, 0.04166667], dtype=float64, device='cpu')
    """
    return unary(op["rgamma"], x, out)
