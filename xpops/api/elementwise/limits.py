"""Elementwise maximum, minimum and clipping."""

from __future__ import annotations

from typing import Any

from xpops.api.data_types import result_type
from xpops.api.signatures import binary_operator, clip_operator
from xpops.dispatch import binary, elementwise, unary
from xpops.dispatch.steady import known, known_write
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["clip", "maximum", "minimum"]


@clip_operator
def clip(x: Any, /, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """The elements, limited to ``[min, max]``; NaN if the element or a bound is NaN.

    Parameters
    ----------
    x : array
        Real-valued.
    min, max : array or scalar, optional
        Bounds that promote to the dtype of `x`; None means no bound. They broadcast with `x`.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not real-valued, or a bound does not promote to its dtype.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.clip(xp.asarray([1, 5, 9]), 2, 8)
    Array([2, 5, 8], dtype=int64, device='cpu')
    """
    if min is not None and max is not None:  # the dtypes of a remembered call were checked before
        if out is not None and known_write(op["clip"], (x, min, max), out):
            return out
        result = known(op["clip"], (x, min, max)) if out is None else None
        if result is not None:
            return result
    for name, end in (("min", min), ("max", max)):
        if end is not None and (found := result_type(x, end)) != (dtype := result_type(x)):
            raise TypeError(f"clip: x has dtype {dtype}, to which {name} does not promote (together: {found})")
    if min is None:
        return unary(op["positive"], x, out) if max is None else binary(op["minimum"], x, max, out)
    return binary(op["maximum"], x, min, out) if max is None else elementwise(op["clip"], (x, min, max), out)


@binary_operator
def maximum(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The larger of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.maximum(xp.asarray([1, 5]), 3)
    Array([3, 5], dtype=int64, device='cpu')
    """
    return binary(op["maximum"], x1, x2, out)


@binary_operator
def minimum(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The smaller of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices; if `out` does not fit or is read-only.
    OverflowError
        If a Python integer is out of range for the dtype.

    Examples
    --------
    >>> xp.minimum(xp.asarray([1, 5]), 3)
    Array([1, 3], dtype=int64, device='cpu')
    """
    return binary(op["minimum"], x1, x2, out)
