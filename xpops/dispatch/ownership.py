"""Memory that xpops borrows from, or lends to, another library: the owner's stream waits before it is released."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from xpops.core.compiled import compiled
from xpops.core.devices import Device
from xpops.core.errors import DeviceError
from xpops.core.layouts import Layout
from xpops.dispatch import steady
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.engine.protocol import Engine
from xpops.frameworks.adapter import Adapter, View, is_inherited


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
        if self._lender != ours:
            _give_back(engine, self._owner, self._lender, ours)


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


def _give_back(engine: Engine, owner: Any, lender: int | None, ours: int) -> None:
    """Make the lender's stream wait for `ours`. If it is unknown, keep the owner alive until the work is done."""
    if lender is not None:
        _order(engine, ours, lender, owner)
        return
    with suppress(DeviceError):
        engine.retain(owner, ours)


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


def view_borrowed(x: Any, adapter: Adapter, function: str, argument: str) -> View:
    """The memory of a framework's array, with such an owner. It is remembered: `known_array` takes arrays like `x`.

    It is not remembered if the framework's stream is unknown, or it does not know which arrays are read-only.
    """
    view = adapter.view(x, function, argument, lambda device: engine_of(device).current_stream())
    layout = view.layout
    if adapter.is_own(x, view) and adapter.is_writable(x) == view.writable:
        if engine_of(layout.device).is_host:
            steady.remember_array(x, adapter, layout, _adopter_on_host(layout, adapter))
        elif adapter.current_stream(layout.device) is not None:
            steady.remember_array(x, adapter, layout, _adopter_on_gpu(layout, adapter))
    return borrow(view, adapter)


def _adopter_on_host(layout: Layout, adapter: Adapter) -> Callable[[Any, Data], Any]:
    adopt, address, is_writable = engine_of(layout.device).adopt, adapter.address, adapter.is_writable
    lend = None if is_inherited(adapter, "lend") else adapter.lend

    def make(x: Any, data: Data) -> Any:
        writable = is_writable(x)
        if lend is not None:
            data = lend(data)
        memory = data if data.__class__ is np.ndarray else adopt(address(data), layout, x, writable)
        return steady.array_class(layout, memory, x, writable)

    return make


def _adopter_on_gpu(layout: Layout, adapter: Adapter) -> Callable[[Any, Data], Any]:
    device = layout.device
    engine, theirs = engine_of(device), adapter.stream_of(device)
    assert theirs is not None
    if compiled is not None and is_inherited(adapter, "is_writable"):
        give_back = partial(_give_back, engine)
        fast: Callable[[Any, Data], Any] = compiled.Adopter(
            layout, engine.current_stream, theirs, engine.order, give_back
        )
        return fast

    def make(x: Any, data: Data) -> Any:
        lender, ours = theirs(), engine.current_stream()
        if lender != ours:
            engine.order(lender, ours)
        return steady.array_class(layout, data, Borrowed(x, device, lender), adapter.is_writable(x))

    return make
