"""Arrays in from other libraries: the standard's ``from_dlpack``."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from xpops.core.devices import Device
from xpops.core.errors import describe
from xpops.core.guards import copies
from xpops.dispatch import Tensor
from xpops.dispatch.ownership import borrow, view_borrowed
from xpops.dlpack.copies import CopyNeededError, copy_tensor, move_tensor
from xpops.engine import engine_of
from xpops.frameworks.adapter import Adapter, View
from xpops.frameworks.cuda_array_interface import interface_view
from xpops.frameworks.dlpack import dlpack_view
from xpops.frameworks.registry import adapter_of


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
    view = _view(plain, device, copy)
    array = Tensor(*view)
    if device is not None and device != view.layout.device:
        if copy is False:
            raise CopyNeededError(
                f"from_dlpack: copy is False, but x is on {view.layout.device} and has to be copied to {device}; "
                "accepted: copy=None or True"
            )
        array = move_tensor(array, device)
    elif copy and plain is x:
        array = copy_tensor(array)
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
    if copies.is_open and plain is not x:
        copies.report(f"{function}: {argument} is a lazy conjugate or negative, which is copied")
    return plain


def _view(x: Any, device: Device | None, copy: bool | None) -> View:
    if isinstance(x, Tensor):
        return View(x._layout, x._data, x._owner, x._writable)

    def stream(where: Device) -> int:
        return engine_of(where).current_stream()

    known = adapter_of(type(x))
    if known is not None and known.lends(x):
        with suppress(TypeError, BufferError):  # sparse tensors, other devices and dtypes: DLPack says what it refuses
            return view_borrowed(x, known, "from_dlpack", "x")
    if hasattr(type(x), "__dlpack__"):
        adapter = _adapter(x)
        view = dlpack_view(x, "from_dlpack", "x", stream, device=device, copy=copy)
        # JAX's capsules allow writes, its arrays do not.
        return borrow(view if adapter.is_writable(x) else view._replace(writable=False), adapter)
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
