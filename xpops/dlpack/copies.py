"""Copies of tensors on the same or another device, for exchanges that need one."""

from __future__ import annotations

from xpops.core.devices import Device
from xpops.core.guards import copies
from xpops.core.layouts import alignment, layout_of
from xpops.dispatch import Tensor, elementwise
from xpops.engine import engine_of
from xpops.ops.elementwise import IDENTITY


class CopyNeededError(BufferError, ValueError):
    """A copy is needed, but forbidden. The standard asks for BufferError in some places, for ValueError in others."""


def copy_tensor(array: Tensor) -> Tensor:
    """A writable copy on the same device."""
    if copies.is_open:
        copies.report(f"an array of shape {array._layout.shape} is copied for DLPack")
    copy: Tensor = elementwise(IDENTITY, (array,), None, array._layout.dtype)
    return copy


def move_tensor(array: Tensor, device: Device) -> Tensor:
    """A writable copy on another device, through the host. Waits for the work on the current stream."""
    if copies.is_open:
        copies.report(f"an array of shape {array._layout.shape} is copied from {array._layout.device} to {device}")
    engine, layout = engine_of(array._layout.device), array._layout
    stream = engine.current_stream()
    if not layout.contiguous:
        layout = layout_of(layout.dtype, layout.shape, None, layout.device)
        data, owner = engine.allocate(layout, stream)
        array = elementwise(IDENTITY, (array,), Tensor(layout, data, owner), layout.dtype)
    host = engine.to_host(array._data, layout, stream)
    there, target = engine_of(device), layout_of(layout.dtype, layout.shape, None, device)
    if there.is_host:
        return Tensor(layout_of(layout.dtype, layout.shape, None, device, alignment(host.ctypes.data)), host, None)
    data, owner = there.allocate(target, there.current_stream())
    there.from_host(host, data, target, there.current_stream())
    return Tensor(target, data, owner)
