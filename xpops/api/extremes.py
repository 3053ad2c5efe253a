"""The larger and the smaller: of two arrays by element, and along axes."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function, binary_operator
from xpops.core.operands import Axes
from xpops.dispatch import binary
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.elementwise import OPERATORS
from xpops.ops.reduction import REDUCTIONS

__all__ = ["max", "maximum", "min", "minimum"]


@array_function
def max(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The greatest elements; NaN where there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or there is nothing to reduce.

    Examples
    --------
    >>> xp.max(xp.asarray([[1, 5], [7, 3]]), axis=0)
    Array([7, 5], dtype=int64, device='cpu')
    """
    return unary(reduction, "max", x, REDUCTIONS["max"], axis, keepdims, None, 0.0)


@binary_operator
def maximum(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The larger of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.maximum(xp.asarray([1, 5]), 3)
    Array([3, 5], dtype=int64, device='cpu')
    """
    return binary(OPERATORS["maximum"], x1, x2, out)


@array_function
def min(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The least elements; NaN where there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or there is nothing to reduce.

    Examples
    --------
    >>> xp.min(xp.asarray([[1, 5], [7, 3]]), axis=0)
    Array([1, 3], dtype=int64, device='cpu')
    """
    return unary(reduction, "min", x, REDUCTIONS["min"], axis, keepdims, None, 0.0)


@binary_operator
def minimum(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The smaller of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.minimum(xp.asarray([1, 5]), 3)
    Array([1, 3], dtype=int64, device='cpu')
    """
    return binary(OPERATORS["minimum"], x1, x2, out)
