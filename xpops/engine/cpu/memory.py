"""Memory of the host as ndarrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core.compiled import compiled
from xpops.core.dtypes import INFO
from xpops.core.errors import OutOfMemoryError
from xpops.core.layouts import Layout, extent
from xpops.engine.program import Owner

NDArray = np.ndarray[Any, Any]

# JAX shares host memory without a copy only at this alignment. SIMD loops are faster with it, too.
ALIGNMENT = 64

# NumPy's own dtypes. Arrays of others have no buffer protocol.
_EXPORTED = frozenset(dtype for dtype in INFO if dtype.isbuiltin == 1)

_address_of, _first_byte = ctypes.addressof, ctypes.c_char.from_buffer


def allocator(layout: Layout) -> Callable[[int], tuple[NDArray, Owner]]:
    """See `xpops.engine.memory.Memory.allocator`."""
    shape, dtype, strides = layout.shape, layout.dtype, _byte_strides(layout)
    nbytes, start = layout.nbytes, -extent(layout)[0]
    new, array = _aligned if compiled is None else compiled.allocate, np.ndarray

    def allocate(stream: int = 0) -> tuple[NDArray, Owner]:
        try:
            return array(shape, dtype, new(nbytes), start, strides), None
        except MemoryError:
            raise OutOfMemoryError(f"cpu: {nbytes:,} bytes were asked for") from None

    return allocate


def _aligned(nbytes: int) -> NDArray:
    """Uninitialised bytes at an aligned address."""
    buffer: Any = np.empty(nbytes + ALIGNMENT, np.uint8)
    # A ctypes object on the buffer tells its address in a third of the time of `buffer.ctypes`.
    start = -_address_of(_first_byte(buffer)) % ALIGNMENT
    aligned: NDArray = buffer[start : start + max(nbytes, 1)]  # an empty part would begin where the buffer does
    return aligned


def view(data: NDArray, offset: int, layout: Layout) -> NDArray:
    """See `xpops.engine.memory.Memory.view`."""
    if data.dtype in _EXPORTED and data.flags.c_contiguous:
        strides = None if layout.contiguous else _byte_strides(layout)
        return np.ndarray(layout.shape, layout.dtype, data, offset * data.itemsize, strides)
    # as_strided cannot step before the first element, so negative strides go through the address.
    address = data.ctypes.data + offset * layout.dtype.itemsize
    return adopt(address, layout, _keeper(data), data.flags.writeable)


def adopt(address: int, layout: Layout, owner: Owner, writable: bool) -> NDArray:
    """See `xpops.engine.memory.Memory.adopt`."""
    if layout.size == 0:
        return np.empty(layout.shape, layout.dtype)
    contiguous = layout.contiguous  # then the range and the strides need no computing
    low, high = (0, layout.nbytes) if contiguous else extent(layout)
    strides = None if contiguous else _byte_strides(layout)
    if compiled is not None:
        memory = compiled.borrow(address + low, high - low, owner, not writable)
        return np.ndarray(layout.shape, layout.dtype, memory, -low, strides)
    buffer: Any = (ctypes.c_char * (high - low)).from_address(address + low)
    buffer.owner = owner  # the ndarray's base is this ctypes instance, which keeps its attribute `owner` alive
    array: NDArray = np.ndarray(layout.shape, layout.dtype, buffer, -low, strides)
    if not writable:
        array.flags.writeable = False
    return array


def _keeper(data: NDArray) -> Any:
    """What keeps the memory of `data` alive: no other view, since a long chain of views is freed by recursion."""
    while type(data.base) is np.ndarray:
        data = data.base
    base: Any = data.base
    if compiled is None:
        return base.owner if isinstance(base, ctypes.Array) and hasattr(base, "owner") else data
    return base if type(base) is compiled.Memory else data


def _byte_strides(layout: Layout) -> tuple[int, ...]:
    item = layout.dtype.itemsize
    return tuple([stride * item for stride in layout.strides])
