"""Elementwise rounding and clipping."""

from __future__ import annotations

from typing import Any

from xpops.api.data_types import result_type
from xpops.api.signatures import clip_operator, unary_operator
from xpops.dispatch import binary, elementwise, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = [
    "ceil",
    "clip",
    "floor",
    "round",
    "trunc",
]


@unary_operator
def ceil(x: Any, /, *, out: Any = None) -> Any:
    """The least integers not less than the elements, in their own dtype.

    Parameters
    ----------
    x : array
        Real-valued.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not real-valued.

    Examples
    --------
    >>> xp.ceil(xp.asarray([1.5, -1.5]))
    Array([ 2., -1.], dtype=float64, device='cpu')
    """
    return unary(op["ceil"], x, out)


@clip_operator
def clip(x: Any, /, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """The elements, moved to the nearer end where they are outside ``[min, max]``; NaN if any of the three is NaN.

    Parameters
    ----------
    x : array
        Real-valued.
    min, max : array or scalar, optional
        Ends that promote to the dtype of `x`; None is no end. They broadcast with `x`.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not real-valued, or an end does not promote to its dtype.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.clip(xp.asarray([1, 5, 9]), 2, 8)
    Array([2, 5, 8], dtype=int64, device='cpu')
    """
    for name, end in (("min", min), ("max", max)):
        if end is not None and (found := result_type(x, end)) != (dtype := result_type(x)):
            raise TypeError(f"clip: x has dtype {dtype}, to which {name} does not promote (together: {found})")
    if min is None:
        return unary(op["positive"], x, out) if max is None else binary(op["minimum"], x, max, out)
    return binary(op["maximum"], x, min, out) if max is None else elementwise(op["clip"], (x, min, max), out)


@unary_operator
def floor(x: Any, /, *, out: Any = None) -> Any:
    """The greatest integers not greater than the elements, in their own dtype.

    Parameters
    ----------
    x : array
        Real-valued.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not real-valued.

    Examples
    --------
    >>> xp.floor(xp.asarray([1.5, -1.5]))
    Array([ 1., -2.], dtype=float64, device='cpu')
    """
    return unary(op["floor"], x, out)


@unary_operator
def round(x: Any, /, *, out: Any = None) -> Any:
    """The nearest integers, halves to the even one, in the elements' own dtype; of complex elements, part by part.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.round(xp.asarray([0.5, 1.5, -2.5]))
    Array([ 0.,  2., -2.], dtype=float64, device='cpu')
    """
    return unary(op["round"], x, out)


@unary_operator
def trunc(x: Any, /, *, out: Any = None) -> Any:
    """The elements without what follows the point, in their own dtype.

    Parameters
    ----------
    x : array
        Real-valued.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not real-valued.

    Examples
    --------
    >>> xp.trunc(xp.asarray([1.5, -1.5]))
    Array([ 1., -1.], dtype=float64, device='cpu')
    """
    return unary(op["trunc"], x, out)
