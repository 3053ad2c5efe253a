"""Fourier transforms by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def fft(x: Layout, out: Layout, axes: tuple[int, ...], kind: str) -> Kernel:
    """See `xpops.engine.protocol.Engine.fft`."""
    lengths = tuple((out if kind == "irfft" else x).shape[axis] for axis in axes)
    unscaled = "forward" if kind in ("ifft", "irfft") else "backward"
    function = getattr(np.fft, f"{kind}n")

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        with np.errstate(all="ignore"):
            function(x, lengths, axes, unscaled, out=out)

    return kernel
