"""DLPack producers of every generation on host memory, with every field of the header free.

This module defines the structures again, so that tests find mistakes in the package's definitions.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("byte_offset", c_uint64),
    ]


class Old(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", c_void_p)]


class New(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", DLTensor),
    ]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = (c_void_p, ctypes.c_char_p, c_void_p), ctypes.py_object
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), c_void_p
_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.argtypes, _name_of.restype = (ctypes.py_object,), ctypes.c_char_p
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


def name_of(capsule: Any) -> str:
    return _name_of(capsule).decode()


def header_of(capsule: Any) -> Any:
    """The structure in a capsule, without a copy. It keeps the capsule alive."""
    name = _name_of(capsule)
    header = (New if b"versioned" in name else Old).from_address(_pointer(capsule, name))
    header.capsule = capsule
    return header


def ints(pointer: int | None, count: int) -> tuple[int, ...] | None:
    return tuple((c_int64 * count).from_address(pointer)) if pointer else None


# Keeps alive what capsules point to, because a consumer may outlive the producer, and the deleter is a Python function.
_alive: list[list[Any]] = []


class Producer:
    """A DLPack producer that accepts all current keywords.

    Parameters
    ----------
    array : ndarray
        The array whose memory is exported.
    **header
        Fields of the header that replace the array's own: `data`, `device`, `code`, `bits`, `lanes`, `ndim`,
        `shape` and `strides` (None for NULL), `byte_offset`, `flags`, `version`; `deleter` False for NULL; `name`, the
        capsule's; `announced`, what ``__dlpack_device__`` returns if it is another device.

    Attributes
    ----------
    calls : list of dict
        The keywords of each ``__dlpack__`` call.
    deleted : int
        How often the deleter was called.
    """

    versions = True

    def __init__(self, array: np.ndarray, **header: Any) -> None:
        self.array, self.header = array, header
        self.calls: list[dict[str, Any]] = []
        self.deleted = 0
        self._kept: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.header.get("announced", self.header.get("device", (1, 0)))

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        return self._answer(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def _answer(self, **keywords: Any) -> Any:
        self.calls.append({key: value for key, value in keywords.items() if value is not None})
        max_version = keywords.get("max_version")
        return self.capsule(max_version is not None and max_version[0] >= 1)

    def capsule(self, versioned: bool) -> Any:
        array, header = self.array, self.header
        managed = (New if versioned else Old)()
        tensor = managed.tensor
        shape = header.get("shape", array.shape)
        strides = header.get("strides", tuple(step // array.itemsize for step in array.strides))
        tensor.data = header.get("data", array.ctypes.data)
        tensor.device_type, tensor.device_id = header.get("device", (1, 0))
        tensor.ndim = header.get("ndim", len(shape or ()))
        tensor.code = header.get("code", CODES.get(array.dtype.kind, 0))
        tensor.bits = header.get("bits", array.itemsize * 8)
        tensor.lanes = header.get("lanes", 1)
        lengths, steps = (c_int64 * len(shape or ()))(*(shape or ())), (c_int64 * len(strides or ()))(*(strides or ()))
        tensor.shape = ctypes.addressof(lengths) if shape is not None else None
        tensor.strides = ctypes.addressof(steps) if strides is not None else None
        tensor.byte_offset = header.get("byte_offset", 0)
        if versioned:
            managed.major, managed.minor = header.get("version", (1, 0))
            managed.flags = header.get("flags", 0)
        deleter = _Deleter(self._delete)
        if header.get("deleter", True):
            managed.deleter = ctypes.cast(deleter, c_void_p).value
        name = header.get("name", "dltensor_versioned" if versioned else "dltensor").encode()
        self._kept.append((managed, lengths, steps, deleter, name))
        _alive.append(self._kept)
        return _new_capsule(ctypes.addressof(managed), name, None)

    def _delete(self, address: int) -> None:
        assert address in [ctypes.addressof(kept[0]) for kept in self._kept]
        self.deleted += 1


class VersionProducer(Producer):
    """A producer of 2022: it accepts `stream` and `max_version`."""

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
        return self._answer(stream=stream, max_version=max_version)


class StreamProducer(Producer):
    """A producer of 2021: it accepts only `stream`."""

    versions = False

    def __dlpack__(self, stream: Any = None) -> Any:
        return self._answer(stream=stream)


class BareProducer(Producer):
    """A producer from before the standard: it accepts no keyword."""

    versions = False

    def __dlpack__(self) -> Any:
        return self._answer()


class ForwardingProducer(StreamProducer):
    """A wrapper that passes every keyword to an old producer."""

    def __dlpack__(self, **keywords: Any) -> Any:
        return StreamProducer.__dlpack__(self, **keywords)


GENERATIONS = (BareProducer, StreamProducer, VersionProducer, Producer, ForwardingProducer)
