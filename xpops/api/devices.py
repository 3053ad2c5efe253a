"""The default device of new arrays."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from xpops.core import config
from xpops.core.devices import CPU, NOWHERE, Device
from xpops.core.errors import DeviceError
from xpops.engine import available, devices

_chosen: ContextVar[Device | None] = ContextVar("xpops_default_device", default=None)


def default_device() -> Device:
    """The device of arrays that are created without ``device=``.

    The device that `set_default_device` chose in this thread or task; else ``XPOPS_DEFAULT_DEVICE``; else the first
    CUDA device; else the CPU.

    Examples
    --------
    >>> xp.default_device()
    Device('cpu')
    """
    return _chosen.get() or _initial_device()


def set_default_device(device: str | None) -> None:
    """Choose the device of new arrays, for this thread or asynchronous task only.

    Parameters
    ----------
    device : Device or str or None
        None goes back to the initial choice.

    Raises
    ------
    ValueError
        If `device` does not name a device.
    DeviceError
        If the device is not available.

    Examples
    --------
    >>> xp.set_default_device("cpu")
    >>> xp.zeros(3).device
    Device('cpu')
    """
    _chosen.set(None if device is None else _require_available(device, "set_default_device"))


def device_or_default(device: Any, function: str) -> Device:
    """`device`, after a check that it is available; the default device if `device` is None."""
    return default_device() if device is None else _require_available(device, function)


def _initial_device() -> Device:
    if config.default_device is not None:
        return _require_available(config.default_device, "XPOPS_DEFAULT_DEVICE")
    return next((device for device in devices() if device != CPU), CPU)


def _require_available(device: Any, function: str) -> Device:
    try:
        found = Device(device)
    except ValueError:
        raise ValueError(f"{function}: device is {device!r}; accepted: {', '.join(devices())}") from None
    if found not in devices() and found is not NOWHERE:  # of traced arrays
        raise DeviceError(f"{function}: device is {str(found)!r}, which is not there; available: {available()}")
    return found
