"""Sorting functions of the standard."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function
from xpops.dispatch import sorting
from xpops.dispatch.keys import Fixed
from xpops.dispatch.primitives import unary

__all__ = ["argsort", "sort"]

_VALUES, _INDICES = Fixed(("values",)), Fixed(("indices",))


@array_function
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The indices that sort an array along an axis.

    Parameters
    ----------
    x : array
        Real-valued or bool.
    axis : int
    descending : bool
        Whether the largest comes first. NaN comes last either way.
    stable : bool
        Has no effect: equal elements always keep their order.

    Returns
    -------
    array
        int64, of the shape of `x`. -0.0 counts as less than 0.0.

    Raises
    ------
    TypeError
        If `x` is complex or float8.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.argsort(xp.asarray([3, 1, 2, 1]))
    Array([1, 3, 2, 0], dtype=int64, device='cpu')
    """
    return unary(sorting.sort, "argsort", x, "argsort", _INDICES, axis, bool(descending))


@array_function
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements of an array, sorted along an axis.

    Parameters
    ----------
    x : array
        Real-valued or bool.
    axis : int
    descending : bool
        Whether the largest comes first. NaN comes last either way.
    stable : bool
        Has no effect: equal elements always keep their order.

    Returns
    -------
    array
        Of the dtype and shape of `x`. -0.0 counts as less than 0.0.

    Raises
    ------
    TypeError
        If `x` is complex or float8.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.sort(xp.asarray([[3, 1], [2, 4]]), descending=True)
    Array([[3, 1],
           [4, 2]], dtype=int64, device='cpu')
    """
    return unary(sorting.sort, "sort", x, "sort", _VALUES, axis, bool(descending))
