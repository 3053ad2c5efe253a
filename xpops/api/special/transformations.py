"""Transformations of data, and products with logarithms."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import binary_operator
from xpops.dispatch import binary
from xpops.ops.special import SPECIAL as op

__all__ = ["boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p", "xlog1py", "xlogy"]


@binary_operator
def boxcox(x: Any, lmbda: Any, /, *, out: Any = None) -> Any:
    """The Box-Cox transformation, ``(x**lmbda - 1) / lmbda``; ``log(x)`` if `lmbda` is 0.

    Parameters
    ----------
    x : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    lmbda : array or scalar
        The power.
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
    >>> xp.special.boxcox(xp.asarray([2.0, 4.0]), 0.5)
    Array([0.82842712, 2.        ], dtype=float64, device='cpu')
    """
    return binary(op["boxcox"], x, lmbda, out)


@binary_operator
def boxcox1p(x: Any, lmbda: Any, /, *, out: Any = None) -> Any:
    """The Box-Cox transformation of ``1 + x``.

    Parameters
    ----------
    x : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    lmbda : array or scalar
        The power.
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
    >>> xp.special.boxcox1p(xp.asarray([1.0, 3.0]), 0.5)
    Array([0.82842712, 2.        ], dtype=float64, device='cpu')
    """
    return binary(op["boxcox1p"], x, lmbda, out)


@binary_operator
def inv_boxcox(x: Any, lmbda: Any, /, *, out: Any = None) -> Any:
    """The inverse of `boxcox`, ``(1 + lmbda * x)**(1 / lmbda)``.

    Parameters
    ----------
    x : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    lmbda : array or scalar
        The power.
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
    >>> xp.special.inv_boxcox(xp.asarray([1.0, 2.0]), 0.5)
    Array([2.25, 4.  ], dtype=float64, device='cpu')
    """
    return binary(op["inv_boxcox"], x, lmbda, out)


@binary_operator
def inv_boxcox1p(x: Any, lmbda: Any, /, *, out: Any = None) -> Any:
    """The inverse of `boxcox1p`.

    Parameters
    ----------
    x : array or scalar
        Real floating-point. Half types are computed in float32, and rounded once. Integers and booleans become
        float64.
    lmbda : array or scalar
        The power.
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
    >>> xp.special.inv_boxcox1p(xp.asarray([1.0, 2.0]), 0.5)
    Array([1.25, 3.  ], dtype=float64, device='cpu')
    """
    return binary(op["inv_boxcox1p"], x, lmbda, out)


@binary_operator
def xlogy(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``x1 * log(x2)``, and 0 where `x1` is 0.

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
    >>> xp.special.xlogy(xp.asarray([0.0, 2.0]), xp.asarray([0.0, 3.0]))
    Array([0.        , 2.19722458], dtype=float64, device='cpu')
    """
    return binary(op["xlogy"], x1, x2, out)


@binary_operator
def xlog1py(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``x1 * log1p(x2)``, and 0 where `x1` is 0.

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
    >>> xp.special.xlog1py(xp.asarray([0.0, 2.0]), xp.asarray([-1.0, 1e-10]))
    Array([0.e+00, 2.e-10], dtype=float64, device='cpu')
    """
    return binary(op["xlog1py"], x1, x2, out)
