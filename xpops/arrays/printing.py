"""Arrays as text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

# Returns the elements of a part of an array: a slice for each of the first axes gives a part, () the whole array.
Read = Callable[[tuple[slice, ...]], np.ndarray[Any, Any]]

# NumPy prints three elements at each end of a long axis. It prints "..." only if at least one more is between them.
_EDGE = 3


def to_text(shape: tuple[int, ...], read: Read, separator: str = " ", prefix: str = "") -> str:
    """The elements of an array as NumPy prints them. If the array is large, only the ends of its axes are read."""
    if math.prod(shape) <= np.get_printoptions()["threshold"]:
        return np.array2string(read(()), separator=separator, prefix=prefix)
    return np.array2string(
        _read_ends(shape, read, ()), separator=separator, prefix=prefix, threshold=0, edgeitems=_EDGE
    )


def _read_ends(shape: tuple[int, ...], read: Read, key: tuple[slice, ...]) -> np.ndarray[Any, Any]:
    """The part `key`, without the middle of the long ones of the other axes."""
    axis = len(key)
    if axis == len(shape):
        return read(key)
    if shape[axis] <= 2 * _EDGE + 1:
        return _read_ends(shape, read, (*key, slice(None)))
    ends = slice(_EDGE + 1), slice(-_EDGE, None)
    return np.concatenate([_read_ends(shape, read, (*key, end)) for end in ends], axis)
