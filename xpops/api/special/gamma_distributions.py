"""Distributions that are incomplete gamma functions: chi square, gamma, Poisson."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, ternary_operator
from xpops.dispatch import binary, elementwise
from xpops.ops.special import SPECIAL as op

__all__ = ["chdtr", "chdtrc", "chdtri", "gdtr", "gdtrc", "pdtr", "pdtrc", "pdtri"]


@binary_operator
def chdtr(v: Any, x: Any, /, *, out: Any = None) -> Any:
    """The distribution function of chi square.

    Parameters
    ----------
    v : array or scalar
        The degrees of freedom.
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
    >>> xp.special.chdtr(2.0, xp.asarray([1.0, 5.0]))
    Array([0.39346934, 0.917915  ], dtype=float64, device='cpu')
    """
    return binary(op["chdtr"], v, x, out)


@binary_operator
def chdtrc(v: Any, x: Any, /, *, out: Any = None) -> Any:
    """The upper tail of chi square, ``1 - chdtr(v, x)``.

    Parameters
    ----------
    v : array or scalar
        The degrees of freedom.
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
    >>> xp.special.chdtrc(2.0, xp.asarray([1.0, 100.0]))
    Array([6.06530660e-01, 1.92874985e-22], dtype=float64, device='cpu')
    """
    return binary(op["chdtrc"], v, x, out)


@binary_operator
def chdtri(v: Any, q: Any, /, *, out: Any = None) -> Any:
    """The inverse of `chdtrc` by its second operand.

    Parameters
    ----------
    v : array or scalar
        The degrees of freedom.
    q : array or scalar
        Probabilities. Real floating-point. Half types are computed in float32, and rounded once. Integers and
        booleans become float64.
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
    >>> xp.special.chdtri(2.0, xp.asarray([0.05, 0.5]))
    Array([5.99146455, 1.38629436], dtype=float64, device='cpu')
    """
    return binary(op["chdtri"], v, q, out)


@ternary_operator
def gdtr(a: Any, b: Any, x: Any, /, *, out: Any = None) -> Any:
    """The distribution function of a gamma distribution.

    Parameters
    ----------
    a : array or scalar
        The rate.
    b : array or scalar
        The shape.
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
    >>> xp.special.gdtr(1.0, 2.0, xp.asarray([0.5, 3.0]))
    Array([0.09020401, 0.80085173], dtype=float64, device='cpu')
    """
    return elementwise(op["gdtr"], (a, b, x), out)


@ternary_operator
def gdtrc(a: Any, b: Any, x: Any, /, *, out: Any = None) -> Any:
    """The upper tail of a gamma distribution, ``1 - gdtr(a, b, x)``.

    Parameters
    ----------
    a : array or scalar
        The rate.
    b : array or scalar
        The shape.
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
    >>> xp.special.gdtrc(1.0, 2.0, xp.asarray([0.5, 50.0]))
    Array([9.09795990e-01, 9.83662422e-21], dtype=float64, device='cpu')
    """
    return elementwise(op["gdtrc"], (a, b, x), out)


@binary_operator
def pdtr(k: Any, m: Any, /, *, out: Any = None) -> Any:
    """The distribution function of Poisson: the probability of at most `k` events.

    Parameters
    ----------
    k : array or scalar
        The number of events, rounded down.
    m : array or scalar
        The mean.
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
    >>> xp.special.pdtr(2.0, xp.asarray([0.5, 3.0]))
    Array([0.98561232, 0.42319008], dtype=float64, device='cpu')
    """
    return binary(op["pdtr"], k, m, out)


@binary_operator
def pdtrc(k: Any, m: Any, /, *, out: Any = None) -> Any:
    """The upper tail of Poisson, ``1 - pdtr(k, m)``.

    Parameters
    ----------
    k : array or scalar
        The number of events, rounded down.
    m : array or scalar
        The mean.
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
    >>> xp.special.pdtrc(2.0, xp.asarray([1e-05, 3.0]))
    Array([1.66665417e-16, 5.76809919e-01], dtype=float64, device='cpu')
    """
    return binary(op["pdtrc"], k, m, out)


@binary_operator
def pdtri(k: Any, q: Any, /, *, out: Any = None) -> Any:
    """The inverse of `pdtr` by its second operand: the mean.

    Parameters
    ----------
    k : array or scalar
        The number of events, rounded down.
    q : array or scalar
        Probabilities. Real floating-point. Half types are computed in float32, and rounded once. Integers and
        booleans become float64.
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
    >>> xp.special.pdtri(2.0, xp.asarray([0.1, 0.5]))
    Array([5.32232034, 2.67406031], dtype=float64, device='cpu')
    """
    return binary(op["pdtri"], k, q, out)
