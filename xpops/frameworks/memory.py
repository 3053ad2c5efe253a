"""Checks of a producer's description of its memory. They run before anything is read."""

from __future__ import annotations

from ctypes import CDLL, byref, c_int, c_uint64, c_void_p
from functools import cache
from math import prod
from typing import Any

from xpops.core.devices import CPU, Device
from xpops.core.dtypes import DType
from xpops.core.layouts import alignment, extent, layout_of
from xpops.engine import devices
from xpops.frameworks.adapter import View, foreign_view

# NumPy's limit.
MAX_NDIM = 64
# Sizes and distances in bytes are signed 64-bit integers, and a program's addresses are below this, too.
_LIMIT = 2**63
# CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_DEVICE_ORDINAL = 9


def described_view(
    dtype: DType,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    device: Device,
    address: int,
    owner: Any,
    writable: bool,
    what: str,
) -> View:
    """A View of memory that `owner` keeps alive, after checks of the description.

    Parameters
    ----------
    dtype : numpy.dtype
    shape : tuple of int
    strides : tuple of int or None
        In elements; None for C order.
    device : Device
    address : int
        The address of the first element. An empty array may have any address.
    owner : object
    writable : bool
    what : str
        The beginning of error messages.

    Raises
    ------
    BufferError
        If there are too many axes, a length is negative, or strides do not fit the shape. Also if elements are at NULL
        or outside the address space. On a GPU, also if an element is misaligned, or the first or last byte is not in
        memory of this GPU. The size of an allocation is unknown: a shape that is too long for it may go unnoticed.
    """
    if len(shape) > MAX_NDIM:
        raise BufferError(f"{what} has {len(shape)} axes; accepted: at most {MAX_NDIM}")
    if shape and min(shape) < 0:
        raise BufferError(f"{what} has shape {shape}; accepted: lengths of 0 and more")
    if strides is not None and len(strides) != len(shape):
        raise BufferError(f"{what} has shape {shape} and strides {strides}; accepted: one stride for each axis")
    if prod(filter(None, shape)) * dtype.itemsize >= _LIMIT:
        raise BufferError(f"{what} has shape {shape} of {dtype}; accepted: less than 2**63 bytes")
    if 0 in shape:
        address = 0
    layout = layout_of(dtype, shape, strides, device, alignment(address))
    low, high = extent(layout)
    if layout.size:
        if not address:
            raise BufferError(f"{what} has {layout.size} elements at NULL; accepted: NULL for empty arrays only")
        if address + low <= 0 or address + high > _LIMIT:
            raise BufferError(
                f"{what} has shape {shape} and strides {strides} at address {address:#x}, which reaches beyond the "
                "address space; accepted: elements within it"
            )
        if device != CPU:
            _require_memory(device, address + low, address + high - 1, what)
    return foreign_view(layout, address, owner, writable, what)


def device_at(address: int) -> Device | None:
    """The GPU that an address belongs to; None if CUDA does not know the address."""
    if devices() == (CPU,):
        return None
    library, ordinal = _driver(), c_int(-1)
    library.cuInit(0)
    found = library.cuPointerGetAttribute(byref(ordinal), _DEVICE_ORDINAL, address)
    return Device(f"cuda:{ordinal.value}") if found == 0 and ordinal.value >= 0 else None


@cache
def _driver() -> CDLL:
    """The driver's library by ctypes, since cuda.bindings returns 0 for every address (cuda-python#2928)."""
    library = CDLL("libcuda.so.1")
    library.cuPointerGetAttribute.argtypes = (c_void_p, c_int, c_uint64)
    return library


def _require_memory(device: Device, first: int, last: int, what: str) -> None:
    """Refuse memory whose first or last byte is not in memory of the GPU: a kernel would fault there."""
    for address in (first, last):
        found = device_at(address)
        if found != device:
            place = "is not in CUDA's memory" if found is None else f"is in memory of {found}"
            raise BufferError(f"{what} is on {device}, but address {address:#x} {place}; accepted: memory of {device}")
