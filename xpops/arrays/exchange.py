"""DLPack's C exchange API of our arrays (native/dlpack/exchange.c): what it asks Python for."""

from __future__ import annotations

from typing import Any

from xpops.arrays.array import Array, new_array
from xpops.core.compiled import compiled
from xpops.core.devices import CPU, Device
from xpops.core.layouts import layout_of
from xpops.dispatch.ownership import borrow
from xpops.dlpack.copies import copy_tensor
from xpops.engine import engine_of
from xpops.frameworks import capsule as dl
from xpops.frameworks.dlpack import ACCEPTED_DEVICES, ADAPTER, DTYPES, device_at, view_of_tensor

_FUNCTION = "DLPack's exchange"


def _new_array_of(kind: int, index: int, code: int, bits: int, lanes: int, shape: tuple[int, ...]) -> Array:
    """A new array of a device, a dtype and a shape."""
    device, dtype = _device(kind, index), DTYPES.get((code, bits))
    if dtype is None or lanes != 1:
        raise BufferError(
            f"{_FUNCTION}: a dtype of code {code}, bits {bits} and lanes {lanes} was asked for; "
            f"accepted: the codes of {', '.join(map(str, DTYPES.values()))}, lanes 1"
        )
    if (kind, index) not in ((dl.KIND_CPU, 0), (dl.KIND_CUDA, device.index)):
        raise BufferError(f"{_FUNCTION}: memory on device ({kind}, {index}) was asked for; accepted: (1, 0) and (2, i)")
    if any(length < 0 for length in shape):
        raise BufferError(f"{_FUNCTION}: an array of shape {shape} was asked for; accepted: lengths of 0 or more")
    return new_array(layout_of(dtype, shape, None, device))


def _take(capsule: Any) -> Array:
    """An array on the memory in a capsule. It is not ordered with the work of any stream."""
    tensor, flags, owner = dl.consume(capsule, _FUNCTION, "the tensor")
    device = _device(tensor.device_type, tensor.device_id)
    writable = not flags & dl.READ_ONLY
    view = view_of_tensor(tensor, device, owner, writable, f"{_FUNCTION}: the tensor")
    return Array(*borrow(view, ADAPTER))


def _current_stream(kind: int, index: int) -> int:
    """The handle of our current stream of a device."""
    device = _device(kind, index)
    return 0 if device == CPU else engine_of(device).current_stream()


def _device(kind: int, index: int) -> Device:
    device = device_at(kind, index)
    if device is None:
        raise BufferError(f"{_FUNCTION}: device ({kind}, {index}); accepted: {ACCEPTED_DEVICES}")
    return device


def offer_exchange() -> None:
    """Give the class of arrays ``__dlpack_c_exchange_api__``. Only the compiled core has it."""
    if compiled is not None:
        compiled.set_exchange(_new_array_of, copy_tensor, _take, _current_stream)
