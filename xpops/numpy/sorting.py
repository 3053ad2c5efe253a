"""Sorting and searching."""

from __future__ import annotations

from typing import Any

from xpops.api import searching
from xpops.api import sorting as _sorting
from xpops.api.indexing import take_along_axis
from xpops.api.manipulation.joining import stack
from xpops.api.manipulation.shapes import reshape
from xpops.numpy.arguments import arrays_of, given, on_arrays
from xpops.numpy.elementwise import truth
from xpops.numpy.reductions import line

__all__ = [
    "argpartition", "argsort", "argwhere", "extract", "flatnonzero", "lexsort", "nonzero", "partition",
    "searchsorted", "sort", "where",
]  # fmt: skip


def sort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """As `numpy.sort`; always stable."""
    x, along = line(a, axis)
    return _sorting.sort(x, axis=along)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """As `numpy.argsort`; always stable."""
    x, along = line(a, axis)
    return _sorting.argsort(x, axis=along)


def partition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    """As `numpy.partition`: a sort, which is a partition for every `kth`."""
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    """As `numpy.argpartition`: a sort, which is a partition for every `kth`."""
    return argsort(a, axis)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """As `numpy.lexsort`: one stable sort for each key; the last one counts first."""
    keys = arrays_of(keys)
    order = _sorting.argsort(keys[0], axis=axis)
    for key in keys[1:]:
        again = _sorting.argsort(take_along_axis(key, order, axis=axis), axis=axis)
        order = take_along_axis(order, again, axis=axis)
    return order


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """As `numpy.searchsorted`."""
    a, v = arrays_of((a, v))
    return searching.searchsorted(a, v, side=side, sorter=sorter)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """As `numpy.where`: a choice, or with the condition alone `nonzero`, which waits for the device."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise TypeError("where: one of x and y is missing; accepted: both or none")
    condition, x, y = arrays_of((condition, x, y))
    return searching.where(truth(condition), x, y)


def nonzero(a: Any) -> tuple[Any, ...]:
    """As `numpy.nonzero`. Waits for the device, which counts the elements."""
    found: tuple[Any, ...] = searching.nonzero(given(a))
    return found


def flatnonzero(a: Any) -> Any:
    """As `numpy.flatnonzero`. Waits for the device, which counts the elements."""
    return searching.nonzero(reshape(given(a), (-1,)))[0]


def argwhere(a: Any) -> Any:
    """As `numpy.argwhere`. Waits for the device, which counts the elements."""
    return stack(searching.nonzero(given(a)), axis=1)


@on_arrays(2)
def extract(condition: Any, arr: Any) -> Any:
    """As `numpy.extract`. Waits for the device, which counts the elements."""
    return reshape(arr, (-1,))[reshape(truth(condition), (-1,))]
