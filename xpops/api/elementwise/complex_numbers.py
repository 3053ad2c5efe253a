"""Elementwise parts of complex numbers."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import unary_operator
from xpops.dispatch import unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["conj", "imag", "real"]


@unary_operator
def conj(x: Any, /, *, out: Any = None) -> Any:
    """The complex conjugates. Real elements do not change.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.conj(xp.asarray([1 + 2j]))
    Array([1.-2.j], dtype=complex128, device='cpu')
    """
    return unary(op["conj"], x, out)


@unary_operator
def imag(x: Any, /, *, out: Any = None) -> Any:
    """The imaginary parts; 0 for real elements.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`; float32 or float64 for complex64 or complex128.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.imag(xp.asarray([1 + 2j]))
    Array([2.], dtype=float64, device='cpu')
    """
    return unary(op["imag"], x, out)


@unary_operator
def real(x: Any, /, *, out: Any = None) -> Any:
    """The real parts.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`; float32 or float64 for complex64 or complex128.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If `out` does not fit or is read-only.

    Examples
    --------
    >>> xp.real(xp.asarray([1 + 2j]))
    Array([1.], dtype=float64, device='cpu')
    """
    return unary(op["real"], x, out)
