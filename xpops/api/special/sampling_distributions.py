"""Distributions of statistics of tests: F and Student's t."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, ternary_operator
from xpops.dispatch import binary, elementwise
from xpops.ops.special import SPECIAL as op

__all__ = ["fdtr", "fdtrc", "fdtri", "stdtr", "stdtrit"]


@ternary_operator
def fdtr(dfn: Any, dfd: Any, x: Any, /, *, out: Any = None) -> Any:
    """The F distribution function.

    Parameters
    ----------
    dfn : array or scalar
        The degrees of freedom of the numerator.
    dfd : array or scalar
        The degrees of freedom of the denominator.
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
    >>> xp.special.fdtr(2.0, 5.0, xp.asarray([0.5, 3.0]))
    Array([0.36606185, 0.86070251], dtype=float64, device='cpu')
    """
    return elementwise(op["fdtr"], (dfn, dfd, x), out)


@ternary_operator
def fdtrc(dfn: Any, dfd: Any, x: Any, /, *, out: Any = None) -> Any:
    """The upper tail of the F distribution, ``1 - fdtr(dfn, dfd, x)``.

    Parameters
    ----------
    dfn : array or scalar
        The degrees of freedom of the numerator.
    dfd : array or scalar
        The degrees of freedom of the denominator.
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
    >>> xp.special.fdtrc(2.0, 5.0, xp.asarray([0.5, 100.0]))
    Array([6.33938145e-01, 9.29052718e-05], dtype=float64, device='cpu')
    """
    return elementwise(op["fdtrc"], (dfn, dfd, x), out)


@ternary_operator
def fdtri(dfn: Any, dfd: Any, p: Any, /, *, out: Any = None) -> Any:
    """The inverse of `fdtr` by its third operand.

    Parameters
    ----------
    dfn : array or scalar
        The degrees of freedom of the numerator.
    dfd : array or scalar
        The degrees of freedom of the denominator.
    p : array or scalar
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
    >>> xp.special.fdtri(2.0, 5.0, xp.asarray([0.5, 0.95]))
    Array([0.79876978, 5.78613504], dtype=float64, device='cpu')
    """
    return elementwise(op["fdtri"], (dfn, dfd, p), out)


@binary_operator
def stdtr(df: Any, t: Any, /, *, out: Any = None) -> Any:
    """The distribution function of Student's t.

    Parameters
    ----------
    df : array or scalar
        The degrees of freedom.
    t : array or scalar
        The upper bound.
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
    >>> xp.special.stdtr(5.0, xp.asarray([-2.0, 0.0]))
    Array([0.05096974, 0.5       ], dtype=float64, device='cpu')
    """
    return binary(op["stdtr"], df, t, out)


@binary_operator
def stdtrit(df: Any, p: Any, /, *, out: Any = None) -> Any:
    """The inverse of `stdtr` by its second operand.

    Parameters
    ----------
    df : array or scalar
        The degrees of freedom.
    p : array or scalar
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
    >>> xp.special.stdtrit(5.0, xp.asarray([0.025, 0.5]))
    Array([-2.57058184,  0.        ], dtype=float64, device='cpu')
    """
    return binary(op["stdtrit"], df, p, out)
