"""Utility functions of the standard that reduce."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function
from xpops.core.operands import Axes
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.reduction import REDUCTIONS as op

__all__ = ["all", "any"]


@array_function
def all(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Whether all elements are true (not 0); True where there is nothing.

    Parameters
    ----------
    x : array
        Any dtype but float8. NaN is true.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        bool.

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
    >>> xp.all(xp.asarray([[1, 2], [0, 4]]), axis=1)
    Array([ True, False], dtype=bool, device='cpu')
    """
    return unary(reduction, "all", x, op["all"], axis, keepdims, None, 0.0)


@array_function
def any(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Whether any element is true (not 0); False where there is nothing.

    Parameters
    ----------
    x : array
        Any dtype but float8. NaN is true.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        bool.

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
    >>> xp.any(xp.asarray([[0, 0], [0, 4]]), axis=1)
    Array([False,  True], dtype=bool, device='cpu')
    """
    return unary(reduction, "any", x, op["any"], axis, keepdims, None, 0.0)
