"""Softmax on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.layouts import Layout
from xpops.engine.cpu.blocks import BLOCK, blocks, line_blocks
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.reduce import pairwise
from xpops.engine.cpu.rounding import SINGLE, WIDENED, assign, buffer_of, cast
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def softmax(x: Layout, axis: int, out: Layout, log: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.softmax`."""
    if is_compiled(x, out):
        return _compiled(axis, log)
    layout, lengths = x, line_blocks(x, axis, BLOCK)
    narrow, others = WIDENED.get(x.dtype, x.dtype), tuple(other for other in range(x.ndim) if other != axis)

    def lines(x: NDArray) -> NDArray:
        wide = cast(x, dt.float64)
        top = np.max(wide, axis=axis, keepdims=True)
        below: NDArray = wide - top
        weights: NDArray = np.exp(below)
        if x.dtype == dt.float64:
            weights += weights * np.where(np.isfinite(below), _lost(wide, top, below), 0)
        total = _total(weights, axis)
        if log:
            below -= _logarithm(below, weights, total, axis)
            return below
        weights *= 1 / total
        return weights

    def run(out: NDArray, x: NDArray) -> None:
        for key in blocks(layout, lengths, others):
            assign(out[key], lines(x[key]).astype(narrow, copy=False))

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        quietly(run, out, x)

    return kernel


def is_compiled(x: Layout, out: Layout) -> bool:
    """Whether the compiled core computes a call, without temporary arrays."""
    return compiled is not None and {x.dtype, out.dtype} <= SINGLE


def _compiled(axis: int, log: bool) -> Kernel:
    assert compiled is not None
    run = compiled.softmax

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        run(log, buffer_of(np.moveaxis(out, axis, -1)), buffer_of(np.moveaxis(x, axis, -1)))

    return kernel


def _total(x: NDArray, axis: int) -> NDArray:
    return pairwise(np.add, x, (axis,), x.dtype)


def _logarithm(below: NDArray, weights: NDArray, total: NDArray, axis: int) -> NDArray:
    """The logarithm of the total. For a total below 2, log1p of the weights that are not the largest: more accurate."""
    result: NDArray = np.log(total)
    small = total < 2
    if small.any():
        np.copyto(result, np.log1p(_total(weights * (below != 0), axis)), where=small)
    return result


def _lost(x: NDArray, y: NDArray, difference: NDArray) -> NDArray:
    """The rounding error of ``x - y`` (Knuth's two-sum), which would be visible in small results."""
    back = difference - x
    lost: NDArray = (x - (difference - back)) - (y + back)
    return lost
