"""Arrays as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from xpops.arrays.array import Array

# NumPy prints three elements at each end of a long axis. It prints "..." only if at least one more is between them.
_EDGE = 3


def to_text(x: Array, separator: str = " ", prefix: str = "") -> str:
    """The elements of `x` as NumPy prints them. If `x` is large, only the ends of its axes are read."""
    if x.size <= np.get_printoptions()["threshold"]:
        return np.array2string(x.to_numpy(), separator=separator, prefix=prefix)
    return np.array2string(_ends(x), separator=separator, prefix=prefix, threshold=0, edgeitems=_EDGE)


def _ends(x: Array) -> np.ndarray[Any, Any]:
    for axis, length in enumerate(x.shape):
        if length > 2 * _EDGE + 1:
            before = (slice(None),) * axis
            head, tail = x[(*before, slice(_EDGE + 1))], x[(*before, slice(-_EDGE, None))]
            return np.concatenate([_ends(head), _ends(tail)], axis)
    return x.to_numpy()
