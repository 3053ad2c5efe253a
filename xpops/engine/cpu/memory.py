"""Memory of the host as ndarrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core.errors import OutOfMemoryError
from xpops.core.layouts import Layout, extent
from xpops.engine.program import Owner

NDArray = np.ndarray[Any, Any]

# JAX shares host memory without a copy only at this alignment. SIMD loops are faster with it, too.
ALIGNMENT = 64

_address_of, _first_byte = ctypes.addressof, ctypes.c_char.from_buffer


def allocator(layout: Layout) -> Callable[[int], tuple[NDArray, Owner]]:
    """See `xpops.engine.memory.Memory.allocator`."""
    shape, dtype, strides = layout.shape, layout.dtype, _byte_strides(layout)
    nbytes, low = layout.nbytes + ALIGNMENT, extent(layout)[0]
    empty, array, uint8 = np.empty, np.ndarray, np.uint8

    def allocate(stream: int = 0) -> tuple[NDArray, Owner]:
        try:
            buffer: Any = empty(nbytes, uint8)
        except MemoryError:
            raise OutOfMemoryError(f"cpu: {layout.nbytes:,} bytes were asked for") from None
        # A ctypes object on the buffer tells its address in a third of the time of `buffer.ctypes`.
        start = -_address_of(_first_byte(buffer)) % ALIGNMENT - low
        return array(shape, dtype, buffer, start, strides), None

    return allocate


def view(data: NDArray, offset: int, layout: Layout) -> NDArray:
    """See `xpops.engine.memory.Memory.view`."""
    # as_strided cannot step before the first element, so negative strides go through the address.
    address = data.ctypes.data + offset * layout.dtype.itemsize
    return adopt(address, layout, data, data.flags.writeable)


def adopt(address: int, layout: Layout, owner: Owner, writable: bool) -> NDArray:
    """See `xpops.engine.memory.Memory.adopt`."""
    if layout.size == 0:
        return np.empty(layout.shape, layout.dtype)
    contiguous = layout.contiguous  # then the range and the strides need no computing
    low, high = (0, layout.nbytes) if contiguous else extent(layout)
    buffer: Any = (ctypes.c_char * (high - low)).from_address(address + low)
    buffer.owner = owner  # the ndarray's base is this ctypes instance, which keeps its attribute `owner` alive
    strides = None if contiguous else _byte_strides(layout)
    array: NDArray = np.ndarray(layout.shape, layout.dtype, buffer, -low, strides)
    if not writable:
        array.flags.writeable = False
    return array


def _byte_strides(layout: Layout) -> tuple[int, ...]:
    item = layout.dtype.itemsize
    return tuple(stride * item for stride in layout.strides)
