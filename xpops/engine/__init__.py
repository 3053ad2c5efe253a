"""The engines. `engine_of` is the one place that knows which there are."""

from __future__ import annotations

from functools import cache

from xpops.core.devices import CPU, Device
from xpops.core.errors import DeviceError
from xpops.engine.protocol import Engine


@cache
def devices() -> tuple[Device, ...]:
    """Every device that is there. Creates no CUDA context."""
    from xpops.engine.cuda.driver import cuda_devices

    return (CPU, *cuda_devices())


@cache
def engine_of(device: Device) -> Engine:
    """The engine of a device.

    Raises
    ------
    DeviceError
        If the device is not there.
    """
    # The engines are imported here, so that a machine without a GPU never loads the CUDA one.
    if device not in devices():
        raise DeviceError(f"device {str(device)!r} is not there; available: {', '.join(devices())}")
    if device == CPU:
        from xpops.engine.cpu.engine import CpuEngine

        return CpuEngine()
    from xpops.engine.cuda.engine import CudaEngine

    return CudaEngine(device)
