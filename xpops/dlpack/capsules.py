"""DLPack's capsules of arrays, and how it describes a layout."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from struct import pack
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.devices import CPU
from xpops.core.layouts import Layout, exported_strides
from xpops.dispatch import Tensor
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.frameworks import capsule as dl


def device_of(layout: Layout) -> tuple[int, int]:
    """The kind and the index of a layout's device in DLPack: the standard's ``__dlpack_device__``."""
    return engine_of(layout.device).dlpack_kind, layout.device.index


def _address_of(data: Data) -> int:
    return engine_of(CPU).address(data)


def _pack_header(layout: Layout) -> bytes:
    """``Header`` of native/dlpack/export.c: what the compiled core says of each array of a layout."""
    strides = exported_strides(layout)
    is_reversed = any(stride < 0 for stride in strides)
    fields = *device_of(layout), layout.ndim, *dt.INFO[layout.dtype].dlpack, is_reversed
    return pack(f"=iiiBBH{2 * layout.ndim}q", *fields, *layout.shape, *strides)


class _Lent:
    """The objects that a capsule keeps alive: the array's memory, and the strides. NumPy reads only the interface."""

    __slots__ = ("__array_interface__", "owners", "strides")
    __array_interface__: dict[str, Any]
    owners: tuple[Any, Any]
    strides: ctypes.Array[ctypes.c_int64]


def _new_capsule(array: Tensor, is_versioned: bool, flags: int) -> Any:
    """A capsule of the array's memory.

    NumPy makes the capsule, for bytes in the array's shape; then we correct the header. So the destructor and the
    deleter are NumPy's C functions. They take the GIL, keep a pending exception (Python functions would swallow it),
    and do nothing after the interpreter has ended.
    """
    layout = array._layout
    address = engine_of(layout.device).address(array._data) if layout.size else 0
    strides = exported_strides(layout)
    lent = _Lent()
    lent.owners, lent.strides = (array._data, array._owner), (ctypes.c_int64 * layout.ndim)(*strides)
    lent.__array_interface__ = {
        "version": 3,
        "shape": layout.shape,
        "strides": strides,
        "typestr": "|u1",
        "data": (address, False),
    }
    handle = np.asarray(lent)
    capsule = handle.__dlpack__(max_version=(1, 0)) if is_versioned else handle.__dlpack__()
    managed = dl.managed_in(capsule, dl.VERSIONED if is_versioned else dl.UNVERSIONED)
    tensor = managed.tensor
    tensor.data, tensor.byte_offset = address or None, 0
    tensor.device_type, tensor.device_id = device_of(layout)
    tensor.code, tensor.bits = dt.INFO[layout.dtype].dlpack
    if layout.ndim:
        tensor.strides = lent.strides
    if isinstance(managed, dl.ManagedVersioned):
        (managed.major, managed.minor), managed.flags = dl.VERSION, flags
    return capsule


new_capsule: Callable[[Tensor, bool, int], Any] = _new_capsule
if compiled is not None:
    compiled.set_capsules(_pack_header, _address_of)
    new_capsule = compiled.capsule
