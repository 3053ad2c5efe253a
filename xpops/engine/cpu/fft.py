"""Fourier transforms by NumPy; of single precision by SciPy, if it is installed: it takes a third of the time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def fft(x: Layout, out: Layout, axes: tuple[int, ...], kind: str) -> Kernel:
    """See `xpops.engine.protocol.Engine.fft`."""
    lengths = tuple((out if kind == "irfft" else x).shape[axis] for axis in axes)
    unscaled = "forward" if kind in ("ifft", "irfft") else "backward"
    by_scipy = _scipy_fft() if x.dtype in (dt.float32, dt.complex64) else None
    function = getattr(by_scipy or np.fft, f"{kind}n")

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        with np.errstate(all="ignore"):
            if by_scipy:
                out[...] = function(x, lengths, axes, unscaled)
            else:
                function(x, lengths, axes, unscaled, out=out)

    return kernel


def _scipy_fft() -> Any:
    """SciPy's module; None if it is not installed."""
    try:
        return import_module("scipy.fft")
    except ImportError:
        return None
