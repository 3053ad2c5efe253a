"""Objects with ``__cuda_array_interface__`` (version 2 or 3) and no ``__dlpack__``, such as Numba's device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core.devices import Device
from xpops.core.dtypes import INFO
from xpops.core.layouts import contiguous_strides
from xpops.engine import engine_of
from xpops.frameworks.adapter import View, foreign_view


def interface_view(x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
    """The memory of `x`, ready for work on the stream that `stream` gives for its device.

    Raises
    ------
    BufferError
        If it has a mask, or a dtype or strides that xpops does not know.
    """
    interface = x.__cuda_array_interface__
    what = f"{function}: {argument}"
    if interface.get("mask") is not None:
        raise BufferError(f"{what} has a mask; accepted: arrays without one")
    dtype = np.dtype(interface["typestr"])
    if dtype not in INFO:
        raise BufferError(f"{what} has dtype {dtype.str}; accepted: {', '.join(known.name for known in INFO)}")
    shape = tuple(interface["shape"])
    steps = interface.get("strides") or tuple(step * dtype.itemsize for step in contiguous_strides(shape))
    if any(step % dtype.itemsize for step in steps):
        raise BufferError(f"{what} has strides of {steps} bytes; accepted: multiples of {dtype.itemsize} for {dtype}")
    address, read_only = interface["data"]
    device = _device_at(address)
    # 0 is not allowed there, None asks for no order, 1 is the legacy default stream.
    theirs = interface.get("stream")
    if theirs is not None and theirs != (ours := stream(device) or 1):
        engine_of(device).order(theirs, ours)
    strides = tuple(step // dtype.itemsize for step in steps)
    return foreign_view(dtype, shape, strides, device, address, x, not read_only, what)


def _device_at(address: int) -> Device:
    """The device of an address, which the interface does not name; empty arrays may have none and go to the first."""
    if not address:
        return Device("cuda:0")
    from cuda.bindings import driver

    from xpops.engine.cuda.driver import check

    ordinal = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return Device(f"cuda:{check(driver.cuPointerGetAttribute(ordinal, address))}")
