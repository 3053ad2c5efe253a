"""Any object with ``__dlpack__`` or ``__cuda_array_interface__``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.devices import CPU, Device
from xpops.core.layouts import Layout
from xpops.engine import engine_of
from xpops.engine.protocol import Data
from xpops.frameworks import capsule as dl
from xpops.frameworks.adapter import View, foreign_view
from xpops.frameworks.cuda_array_interface import interface_view

_DTYPES = {info.dlpack: dtype for dtype, info in dt.INFO.items()}
_ACCEPTED_DEVICES = "CPU (1), CUDA (2), CUDA host (3) and CUDA managed (13) memory"
# Keywords that older producers lack, newest first.
_OPTIONAL = ("copy", "dl_device", "max_version")


def dlpack_view(
    x: Any,
    function: str,
    argument: str,
    stream: Callable[[Device], int],
    *,
    device: Device | None = None,
    copy: bool | None = None,
    writable: bool = True,
) -> View:
    """The memory of `x`, ready for work on the stream that `stream` gives for its device.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__`` of any generation.
    function, argument : str
        What errors name.
    stream : function from Device to int
    device : Device, optional
        "cpu" makes producers on devices that are not ours copy to the host. Otherwise `x` is viewed where it lies.
    copy : bool, optional
        False: producers that would copy refuse.
    writable : bool
        False: the view is read-only whatever the producer says.

    Raises
    ------
    BufferError
        If `x` is on a device, or has a dtype or a DLPack version, that xpops does not know.
    """
    place = _device_of(*x.__dlpack_device__())
    options: dict[str, Any] = {"max_version": dl.VERSION}
    if place is None:
        if device != CPU:
            raise BufferError(
                f"{function}: {argument} is on DLPack device {x.__dlpack_device__()}; "
                f"accepted: {_ACCEPTED_DEVICES}, or device='cpu' if it can copy itself there"
            )
        options["dl_device"] = (dl.KIND_CPU, 0)
    elif place != CPU:
        # Never None, which producers read in different ways; 1 is DLPack's word for the legacy default stream.
        options["stream"] = stream(place) or 1
    if copy is False:
        options["copy"] = False
    with engine_of(place or CPU).current():  # torch exports from its current device only
        tensor, flags, owner = dl.consume(_capsule_of(x, options), function, argument)
    if copy is False and flags & dl.IS_COPIED:
        raise BufferError(f"{function}: copy is False, but {argument} was copied by its __dlpack__")
    writable = writable and not flags & dl.READ_ONLY
    return _view_of_tensor(tensor, owner, writable, function, argument)


class DLPackAdapter:
    """Arrays of no framework we know: viewed, never made. Results stay xpops arrays."""

    name = "dlpack"

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        if hasattr(type(x), "__dlpack__"):
            return dlpack_view(x, function, argument, stream)
        return interface_view(x, function, argument, stream)

    def allocate(self, layout: Layout) -> tuple[Any, Data] | None:
        return None

    def export(self, array: Any) -> Any:
        return array

    def written(self, x: Any) -> None:
        pass

    def release_cache(self) -> None:
        pass

    def current_stream(self, device: Device) -> int | None:
        return None


ADAPTER = DLPackAdapter()


def _capsule_of(x: Any, options: dict[str, Any]) -> Any:
    """A capsule from a producer that may be older than some of the keywords."""
    while True:
        try:
            return x.__dlpack__(**options)
        except TypeError as error:
            # An unknown keyword is reported in words with "argument"; anything else is the producer's own trouble.
            newest = next((keyword for keyword in _OPTIONAL if keyword in options), None)
            if newest is None or "argument" not in str(error):
                raise
            del options[newest]


def _device_of(kind: Any, index: Any) -> Device | None:
    kind = int(getattr(kind, "value", kind))
    if kind in (dl.KIND_CPU, dl.KIND_CUDA_HOST):
        return CPU
    return Device(f"cuda:{int(index)}") if kind in (dl.KIND_CUDA, dl.KIND_CUDA_MANAGED) else None


def _view_of_tensor(tensor: dl.DLTensor, owner: dl.Owner, writable: bool, function: str, argument: str) -> View:
    dtype = _DTYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise BufferError(
            f"{function}: {argument} has DLPack dtype code {tensor.code}, bits {tensor.bits}, lanes {tensor.lanes}; "
            f"accepted: the codes of {', '.join(known.name for known in dt.INFO)}, lanes 1"
        )
    device = _device_of(tensor.device_type, tensor.device_id)
    if device is None:
        raise BufferError(
            f"{function}: {argument} gave memory on DLPack device {tensor.device_type}; accepted: {_ACCEPTED_DEVICES}"
        )
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    return foreign_view(dtype, shape, strides, device, address, owner, writable, f"{function}: {argument}")
