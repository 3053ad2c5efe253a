"""Nearest-neighbour upsampling of images on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import ACCUMULATED, assign, cast
from xpops.engine.program import Kernel
from xpops.plan.upsample import Axis

NDArray = np.ndarray[Any, Any]


def upsample(x: Layout, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.upsample`."""
    rows, columns = (axis.sources() for axis in axes)
    small = tuple(axis.before for axis in axes)
    large = tuple(axis.after for axis in axes)
    from_rows, from_columns = map(_contributions, (rows, columns), small) if backward else ([], [])
    wide = ACCUMULATED.get(x.dtype, x.dtype)

    def forward(stream: int, out: NDArray, x: NDArray) -> None:
        stretched = _taken(x.reshape(-1, *small, words), columns, 2)
        np.take(stretched, rows, 1, out.reshape(-1, *large, words), mode="clip")

    def gradient(stream: int, out: NDArray, x: NDArray) -> None:
        images = x.reshape(-1, *large, words)
        sums = _sums(_sums(images, 1, small[0], from_rows, wide), 2, small[1], from_columns, wide)
        assign(out, sums.reshape(out.shape))

    return gradient if backward else forward


def _taken(x: NDArray, places: NDArray, axis: int) -> NDArray:
    """The elements at places within the axis. Without a check of each place, NumPy takes them faster."""
    return np.take(x, places, axis, mode="clip")


def _contributions(sources: NDArray, length: int) -> list[tuple[NDArray, NDArray | None]]:
    """The first elements that came from each of `length` places, the second elements, and so on.

    Each with the places that have such an element; None: all have. `sources` must be sorted.
    """
    counts = np.bincount(sources, minlength=length)
    starts = np.cumsum(counts) - counts
    chosen = [np.flatnonzero(counts > number) for number in range(counts.max())]
    return [(starts[each] + n, None if each.size == length else each) for n, each in enumerate(chosen)]


def _sums(x: NDArray, axis: int, length: int, contributions: list[tuple[NDArray, NDArray | None]], dtype: DType) -> Any:
    """Sum along an axis the elements that came from each of `length` places."""
    result = np.zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), dtype)
    for elements, places in contributions:
        terms = cast(_taken(x, elements, axis), dtype)
        if places is None:
            result += terms
        else:
            index: Any = (slice(None),) * axis + (places,)
            result[index] += terms
    return result
