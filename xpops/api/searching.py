"""Searching functions of the standard."""

from __future__ import annotations

import operator
from typing import Any

from xpops.dispatch import elementwise
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.elementwise import OPERATORS as op
from xpops.ops.reduction import REDUCTIONS

__all__ = ["argmax", "argmin", "count_nonzero", "where"]


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The positions of the greatest elements: of the first one among equals, and of the first NaN if there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int, optional
        By default the position is in the flattened array, in the order of C.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If there is nothing to reduce.

    Examples
    --------
    >>> xp.argmax(xp.asarray([[1, 5], [7, 3]]), axis=1)
    Array([1, 0], dtype=int64, device='cpu')
    """
    return unary(reduction, "argmax", x, REDUCTIONS["argmax"], _one_axis(axis, "argmax"), keepdims, None, 0.0)


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The positions of the least elements: of the first one among equals, and of the first NaN if there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int, optional
        By default the position is in the flattened array, in the order of C.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If there is nothing to reduce.

    Examples
    --------
    >>> xp.argmin(xp.asarray([[1, 5], [7, 3]]), axis=1)
    Array([0, 1], dtype=int64, device='cpu')
    """
    return unary(reduction, "argmin", x, REDUCTIONS["argmin"], _one_axis(axis, "argmin"), keepdims, None, 0.0)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The numbers of elements that are not 0.

    Parameters
    ----------
    x : array
        Any dtype but float8. NaN is not 0.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.count_nonzero(xp.asarray([[0, 2], [3, 4]]), axis=1)
    Array([1, 2], dtype=int64, device='cpu')
    """
    return unary(reduction, "count_nonzero", x, REDUCTIONS["count_nonzero"], axis, keepdims, None, 0.0)


def where(condition: Any, x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The elements of `x1` where a condition holds, of `x2` elsewhere.

    Parameters
    ----------
    condition : array
        bool.
    x1, x2 : array or scalar
        Any dtype but float8. They broadcast with `condition`.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If `condition` is not boolean, or `x1` and `x2` have no common dtype.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0)
    Array([1, 0], dtype=int64, device='cpu')
    """
    return elementwise(op["where"], (condition, x1, x2), out)


def _one_axis(axis: Any, function: str) -> int | None:
    """An axis that may not be several."""
    if axis is None or isinstance(axis, int):
        return axis
    try:
        return operator.index(axis)
    except TypeError:
        raise TypeError(f"{function}: axis is {axis!r}; accepted: an integer or None") from None
