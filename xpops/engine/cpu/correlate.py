"""Correlation and convolution of vectors on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import WIDENED, assign, cast
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def correlate(a: Layout, v: Layout, out: Layout, convolves: bool, mode: str) -> Kernel:
    """See `xpops.engine.signals.Signals.correlate`."""
    function: Any = np.convolve if convolves else np.correlate
    wide = WIDENED.get(out.dtype, out.dtype)

    def kernel(stream: int, out: NDArray, a: NDArray, v: NDArray) -> None:
        assign(out, quietly(function, cast(a, wide), cast(v, wide), mode))

    return kernel
