"""Scans on NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.protocol import Kernel
from xpops.ops.scan import Scan

if TYPE_CHECKING:
    from xpops.engine.cpu.engine import CpuEngine

NDArray = np.ndarray[Any, Any]


def scan(engine: CpuEngine, op: Scan, x: Layout, axis: int, out: Layout, initial: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.scan`."""
    wide = WIDENED.get(out.dtype, out.dtype)

    def kernel(stream: int, out: NDArray, x: NDArray, gamma: float = 0.0) -> None:
        with np.errstate(all="ignore"):
            target, elements = np.moveaxis(out, axis, 0), cast(x, out.dtype).astype(wide, copy=False)
            if initial:
                target[0] = op.initial
            elements = np.moveaxis(elements, axis, 0)
            target[int(initial) :] = cast(_scanned(op, elements, gamma), out.dtype)

    return kernel


def _scanned(op: Scan, x: NDArray, gamma: float) -> NDArray:
    """The scan along the first axis."""
    if op.name == "cumulative_sum":
        return np.cumsum(x, axis=0, dtype=x.dtype)
    if op.name == "cumulative_prod":
        return np.cumprod(x, axis=0, dtype=x.dtype)
    result, factor = x.copy(), x.dtype.type(gamma)
    for place in reversed(range(len(x) - 1)):
        result[place] += factor * result[place + 1]
    return result
