"""DLPack's structures in memory, and the consumption of capsules.

There are two structures, and the name of a capsule says which one it holds. They follow ``dlpack.h`` 1.1.
"""

from __future__ import annotations

import ctypes
import operator
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from ctypes import (
    POINTER,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)
from typing import Any, NamedTuple

from xpops.core.compiled import compiled
from xpops.core.errors import describe

# The newest version that xpops reads and writes. Minor versions only add codes.
VERSION = (1, 1)
READ_ONLY, IS_COPIED = 1, 2
# Kinds of devices whose memory an engine of xpops can use.
KIND_CPU, KIND_CUDA, KIND_CUDA_HOST, KIND_CUDA_MANAGED = 1, 2, 3, 13
UNVERSIONED, VERSIONED = b"dltensor", b"dltensor_versioned"


class DLTensor(ctypes.Structure):
    """The array. `data` plus `byte_offset` is the address of the first element; strides are in elements."""

    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class Managed(ctypes.Structure):
    """The structure in an unversioned capsule."""

    _fields_ = (("tensor", DLTensor), ("context", c_void_p), ("deleter", c_void_p))


class ManagedVersioned(ctypes.Structure):
    """The structure in a versioned capsule. All fields but `tensor` keep their places in all future versions."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", DLTensor),
    )


STRUCTURES: dict[bytes, type[Managed] | type[ManagedVersioned]] = {VERSIONED: ManagedVersioned, UNVERSIONED: Managed}
# Where a tensor has its device, ndim and dtype.
_KIND = slice(DLTensor.device_type.offset, DLTensor.shape.offset)
# A capsule keeps a pointer to its name, and may outlive this module at exit. So these names are never freed.
_USED = {name: b"used_" + name for name in STRUCTURES}
for _name in _USED.values():
    ctypes.pythonapi.Py_IncRef(py_object(_name))

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (py_object, c_char_p), c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (py_object, c_char_p), c_void_p
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes, _set_name.restype = (py_object, c_char_p), c_int
# A call holds the GIL, as in NumPy: deleters of old producers rely on it, and those of new ones may take it again.
_Deleter = ctypes.PYFUNCTYPE(None, c_void_p)
# The lock is for Python without a GIL. It is an RLock, since a finalizer may run in between and consume in the same
# thread. None if there is a GIL: if a debugger raised right after a lock was taken, the lock would be held forever.
_lock = None if getattr(sys, "_is_gil_enabled", lambda: True)() else threading.RLock()


class Owner:
    """The owner of a producer's memory. When it is dropped, it calls the producer's deleter.

    Parameters
    ----------
    name : bytes
        The name of the capsule that `take` will consume.
    """

    _taken: list[int] | tuple[()] = ()  # before `take`

    def __init__(self, name: bytes) -> None:
        self._name = name

    def take(self, capsule: Any) -> Managed | ManagedVersioned:
        """Rename the capsule, so that nobody else consumes it, and own its memory from then on.

        All steps run in one call of a C function that calls C functions. So no other thread gets the GIL, and no
        KeyboardInterrupt is raised, between the check of the name, the renaming, and the record in this object.

        Raises
        ------
        ValueError
            If the capsule has another name.
        """
        name, taken = self._name, list[int]()
        self._taken = taken
        steps = map(operator.call, (_pointer, _set_name), (capsule, capsule), (name, _USED[name]))
        if _lock is None:
            taken.extend(steps)
        else:
            with _lock:
                taken.extend(steps)
        return STRUCTURES[name].from_address(taken[0])

    # The defaults still exist at exit, when this module's names may be gone.
    def __del__(self, structures: dict[bytes, Any] = STRUCTURES, function: Any = _Deleter) -> None:
        if len(self._taken) == 2:  # the capsule was found and renamed
            address = self._taken[0]
            deleter = structures[self._name].from_address(address).deleter
            if deleter:
                function(deleter)(address)


class Consumed(NamedTuple):
    """The content of a capsule. `owner` keeps the memory of `tensor` alive."""

    tensor: DLTensor
    flags: int
    owner: Owner


def managed_in(capsule: Any, name: bytes) -> Any:
    """The structure in a capsule of this name, without consuming the capsule."""
    return STRUCTURES[name].from_address(_pointer(capsule, name))


def _contents(capsule: Any) -> tuple[bytes, int]:
    tensor: DLTensor = managed_in(capsule, UNVERSIONED).tensor
    if tensor.ndim < 0:
        raise ValueError(f"a tensor of {tensor.ndim} axes")
    axes = [ctypes.string_at(each, 8 * tensor.ndim) if each else b"" for each in (tensor.shape, tensor.strides)]
    return bytes(tensor)[_KIND] + b"".join(axes), (tensor.data or 0) + tensor.byte_offset


# Returns what an unversioned capsule says of its tensor, as bytes: device, dtype, shape and strides; and the address of
# the first element. It does not consume the capsule, and raises ValueError if that has another name.
contents: Callable[[Any], tuple[bytes, int]] = _contents if compiled is None else compiled.contents


def consume(capsule: Any, function: str, argument: str) -> Consumed:
    """Consume a capsule that ``__dlpack__`` returned.

    Raises
    ------
    TypeError
        If it is no capsule.
    BufferError
        If it was consumed before, holds no DLPack tensor, or has an unknown major version.
    """
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError(f"{function}: {argument}.__dlpack__() returned {describe(capsule)}; accepted: a DLPack capsule")
    for name in STRUCTURES:
        owner = Owner(name)
        with suppress(ValueError):
            managed = owner.take(capsule)
            break
    else:
        raise _unusable_error(capsule, function, argument)
    if isinstance(managed, Managed):
        return Consumed(managed.tensor, 0, owner)
    if managed.major > VERSION[0]:
        raise BufferError(
            f"{function}: {argument} is of DLPack version {managed.major}.{managed.minor}; accepted: 0.x and 1.x"
        )
    return Consumed(managed.tensor, managed.flags, owner)


def _unusable_error(capsule: Any, function: str, argument: str) -> BufferError:
    used = any(_is_valid(capsule, used) for used in _USED.values())
    return BufferError(
        f"{function}: {argument}.__dlpack__() returned "
        f"{'a capsule that was used before' if used else f'{capsule!r}, which holds no DLPack tensor'}; "
        "accepted: a new capsule named 'dltensor' or 'dltensor_versioned'"
    )
