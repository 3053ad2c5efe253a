"""Elements at places that indices name, on NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.engine.protocol import Program

if TYPE_CHECKING:
    from xpops.engine.cpu.engine import CpuEngine

NDArray = np.ndarray[Any, Any]


def take(engine: CpuEngine, x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take`."""
    length = x.shape[axis]

    def kernel(stream: int, out: NDArray, x: NDArray, indices: NDArray) -> None:
        out[...] = x[(slice(None),) * axis + (_checked(indices, length, "take"),)]

    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return Program((layout_of(x.dtype, shape, None, CPU),), kernel)


def take_along(engine: CpuEngine, x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take_along`."""
    length = x.shape[axis]

    def kernel(stream: int, out: NDArray, x: NDArray, indices: NDArray) -> None:
        out[...] = np.take_along_axis(x, _checked(indices, length, "take_along_axis"), axis)

    return Program((layout_of(x.dtype, indices.shape, None, CPU),), kernel)


def _checked(indices: NDArray, length: int, function: str) -> NDArray:
    wrong = indices[(indices < -length) | (indices >= length)]
    if wrong.size:
        raise IndexError(f"{function}: indices holds {wrong[0]}; accepted: {-length} to {length - 1}")
    return indices.astype(np.int64)
