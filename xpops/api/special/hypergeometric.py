"""The confluent hypergeometric function, and Legendre functions."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import ternary_operator
from xpops.dispatch import elementwise
from xpops.ops.special import SPECIAL as op

__all__ = ["hyp1f1", "lpmv"]


@ternary_operator
def hyp1f1(a: Any, b: Any, x: Any, /, *, out: Any = None) -> Any:
    """Kummer's confluent hypergeometric function.

    Parameters
    ----------
    a : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    b : array or scalar
        As `a`.
    x : array or scalar
        As `a`.
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
    The digits of the largest term of the series are lost where terms cancel: for negative `a` or ``b - a``.

    Examples
    --------
    >>> xp.special.hyp1f1(1.0, 2.5, xp.asarray([0.5, -3.0]))
    Array([1.2320584 , 0.39489422], dtype=float64, device='cpu')
    """
    return elementwise(op["hyp1f1"], (a, b, x), out)


@ternary_operator
def lpmv(m: Any, v: Any, x: Any, /, *, out: Any = None) -> Any:
    """The associated Legendre function of integer order and real degree.

    Parameters
    ----------
    m : array or scalar
        The order, an integer.
    v : array or scalar
        The degree.
    x : array or scalar
        Numbers from -1 to 1. Real floating-point. Half types are computed in float32, and rounded once.
        Integers and booleans become float64.
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
    Near -1 the result has fewer digits, unless the degree is an integer.

    Examples
    --------
    >>> xp.special.lpmv(1, 2.0, xp.asarray([0.25, 0.5]))
    Array([-0.72618438, -1.29903811], dtype=float64, device='cpu')
    """
    return elementwise(op["lpmv"], (m, v, x), out)
