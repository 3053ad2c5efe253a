"""Entropies and robust losses."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.special import SPECIAL as op

__all__ = ["entr", "huber", "kl_div", "pseudo_huber", "rel_entr"]


@unary_operator
def entr(x: Any, /, *, out: Any = None) -> Any:
    """``-x * log(x)``: 0 at 0, minus infinity for negative numbers.

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
    >>> xp.special.entr(xp.asarray([0.0, 0.5, -1.0]))
    Array([0.        , 0.34657359,       -inf], dtype=float64, device='cpu')
    """
    return unary(op["entr"], x, out)


@binary_operator
def huber(delta: Any, r: Any, /, *, out: Any = None) -> Any:
    """The loss of Huber: ``r**2 / 2`` up to `delta`, beyond it linear.

    Parameters
    ----------
    delta : array or scalar
        The residual from which the loss is linear. Infinity is the result where it is negative.
    r : array or scalar
        The residual.
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
    >>> xp.special.huber(1.0, xp.asarray([0.5, 3.0]))
    Array([0.125, 2.5  ], dtype=float64, device='cpu')
    """
    return binary(op["huber"], delta, r, out)


@binary_operator
def kl_div(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``x1 * log(x1 / x2) - x1 + x2``; infinite outside the domain.

    Parameters
    ----------
    x1 : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    x2 : array or scalar
        As `x1`.
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
    >>> xp.special.kl_div(xp.asarray([0.5, 0.0]), xp.asarray([0.25, 1.0]))
    Array([0.09657359, 1.        ], dtype=float64, device='cpu')
    """
    return binary(op["kl_div"], x1, x2, out)


@binary_operator
def pseudo_huber(delta: Any, r: Any, /, *, out: Any = None) -> Any:
    """A smooth loss like that of Huber, ``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``.

    Parameters
    ----------
    delta : array or scalar
        The residual from which the loss is nearly linear. Infinity is the result where it is negative.
    r : array or scalar
        The residual.
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
    >>> xp.special.pseudo_huber(1.0, xp.asarray([0.5, 3.0]))
    Array([0.11803399, 2.16227766], dtype=float64, device='cpu')
    """
    return binary(op["pseudo_huber"], delta, r, out)


@binary_operator
def rel_entr(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``x1 * log(x1 / x2)``: 0 where `x1` is 0, infinite outside the domain.

    Parameters
    ----------
    x1 : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    x2 : array or scalar
        As `x1`.
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
    >>> xp.special.rel_entr(xp.asarray([0.5, 0.0]), xp.asarray([0.25, 1.0]))
    Array([0.34657359, 0.        ], dtype=float64, device='cpu')
    """
    return binary(op["rel_entr"], x1, x2, out)
