"""The greatest and the least elements along axes."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function
from xpops.core.operands import Axes
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.reduction import REDUCTIONS

__all__ = ["max", "min"]


@array_function
def max(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The greatest elements; NaN if there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
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
        If an axis is named twice, or an axis to reduce has no elements.

    Examples
    --------
    >>> xp.max(xp.asarray([[1, 5], [7, 3]]), axis=0)
    Array([7, 5], dtype=int64, device='cpu')
    """
    return unary(reduction, "max", x, REDUCTIONS["max"], axis, keepdims, None, 0.0)


@array_function
def min(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The least elements; NaN if there is one.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
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
        If an axis is named twice, or an axis to reduce has no elements.

    Examples
    --------
    >>> xp.min(xp.asarray([[1, 5], [7, 3]]), axis=0)
    Array([1, 3], dtype=int64, device='cpu')
    """
    return unary(reduction, "min", x, REDUCTIONS["min"], axis, keepdims, None, 0.0)
