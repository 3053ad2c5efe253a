"""Any object with ``__dlpack__`` or ``__cuda_array_interface__``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.devices import CPU, Device
from xpops.core.errors import describe
from xpops.core.guards import copies
from xpops.engine import engine_of
from xpops.frameworks import capsule as dl
from xpops.frameworks.adapter import Adapter, View
from xpops.frameworks.cuda_array_interface import interface_view
from xpops.frameworks.memory import MAX_NDIM, described_view

# The code and the bits of a dtype in DLPack -> the dtype.
DTYPES = {info.dlpack: dtype for dtype, info in dt.INFO.items()}
ACCEPTED_DEVICES = "CPU (1), CUDA (2), CUDA host (3) and CUDA managed (13) memory"
# Keywords of ``__dlpack__`` that older producers do not take, newest first.
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
    """The memory of `x`, ready for work on the stream that `stream` returns for its device.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__`` of any generation.
    function, argument : str
        The public names of both, for errors.
    stream : function from Device to int
    device : Device, optional
        If `x` is on a device that xpops does not support, "cpu" asks the producer to copy it to the host. Otherwise
        `x` is viewed on its own device.
    copy : bool, optional
        False: a producer that would copy must refuse.
    writable : bool
        False: the view is read-only, even if the producer allows writes.

    Raises
    ------
    AttributeError, TypeError
        If ``__dlpack_device__`` is missing or does not name a device, or ``__dlpack__`` returns no capsule.
    BufferError
        If xpops does not support the device, the dtype or the DLPack version of `x`, or if the description of the
        memory is impossible. Unknown flags are ignored, as DLPack asks of consumers.
    """
    what = f"{function}: {argument}"
    kind, index = _announced_device(x, what)
    place = device_at(kind, index)
    options: dict[str, Any] = {"max_version": dl.VERSION}
    if place is None:
        if device != CPU:
            raise BufferError(
                f"{what} is on DLPack device ({kind}, {index}); "
                f"accepted: {ACCEPTED_DEVICES}, or device='cpu' if it can copy itself there"
            )
        options["dl_device"] = (dl.KIND_CPU, 0)
    elif place != CPU:
        # Never None, which producers interpret in different ways; in DLPack, 1 is the legacy default stream.
        options["stream"] = stream(place) or 1
    if copy is False:
        options["copy"] = False
    with engine_of(place or CPU).current():  # torch exports from its current device only
        tensor, flags, owner = dl.consume(_capsule_of(x, options), function, argument)
    if copy is False and flags & dl.IS_COPIED:
        raise BufferError(f"{function}: copy is False, but {argument} was copied by its __dlpack__")
    if copies.is_open and flags & dl.IS_COPIED:
        copies.report(f"{what} was copied by its __dlpack__")
    if device_at(tensor.device_type, tensor.device_id) != (place or CPU):
        raise BufferError(
            f"{what} gave memory on DLPack device ({tensor.device_type}, {tensor.device_id}); "
            f"accepted: memory on {place or CPU}, as announced or asked for"
        )
    return view_of_tensor(tensor, place or CPU, owner, writable and not flags & dl.READ_ONLY, what)


class DLPackAdapter(Adapter):
    """Arrays of any framework that exchanges them by DLPack or CUDA's array interface.

    This class itself is the adapter of arrays of unknown frameworks: their results are xpops arrays. The adapter of a
    framework is a subclass with a name, `is_array_type` and `export`.
    """

    name = "dlpack"

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        if hasattr(type(x), "__dlpack__"):
            return dlpack_view(x, function, argument, stream)
        return interface_view(x, function, argument, stream)

    def export(self, array: Any) -> Any:
        return array


ADAPTER = DLPackAdapter()


def _capsule_of(x: Any, options: dict[str, Any]) -> Any:
    """A capsule of `x`. Leaves keywords out, newest first, if an older producer does not know them."""
    while True:
        try:
            return x.__dlpack__(**options)
        except TypeError as error:
            # Python's message about an unknown keyword contains "argument". Other errors are the producer's own.
            newest = next((keyword for keyword in _OPTIONAL if keyword in options), None)
            if newest is None or "argument" not in str(error):
                raise
            del options[newest]


def _announced_device(x: Any, what: str) -> tuple[int, int]:
    """The kind and the index of the device from ``__dlpack_device__``. The kind may be a member of an enumeration."""
    if not hasattr(type(x), "__dlpack_device__"):
        raise AttributeError(f"{what} is {describe(x)} without __dlpack_device__; accepted: an object with it")
    device = x.__dlpack_device__()
    try:
        kind, index = device
        return operator.index(getattr(kind, "value", kind)), operator.index(index)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what}.__dlpack_device__() returned {device!r}; accepted: two integers") from error


def device_at(kind: int, index: int) -> Device | None:
    """The device of a kind and an index; None if xpops does not support it."""
    if kind in (dl.KIND_CPU, dl.KIND_CUDA_HOST):
        return CPU
    known = kind in (dl.KIND_CUDA, dl.KIND_CUDA_MANAGED) and 0 <= index < 2**31
    return Device(f"cuda:{index}") if known else None


def view_of_tensor(tensor: dl.DLTensor, device: Device, owner: dl.Owner, writable: bool, what: str) -> View:
    """The memory that a tensor describes. `what` names it in errors."""
    dtype = DTYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise BufferError(
            f"{what} has DLPack dtype code {tensor.code}, bits {tensor.bits}, lanes {tensor.lanes}; "
            f"accepted: the codes of {', '.join(known.name for known in dt.INFO)}, lanes 1"
        )
    ndim = tensor.ndim
    if not 0 <= ndim <= MAX_NDIM:
        raise BufferError(f"{what} has ndim {ndim}; accepted: 0 to {MAX_NDIM}")
    if ndim and not tensor.shape:
        raise BufferError(f"{what} has {ndim} axes and no shape, a NULL pointer; accepted: a pointer to {ndim} lengths")
    shape = tuple(tensor.shape[:ndim])
    strides = tuple(tensor.strides[:ndim]) if tensor.strides else None
    if tensor.byte_offset and not tensor.data and 0 not in shape:
        raise BufferError(
            f"{what} has data NULL and byte_offset {tensor.byte_offset}; accepted: memory for its elements"
        )
    address = (tensor.data or 0) + tensor.byte_offset
    return described_view(dtype, shape, strides, device, address, owner, writable, what)
