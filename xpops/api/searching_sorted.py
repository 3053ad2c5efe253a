"""Searching in sorted arrays."""

from __future__ import annotations

from typing import Any

from xpops.dispatch import sorting
from xpops.dispatch.primitives import compute

__all__ = ["searchsorted"]

_SIDES = {"left": False, "right": True}


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The indices at which elements belong in a sorted array.

    Parameters
    ----------
    x1 : array
        One-dimensional, real-valued, in ascending order as `sort` makes it: NaN last.
    x2 : array or scalar
        Real-valued.
    side : {"left", "right"}
        Whether the index is that of the first element that is not less, or of the first that is greater. -0.0 equals
        0.0, and NaN equals NaN.
    sorter : array, optional
        Integers that sort `x1`, as `argsort` gives them. Those out of range raise IndexError on the CPU; on a GPU they
        are taken for the nearest that is not.

    Returns
    -------
    array
        int64, of the shape of `x2`.

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If `side` is neither, or `x1` does not have one axis, or `sorter` has not its shape.

    Examples
    --------
    >>> xp.searchsorted(xp.asarray([1, 3, 3, 5]), xp.asarray([3, 9]), side="right")
    Array([3, 4], dtype=int64, device='cpu')
    """
    if side not in _SIDES:
        raise ValueError(f"searchsorted: side is {side!r}; accepted: 'left', 'right'")
    names, arguments = ("x1", "x2", "sorter"), (x1, x2, sorter)
    given = 2 if sorter is None else 3
    return compute(sorting.searchsorted, "searchsorted", names[:given], arguments[:given], _SIDES[side])
