"""Nearest-neighbour upsampling of images on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import ACCUMULATED, assign
from xpops.engine.program import Kernel
from xpops.plan.upsample import Axis

NDArray = np.ndarray[Any, Any]


def upsample(x: Layout, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.upsample`."""
    rows, columns = (axis.sources() for axis in axes)
    small = tuple(axis.before for axis in axes)
    large = tuple(axis.after for axis in axes)
    wide = ACCUMULATED.get(x.dtype, x.dtype)

    def forward(stream: int, out: NDArray, x: NDArray) -> None:
        images = x.reshape(-1, *small, words)
        out[...] = images[:, rows[:, None], columns].reshape(out.shape)

    def gradient(stream: int, out: NDArray, x: NDArray) -> None:
        images = x.reshape(-1, *large, words)
        sums = _sums(_sums(images, 1, rows, small[0], wide), 2, columns, small[1], wide)
        assign(out, sums.reshape(out.shape))

    return gradient if backward else forward


def _sums(x: NDArray, axis: int, sources: NDArray, length: int, dtype: DType) -> NDArray:
    """Sum along an axis the elements that came from each of `length` places. `sources` must be sorted."""
    result = np.zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), dtype)
    used, starts = np.unique(sources, return_index=True)
    index: Any = (slice(None),) * axis + (used,)
    result[index] = np.add.reduceat(x, starts, axis=axis, dtype=dtype)
    return result
