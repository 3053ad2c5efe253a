"""The zeta function, and the derivatives of the logarithm of gamma."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function, binary_operator, unary_operator
from xpops.dispatch import binary, unary
from xpops.ops.special import SPECIAL as op

__all__ = ["digamma", "polygamma", "psi", "zeta", "zetac"]


@binary_operator
def polygamma(n: Any, x: Any, /, *, out: Any = None) -> Any:
    """The `n`-th derivative of `psi`.

    Parameters
    ----------
    n : array or scalar
        The order, an integer that is not negative.
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
    >>> xp.special.polygamma(1, xp.asarray([1.0, 2.5]))
    Array([1.64493407, 0.49035776], dtype=float64, device='cpu')
    """
    return binary(op["polygamma"], n, x, out)


@unary_operator
def psi(x: Any, /, *, out: Any = None) -> Any:
    """The logarithmic derivative of the gamma function. `digamma` is the same function.

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
    >>> xp.special.psi(xp.asarray([1.0, 10.0]))
    Array([-0.57721566,  2.25175259], dtype=float64, device='cpu')
    """
    return unary(op["psi"], x, out)


@unary_operator
def zetac(x: Any, /, *, out: Any = None) -> Any:
    """The Riemann zeta function minus 1.

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
    >>> xp.special.zetac(xp.asarray([2.0, 50.0]))
    Array([6.44934067e-01, 8.88178421e-16], dtype=float64, device='cpu')
    """
    return unary(op["zetac"], x, out)


@array_function
def zeta(x: Any, /, q: Any = None, *, out: Any = None) -> Any:
    """The Hurwitz zeta function, the sum of ``(q + k)**-x`` over all k from 0; without `q` that of Riemann.

    Parameters
    ----------
    x : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become float64.
        With `q`, NaN is the result where `x` is less than 1.
    q : array or scalar, optional
        As `x`. Without it, `x` is an array.
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
    >>> xp.special.zeta(xp.asarray([2.0, 4.0]))
    Array([1.64493407, 1.08232323], dtype=float64, device='cpu')
    """
    return unary(op["riemann_zeta"], x, out) if q is None else binary(op["zeta"], x, q, out)


digamma = psi
