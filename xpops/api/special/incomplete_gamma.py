"""The incomplete gamma functions and their inverses."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator
from xpops.dispatch import binary
from xpops.ops.special import SPECIAL as op

__all__ = ["gammainc", "gammaincc", "gammainccinv", "gammaincinv"]


@binary_operator
def gammainc(a: Any, x: Any, /, *, out: Any = None) -> Any:
    """The regularized lower incomplete gamma function.

    Parameters
    ----------
    a : array or scalar
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
    >>> xp.special.gammainc(2.0, xp.asarray([0.5, 3.0]))
    Array([0.09020401, 0.80085173], dtype=float64, device='cpu')
    """
    return binary(op["gammainc"], a, x, out)


@binary_operator
def gammaincc(a: Any, x: Any, /, *, out: Any = None) -> Any:
    """The regularized upper incomplete gamma function, ``1 - gammainc(a, x)``.

    Parameters
    ----------
    a : array or scalar
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
    >>> xp.special.gammaincc(2.0, xp.asarray([0.5, 50.0]))
    Array([9.09795990e-01, 9.83662422e-21], dtype=float64, device='cpu')
    """
    return binary(op["gammaincc"], a, x, out)


@binary_operator
def gammaincinv(a: Any, p: Any, /, *, out: Any = None) -> Any:
    """The inverse of `gammainc` by its second operand.

    Parameters
    ----------
    a : array or scalar
        The shape.
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
    >>> xp.special.gammaincinv(2.0, xp.asarray([0.1, 0.5]))
    Array([0.53181161, 1.67834699], dtype=float64, device='cpu')
    """
    return binary(op["gammaincinv"], a, p, out)


@binary_operator
def gammainccinv(a: Any, q: Any, /, *, out: Any = None) -> Any:
    """The inverse of `gammaincc` by its second operand.

    Parameters
    ----------
    a : array or scalar
        The shape.
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
    >>> xp.special.gammainccinv(2.0, xp.asarray([1e-20, 0.5]))
    Array([49.98319799,  1.67834699], dtype=float64, device='cpu')
    """
    return binary(op["gammainccinv"], a, q, out)
