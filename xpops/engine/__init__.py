"""The engines: one for each device. Only this module knows all of them; `engine_of` returns one."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, TypeGuard

from xpops.core.devices import CPU, NOWHERE, Device
from xpops.core.errors import DeviceError
from xpops.engine.protocol import Engine

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine


@cache
def devices() -> tuple[Device, ...]:
    """Every device of this machine that xpops can use. Creates no CUDA context."""
    from xpops.engine.cuda.runtime.driver import cuda_devices

    return (CPU, *cuda_devices())


def available() -> str:
    """The available devices, and why others are not available, for error messages."""
    from xpops.engine.cuda.runtime.driver import missing

    return ", ".join(devices()) + (f" ({missing()})" if missing() else "")


_engines: dict[Device, Engine] = {}
_lock = threading.Lock()


def engine_of(device: Device) -> Engine:
    """The engine of a device.

    Raises
    ------
    DeviceError
        If the device is not available.
    """
    engine = _engines.get(device)
    if engine is None:
        with _lock:
            engine = _engines.get(device)
            if engine is None:
                engine = _engines[device] = _make(device)
    return engine


def is_cuda(engine: Engine) -> TypeGuard[CudaEngine]:
    """Whether the engine has what fused functions and user-defined kernels need: it compiles CUDA C++."""
    return engine.dlpack_kind == 2


def _make(device: Device) -> Engine:
    if device is NOWHERE:
        from xpops.engine.shapes import ShapeEngine

        return ShapeEngine()
    # Imported here, so that a machine without a GPU needs no driver.
    if device not in devices():
        raise DeviceError(f"device {str(device)!r} is not there; available: {available()}")
    if device == CPU:
        from xpops.engine.cpu.engine import CpuEngine

        return CpuEngine()
    from xpops.engine.cuda.engine import CudaEngine

    return CudaEngine(device)
