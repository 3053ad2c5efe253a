"""Counts of integers, and of numbers in bins, on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.engine.program import Kernel, Measure, Program
from xpops.plan.histogram import EqualBins, bins_for

NDArray = np.ndarray[Any, Any]


def bincount(x: Layout, minlength: int) -> Measure:
    """See `xpops.engine.protocol.Engine.bincount`."""

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        out[...] = np.bincount(x.astype(np.int64), minlength=out.size)

    def measure(stream: int, x: NDArray) -> Program:
        wide: NDArray = x if x.dtype == dt.uint64 else x.astype(np.int64).view(np.uint64)
        length = bins_for(int(wide.max()) if x.size else -1, minlength, x.dtype)
        return Program((layout_of(dt.int64, (length,), None, CPU),), kernel)

    return measure


def histogram(x: Layout, bins: EqualBins) -> Kernel:
    """See `xpops.engine.protocol.Engine.histogram`."""
    ends = bins.first, bins.last

    def kernel(stream: int, counts: NDArray, edges: NDArray, x: NDArray) -> None:
        with np.errstate(all="ignore"):
            counts[...], edges[...] = np.histogram(x, bins.edges.size - 1, ends)

    return kernel
