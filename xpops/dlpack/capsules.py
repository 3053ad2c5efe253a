"""DLPack's capsules of arrays, and how it describes a layout."""

from __future__ import annotations

import ctypes
from struct import pack
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.layouts import Layout
from xpops.dispatch import Tensor
from xpops.engine import engine_of
from xpops.frameworks import capsule as dl
from xpops.frameworks.adapter import exported_strides


def device_of(array: Tensor) -> tuple[int, int]:
    """The kind and the index of the array's device in DLPack: the standard's ``__dlpack_device__``."""
    return _place(array._layout)


def header_of(layout: Layout) -> bytes:
    """``Header`` of native/dlpack/export.c: what the compiled core says of each array of a layout, which keeps it."""
    strides = exported_strides(layout)
    is_reversed = any(stride < 0 for stride in strides)
    fields = *_place(layout), layout.ndim, *dt.INFO[layout.dtype].dlpack, is_reversed
    layout.header = pack(f"=iiiBBH{2 * layout.ndim}q", *fields, *layout.shape, *strides)
    return layout.header


def _place(layout: Layout) -> tuple[int, int]:
    return engine_of(layout.device).dlpack_kind, layout.device.index


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
    tensor.device_type, tensor.device_id = device_of(array)
    tensor.code, tensor.bits = dt.INFO[layout.dtype].dlpack
    if layout.ndim:
        tensor.strides = lent.strides
    if isinstance(managed, dl.ManagedVersioned):
        (managed.major, managed.minor), managed.flags = dl.VERSION, flags
    return capsule


new_capsule = _new_capsule if compiled is None else compiled.capsule
