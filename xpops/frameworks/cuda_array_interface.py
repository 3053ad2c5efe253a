"""Objects with ``__cuda_array_interface__`` (version 0 to 3) and no ``__dlpack__``, such as Numba's device arrays."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core.devices import Device
from xpops.core.dtypes import INFO, DType
from xpops.core.errors import describe
from xpops.engine import engine_of
from xpops.frameworks.adapter import View
from xpops.frameworks.memory import described_view, device_at

_NEWEST = 3
# Addresses and handles of streams are below this.
_LIMIT = 2**64


def interface_view(x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
    """The memory of `x`, ready for work on the stream that `stream` returns for its device.

    Raises
    ------
    TypeError
        If an entry of the interface is of another type than the protocol defines.
    BufferError
        If an entry is missing or has a value that the protocol does not allow, or if the description of the memory is
        impossible. Also if `x` has a mask, or a dtype or strides that xpops does not support.
    """
    what = f"{function}: {argument}"
    interface = x.__cuda_array_interface__
    if not isinstance(interface, dict):
        raise TypeError(f"{what}.__cuda_array_interface__ is {describe(interface)}; accepted: a dict")
    for key in ("version", "shape", "typestr", "data"):
        if key not in interface:
            raise BufferError(
                f"{what}.__cuda_array_interface__ has no {key!r}; accepted: version, shape, typestr, data"
            )
    version = _integer(interface["version"], what, "version")
    if not 0 <= version <= _NEWEST:
        raise BufferError(f"{what}.__cuda_array_interface__ is of version {version}; accepted: 0 to {_NEWEST}")
    if interface.get("mask") is not None:
        raise BufferError(f"{what} has a mask; accepted: arrays without one")
    dtype = _dtype(interface["typestr"], what)
    shape = _integers(interface["shape"], what, "shape")
    steps = interface.get("strides")
    strides = None if steps is None else _elements(_integers(steps, what, "strides"), dtype, what)
    address, read_only = _data(interface["data"], what)
    device = device_at(address) if address else None
    if device is None and 0 in shape:
        device = Device("cuda:0")
    if device is None:
        raise BufferError(f"{what} is at address {address:#x}, which CUDA does not know; accepted: memory of a GPU")
    view = described_view(dtype, shape, strides, device, address, x, not read_only, what)
    _order(interface.get("stream"), device, stream, what)
    return view


def _order(theirs: Any, device: Device, stream: Callable[[Device], int], what: str) -> None:
    """Make our stream wait for the producer's. None asks for no synchronization; 1 is the legacy default stream."""
    if theirs is None:
        return
    handle = _integer(theirs, what, "stream")
    if not 0 < handle < _LIMIT:
        raise BufferError(f"{what} has stream {handle}; accepted: None, 1 (legacy default), 2 (per thread) or a handle")
    ours = stream(device) or 1
    if handle != ours:
        engine_of(device).order(handle, ours)


def _dtype(typestr: Any, what: str) -> DType:
    """The dtype of a type string, which consists of byte order, kind and number of bytes."""
    if not isinstance(typestr, str):
        raise TypeError(f"{what} has typestr {typestr!r}; accepted: a text such as '<f4'")
    try:
        dtype = np.dtype(typestr) if re.fullmatch(r"[<>|=]?[biufc]\d{1,2}", typestr) else None
    except TypeError:
        dtype = None
    if dtype is None or dtype not in INFO:
        raise BufferError(f"{what} has dtype {typestr}; accepted: {', '.join(known.name for known in INFO)}")
    return dtype


def _elements(steps: tuple[int, ...], dtype: DType, what: str) -> tuple[int, ...]:
    """Convert strides in bytes to strides in elements."""
    if any(step % dtype.itemsize for step in steps):
        raise BufferError(f"{what} has strides of {steps} bytes; accepted: multiples of {dtype.itemsize} for {dtype}")
    return tuple(step // dtype.itemsize for step in steps)


def _data(data: Any, what: str) -> tuple[int, bool]:
    """The address, and whether the memory is read-only."""
    try:
        address, read_only = data
    except (TypeError, ValueError):
        raise TypeError(f"{what} has data {data!r}; accepted: an address and whether it is read-only") from None
    address = _integer(address, what, "data")
    if not 0 <= address < _LIMIT:
        raise BufferError(f"{what} has address {address} in data; accepted: addresses of 64 bits")
    return address, bool(read_only)


def _integers(values: Any, what: str, name: str) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{what} has {name} {values!r}; accepted: a tuple of integers")
    return tuple(_integer(value, what, name) for value in values)


def _integer(value: Any, what: str, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} has {describe(value)} in {name}; accepted: integers") from None
