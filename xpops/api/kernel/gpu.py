"""The check that all user-defined kernels make."""

from __future__ import annotations

from xpops.core.devices import CPU, Device
from xpops.core.errors import DeviceError


def require_gpu(device: Device, function: str) -> None:
    """DeviceError if `device` is not a GPU."""
    if device == CPU:
        raise DeviceError(f"{function}: the arrays are on cpu; kernels of one's own need a GPU")
