"""The engines. `engine_of` is the one place that knows which there are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

from xpops.core.devices import CPU, Device
from xpops.core.errors import DeviceError
from xpops.engine.protocol import Engine


@cache
def devices() -> tuple[Device, ...]:
    """Every device that is there. Creates no CUDA context."""
    from xpops.engine.cuda.driver import cuda_devices

    return (CPU, *cuda_devices())


# What hands back the memory that other libraries cache.
other_caches: list[Callable[[], None]] = []


def release_other_caches() -> None:
    """Have other libraries hand the memory that they cache back to their devices."""
    for release in other_caches:
        release()


def available() -> str:
    """The devices that are there, and what keeps others away, for errors."""
    from xpops.engine.cuda.driver import missing

    return ", ".join(devices()) + (f" ({missing()})" if missing() else "")


_engines: dict[Device, Engine] = {}
_lock = threading.Lock()


def engine_of(device: Device) -> Engine:
    """The engine of a device.

    Raises
    ------
    DeviceError
        If the device is not there.
    """
    engine = _engines.get(device)
    if engine is None:
        with _lock:
            engine = _engines.get(device)
            if engine is None:
                engine = _engines[device] = _make(device)
    return engine


def _make(device: Device) -> Engine:
    # Imported here, so that a machine without a GPU needs no driver.
    if device not in devices():
        raise DeviceError(f"device {str(device)!r} is not there; available: {available()}")
    if device == CPU:
        from xpops.engine.cpu.engine import CpuEngine

        return CpuEngine()
    from xpops.engine.cuda.engine import CudaEngine

    return CudaEngine(device)
