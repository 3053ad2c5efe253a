"""Softmax on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def softmax(x: Layout, axis: int, out: Layout, log: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.softmax`."""
    wide = WIDENED.get(x.dtype, x.dtype)

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        with np.errstate(all="ignore"):
            below, low = _difference(x.astype(np.float64, copy=False), np.max(x, axis=axis, keepdims=True))
            weights = np.exp(below)
            weights += weights * np.where(np.isfinite(below), low, 0)
            total = _total(weights, axis)
            result = below - _logarithm(below, weights, total, axis) if log else weights / total
            out[...] = cast(result.astype(wide, copy=False), out.dtype)

    return kernel


def _total(x: NDArray, axis: int) -> NDArray:
    """The pairwise sum along an axis. NumPy adds pairwise only along a contiguous axis, so move it last."""
    return np.expand_dims(np.sum(np.ascontiguousarray(np.moveaxis(x, axis, -1)), axis=-1), axis)


def _logarithm(below: NDArray, weights: NDArray, total: NDArray, axis: int) -> NDArray:
    """The logarithm of the total. For a total below 2, log1p of the weights that are not the largest: more accurate."""
    rest = _total(np.where(below == 0, 0, weights), axis)
    return np.where(total < 2, np.log1p(rest), np.log(total))


def _difference(x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """The difference and its rounding error (Knuth's two-sum), which would be visible in small results."""
    found = x - y
    back = found - x
    return found, (x - (found - back)) - (y + back)
