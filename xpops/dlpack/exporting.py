"""Arrays out to other libraries: DLPack capsules and ``__cuda_array_interface__``."""

from __future__ import annotations

from typing import Any

from xpops.core import dtypes as dt
from xpops.core.devices import CPU, Device
from xpops.core.errors import describe
from xpops.core.layouts import exported_strides
from xpops.dispatch import Tensor
from xpops.dispatch.ownership import Lent
from xpops.dlpack.capsules import device_of, new_capsule
from xpops.dlpack.copies import CopyNeededError, copy_tensor, move_tensor
from xpops.engine import engine_of
from xpops.frameworks import capsule as dl

# __cuda_array_interface__ uses NumPy's type strings. NumPy has none for the dtypes of ml_dtypes.
_NAMELESS = (dt.bfloat16, *dt.FLOAT8)


def to_capsule(
    array: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The DLPack capsule of an array: the standard's ``__dlpack__``.

    An array with negative strides is copied unless `copy` is False: torch aborts the process on negative strides
    (pytorch#188023), and a producer does not know its consumer.

    Parameters
    ----------
    array : Tensor
    stream : int, optional
        The consumer's stream. CUDA: None or 1 is the legacy default stream, 2 the per-thread stream, -1 asks for no
        synchronization, and other values are handles. CPU: None.
    max_version : (int, int), optional
        The newest version that the consumer reads. If it is None or below 1.0, the capsule is unversioned.
    dl_device : (int, int), optional
        The array's own device, or ``(1, 0)`` for the host.
    copy : bool, optional
        True: always copy; False: never; None: if `dl_device` or a negative stride requires it.

    Raises
    ------
    BufferError
        If `dl_device` is another device, or `copy` is False but a copy is needed. Also if the array is read-only and
        the consumer reads only unversioned capsules, which have no read-only flag.
    ValueError
        If the device has no such stream.
    """
    own, strides = array._layout.device, array._layout.strides
    target = _target(array, dl_device)
    consumer = _consumer_stream(stream, target)
    is_copied = target != own or bool(copy) or (copy is None and any(stride < 0 for stride in strides))
    if target != own:
        if copy is False:
            raise CopyNeededError(
                f"__dlpack__: copy is False, but the array is on {own} and has to be copied to {target}; "
                "accepted: copy=None or True"
            )
        array = move_tensor(array, target)
    elif is_copied:
        array = copy_tensor(array)
    versioned = max_version is not None and max_version[0] >= 1
    if not (array._writable or versioned):
        raise BufferError(
            f"__dlpack__: the array is read-only and max_version is {max_version}; accepted: (1, 0) or later, "
            "since older capsules cannot say that they are read-only; or copy=True"
        )
    if consumer is not None:
        engine, producer = engine_of(target), engine_of(target).current_stream()
        if producer != consumer:
            engine.order(producer, consumer)
            lent = Lent(array._owner, target, consumer, producer)
            array = Tensor(array._layout, array._data, lent, array._writable)
    flags = (0 if array._writable else dl.READ_ONLY) | (dl.IS_COPIED if is_copied else 0)
    return new_capsule(array, versioned, flags)


def cuda_array_interface(array: Tensor) -> dict[str, Any]:
    """The array's ``__cuda_array_interface__``, version 3.

    Raises
    ------
    AttributeError
        If the array is not on a CUDA device, or the interface has no name for its dtype. So ``hasattr`` returns False.
    """
    layout = array._layout
    engine, item = engine_of(layout.device), layout.dtype.itemsize
    if engine.dlpack_kind != dl.KIND_CUDA:
        raise AttributeError(f"__cuda_array_interface__: the array is on {layout.device}; accepted: an array on a GPU")
    if layout.dtype in _NAMELESS:
        raise AttributeError(f"__cuda_array_interface__: it has no name for {layout.dtype}; accepted: DLPack")
    return {
        "version": 3,
        "shape": layout.shape,
        "typestr": layout.dtype.str,
        "data": (engine.address(array._data) if layout.size else 0, not array._writable),
        "strides": None if layout.contiguous else tuple(step * item for step in exported_strides(layout)),
        "stream": engine.current_stream() or 1,
    }


def _target(array: Tensor, dl_device: tuple[Any, int] | None) -> Device:
    if dl_device is None:
        return array._layout.device
    kind, index = int(getattr(dl_device[0], "value", dl_device[0])), int(dl_device[1])
    if (kind, index) == device_of(array._layout):
        return array._layout.device
    if (kind, index) == (dl.KIND_CPU, 0):
        return CPU
    raise BufferError(
        f"__dlpack__: dl_device is ({kind}, {index}) and the array is on {array._layout.device}; "
        f"accepted: {device_of(array._layout)}, or (1, 0) for the host"
    )


def _consumer_stream(stream: Any, target: Device) -> int | None:
    """The handle of the stream that must wait for our stream; None if none must."""
    if engine_of(target).is_host:
        if stream is not None:
            raise ValueError(f"__dlpack__: stream is {stream!r}; accepted on the CPU: None")
        return None
    if stream is None or stream == 1:
        return 0
    if not isinstance(stream, int) or isinstance(stream, bool):
        raise TypeError(f"__dlpack__: stream is {describe(stream)}; accepted: None or an integer")
    if stream == 0 or stream < -1:
        raise ValueError(
            f"__dlpack__: stream is {stream}; accepted on CUDA: None or 1 (legacy default), 2 (per thread), "
            "-1 (no order), or a handle"
        )
    return None if stream == -1 else stream
