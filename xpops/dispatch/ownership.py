"""Memory that xpops borrows from, or lends to, another library: the owner's stream waits before it is released."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from xpops.core.devices import Device
from xpops.core.errors import DeviceError
from xpops.engine import engine_of
from xpops.engine.protocol import Engine
from xpops.frameworks.adapter import Adapter, View


class Borrowed:
    """The owner of borrowed memory. When it is dropped, the lender's stream waits for the work of xpops.

    Parameters
    ----------
    owner : object
        The object that keeps the memory alive.
    device : Device
        A GPU.
    lender : int or None
        The stream on which the lender will use the memory again. None if it is unknown: then the memory is kept alive
        until the work of xpops is done.
    """

    __slots__ = ("_device", "_lender", "_owner")

    def __init__(self, owner: Any, device: Device, lender: int | None) -> None:
        self._owner, self._device, self._lender = owner, device, lender

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing():  # this module's names may be gone already
            return
        engine = engine_of(self._device)
        ours = engine.current_stream()
        if self._lender is None:
            with suppress(DeviceError):
                engine.retain(self._owner, ours)
        elif self._lender != ours:
            _order(engine, ours, self._lender, self._owner)


class Lent:
    """The owner of lent memory. When it is dropped, our stream waits for the consumer's work.

    Parameters
    ----------
    owner : object
        The object that keeps the memory alive.
    device : Device
        A GPU.
    consumer, ours : int
        The stream on which the consumer uses the memory, and the stream on which xpops will use it again.
    """

    __slots__ = ("_consumer", "_device", "_ours", "_owner")

    def __init__(self, owner: Any, device: Device, consumer: int, ours: int) -> None:
        self._owner, self._device, self._consumer, self._ours = owner, device, consumer, ours

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            _order(engine_of(self._device), self._consumer, self._ours, self._owner)


def _order(engine: Engine, first: int, then: int, owner: Any) -> None:
    """Make the stream `then` wait for `first`; if that fails, keep the owner alive until the work on `first` is done.

    It fails if a stream no longer exists (then its work is done), or if only one of the two streams is captured.
    """
    try:
        engine.order(first, then)
    except DeviceError:
        with suppress(DeviceError):
            engine.retain(owner, first)


def borrow(view: View, adapter: Adapter) -> View:
    """`view` with a `Borrowed` owner. On the host the view itself: work there is done when a call returns."""
    device = view.layout.device
    if engine_of(device).is_host:
        return view
    owner = Borrowed(view.owner, device, adapter.current_stream(device))
    return View(view.layout, view.data, owner, view.writable)
