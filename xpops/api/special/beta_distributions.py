"""Distributions that are incomplete beta functions: binomial and negative binomial."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import ternary_operator
from xpops.dispatch import elementwise
from xpops.ops.special import SPECIAL as op

__all__ = ["bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"]


@ternary_operator
def bdtr(k: Any, n: Any, p: Any, /, *, out: Any = None) -> Any:
    """The binomial distribution function: the probability of at most `k` events.

    Parameters
    ----------
    k : array or scalar
        The number of events, rounded down.
    n : array or scalar
        The number of trials, an integer.
    p : array or scalar
        The probability of an event.
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
    >>> xp.special.bdtr(1.0, 4.0, xp.asarray([0.1, 0.5]))
    Array([0.9477, 0.3125], dtype=float64, device='cpu')
    """
    return elementwise(op["bdtr"], (k, n, p), out)


@ternary_operator
def bdtrc(k: Any, n: Any, p: Any, /, *, out: Any = None) -> Any:
    """The upper tail of the binomial distribution, ``1 - bdtr(k, n, p)``.

    Parameters
    ----------
    k : array or scalar
        The number of events, rounded down.
    n : array or scalar
        The number of trials, an integer.
    p : array or scalar
        The probability of an event.
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
    >>> xp.special.bdtrc(1.0, 4.0, xp.asarray([1e-05, 0.5]))
    Array([5.99992e-10, 6.87500e-01], dtype=float64, device='cpu')
    """
    return elementwise(op["bdtrc"], (k, n, p), out)


@ternary_operator
def bdtri(k: Any, n: Any, q: Any, /, *, out: Any = None) -> Any:
    """The inverse of `bdtr` by its third operand: the probability of an event.

    Parameters
    ----------
    k : array or scalar
        The number of events, rounded down.
    n : array or scalar
        The number of trials, an integer.
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
    >>> xp.special.bdtri(1.0, 4.0, xp.asarray([0.1, 0.5]))
    Array([0.67953942, 0.38572757], dtype=float64, device='cpu')
    """
    return elementwise(op["bdtri"], (k, n, q), out)


@ternary_operator
def nbdtr(k: Any, n: Any, p: Any, /, *, out: Any = None) -> Any:
    """The negative binomial distribution: the probability of at most `k` failures before the `n`-th success.

    Parameters
    ----------
    k : array or scalar
        The number of failures, rounded down.
    n : array or scalar
        The number of successes, an integer.
    p : array or scalar
        The probability of a success.
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
    >>> xp.special.nbdtr(1.0, 4.0, xp.asarray([0.1, 0.5]))
    Array([0.00046, 0.1875 ], dtype=float64, device='cpu')
    """
    return elementwise(op["nbdtr"], (k, n, p), out)


@ternary_operator
def nbdtrc(k: Any, n: Any, p: Any, /, *, out: Any = None) -> Any:
    """The upper tail of the negative binomial distribution, ``1 - nbdtr(k, n, p)``.

    Parameters
    ----------
    k : array or scalar
        The number of failures, rounded down.
    n : array or scalar
        The number of successes, an integer.
    p : array or scalar
        The probability of a success.
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
    >>> xp.special.nbdtrc(1.0, 4.0, xp.asarray([0.5, 0.999]))
    Array([8.125000e-01, 9.980015e-06], dtype=float64, device='cpu')
    """
    return elementwise(op["nbdtrc"], (k, n, p), out)


@ternary_operator
def nbdtri(k: Any, n: Any, q: Any, /, *, out: Any = None) -> Any:
    """The inverse of `nbdtr` by its third operand: the probability of a success.

    Parameters
    ----------
    k : array or scalar
        The number of failures, rounded down.
    n : array or scalar
        The number of successes, an integer.
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
    >>> xp.special.nbdtri(1.0, 4.0, xp.asarray([0.1, 0.5]))
    Array([0.41610963, 0.68618983], dtype=float64, device='cpu')
    """
    return elementwise(op["nbdtri"], (k, n, q), out)
