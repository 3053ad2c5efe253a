"""Exchange of arrays with any other library: DLPack and ``__cuda_array_interface__``."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.devices import CPU, Device
from xpops.core.errors import describe
from xpops.core.layouts import alignment, layout_of
from xpops.dispatch import Tensor, elementwise
from xpops.dispatch.ownership import Lent, borrow
from xpops.engine import engine_of
from xpops.frameworks import capsule as dl
from xpops.frameworks.adapter import Adapter, View, exported_strides
from xpops.frameworks.cuda_array_interface import interface_view
from xpops.frameworks.dlpack import dlpack_view
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY

# __cuda_array_interface__ uses NumPy's type strings. NumPy has none for the dtypes of ml_dtypes.
_NAMELESS = (dt.bfloat16, *dt.FLOAT8)


class CopyNeededError(BufferError, ValueError):
    """A copy is needed, but forbidden. The standard asks for BufferError in some places, for ValueError in others."""


def from_dlpack(x: Any, *, device: Device | None = None, copy: bool | None = None) -> View:
    """The memory of any object with ``__dlpack__``, or a copy of it.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__``, or with ``__cuda_array_interface__``. Of a wrapper, such as a
        masked array, xpops takes only the bare data.
    device : Device, optional
        The device of the result; by default that of `x`.
    copy : bool, optional
        True: always copy; False: never; None: if `device` requires it.

    Raises
    ------
    AttributeError
        If `x` has none of these.
    TypeError
        If the methods of `x` return objects of other types than the protocols define.
    BufferError
        If the description of the memory is impossible, `x` cannot be exported, or `copy` is False but a copy is needed
        (in this case it is a `CopyNeededError`, which is also a ValueError).

    Examples
    --------
    >>> import numpy as np
    >>> from_dlpack(np.arange(3)[::-1]).layout.strides
    (-1,)
    """
    plain = resolve(x, copy, "from_dlpack", "x")
    view = _viewed(plain, device, copy)
    array = Tensor(*view)
    if device is not None and device != view.layout.device:
        if copy is False:
            raise CopyNeededError(
                f"from_dlpack: copy is False, but x is on {view.layout.device} and has to be copied to {device}; "
                "accepted: copy=None or True"
            )
        array = moved(array, device)
    elif copy and plain is x:
        array = copied(array)
    return View(array._layout, array._data, array._owner, array._writable)


def resolve(x: Any, copy: bool | None, function: str, argument: str) -> Any:
    """`x`, or a copy if the memory of `x` holds other values than `x`: torch's lazy conjugates and negatives.

    Raises
    ------
    CopyNeededError
        If `copy` is False but a copy is needed.
    """
    adapter = adapter_of(type(x))
    plain = x if adapter is None else adapter.resolve(x)
    if copy is False and plain is not x:
        raise CopyNeededError(
            f"{function}: copy is False, but {argument} is a lazy conjugate or negative, whose memory holds other "
            "values; accepted: copy=None or True"
        )
    return plain


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
        array = moved(array, target)
    elif is_copied:
        array = copied(array)
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
    return _capsule(array, dl.VERSIONED if versioned else dl.UNVERSIONED, flags)


def device_of(array: Tensor) -> tuple[int, int]:
    """The kind and the index of the array's device in DLPack: the standard's ``__dlpack_device__``."""
    device = array._layout.device
    return engine_of(device).dlpack_kind, device.index


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


def copied(array: Tensor) -> Tensor:
    """A writable copy on the same device."""
    copy: Tensor = elementwise(IDENTITY, (array,), None, array._layout.dtype)
    return copy


def moved(array: Tensor, device: Device) -> Tensor:
    """A writable copy on another device, through the host. Waits for the work on the current stream."""
    engine, layout = engine_of(array._layout.device), array._layout
    stream = engine.current_stream()
    if not layout.contiguous:
        layout = layout_of(layout.dtype, layout.shape, None, layout.device)
        data, owner = engine.allocate(layout, stream)
        array = elementwise(IDENTITY, (array,), Tensor(layout, data, owner), layout.dtype)
    host = engine.to_host(array._data, layout, stream)
    there, target = engine_of(device), layout_of(layout.dtype, layout.shape, None, device)
    if there.is_host:
        return Tensor(layout_of(layout.dtype, layout.shape, None, device, alignment(host.ctypes.data)), host, None)
    data, owner = there.allocate(target, there.current_stream())
    there.from_host(host, data, target, there.current_stream())
    return Tensor(target, data, owner)


def _viewed(x: Any, device: Device | None, copy: bool | None) -> View:
    if isinstance(x, Tensor):
        return View(x._layout, x._data, x._owner, x._writable)

    def stream(where: Device) -> int:
        return engine_of(where).current_stream()

    if hasattr(type(x), "__dlpack__"):
        return borrow(dlpack_view(x, "from_dlpack", "x", stream, device=device, copy=copy), _adapter(x))
    if hasattr(type(x), "__cuda_array_interface__"):
        return borrow(interface_view(x, "from_dlpack", "x", stream), _adapter(x))
    raise AttributeError(
        f"from_dlpack: x is {describe(x)}; "
        "accepted: an object with __dlpack__ and __dlpack_device__, or with __cuda_array_interface__"
    )


def _adapter(x: Any) -> Adapter:
    adapter = adapter_of(type(x))
    assert adapter is not None  # it has one of the two protocols
    return adapter


def _target(array: Tensor, dl_device: tuple[Any, int] | None) -> Device:
    if dl_device is None:
        return array._layout.device
    kind, index = int(getattr(dl_device[0], "value", dl_device[0])), int(dl_device[1])
    if (kind, index) == device_of(array):
        return array._layout.device
    if (kind, index) == (dl.KIND_CPU, 0):
        return CPU
    raise BufferError(
        f"__dlpack__: dl_device is ({kind}, {index}) and the array is on {array._layout.device}; "
        f"accepted: {device_of(array)}, or (1, 0) for the host"
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


class _Lent:
    """The objects that a capsule keeps alive: the array's memory, and the strides. NumPy reads only the interface."""

    __slots__ = ("__array_interface__", "owners", "strides")
    __array_interface__: dict[str, Any]
    owners: tuple[Any, Any]
    strides: ctypes.Array[ctypes.c_int64]


def _capsule(array: Tensor, name: bytes, flags: int) -> Any:
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
    capsule = handle.__dlpack__(max_version=(1, 0)) if name is dl.VERSIONED else handle.__dlpack__()
    managed = dl.managed_in(capsule, name)
    tensor = managed.tensor
    tensor.data, tensor.byte_offset = address or None, 0
    tensor.device_type, tensor.device_id = device_of(array)
    tensor.code, tensor.bits = dt.INFO[layout.dtype].dlpack
    if layout.ndim:
        tensor.strides = lent.strides
    if isinstance(managed, dl.ManagedVersioned):
        (managed.major, managed.minor), managed.flags = dl.VERSION, flags
    return capsule
