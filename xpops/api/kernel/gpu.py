"""What every user-defined kernel requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core.devices import Device
from xpops.core.errors import DeviceError
from xpops.engine import is_cuda
from xpops.engine.protocol import Engine
from xpops.engine.shapes import ShapeEngine

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine


def require_cuda(engine: Engine, device: Device, function: str) -> CudaEngine:
    """The engine of `device`. DeviceError if it compiles no CUDA C++."""
    if not is_cuda(engine):
        raise DeviceError(f"{function}: the arrays are on {device}; kernels of one's own need a GPU")
    return engine


def gpu_unless_traced(engine: Engine, device: Device, function: str) -> CudaEngine | None:
    """What `require_cuda` returns; None for traced arrays, which have no memory."""
    return None if isinstance(engine, ShapeEngine) else require_cuda(engine, device, function)
