"""Memory of two owners: given back in the order of both owners' streams."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from xpops.core.devices import CPU, Device
from xpops.core.errors import DeviceError
from xpops.engine import engine_of
from xpops.engine.protocol import Engine
from xpops.frameworks.adapter import Adapter, View


class Borrowed:
    """A lender's memory, released behind the work that xpops has launched on it.

    Parameters
    ----------
    owner : object
        What keeps the memory.
    device : Device
        A GPU.
    lender : int or None
        The stream on which the lender will use the memory again; None if it does not say.
    """

    __slots__ = ("_device", "_lender", "_owner")

    def __init__(self, owner: Any, device: Device, lender: int | None) -> None:
        self._owner, self._device, self._lender = owner, device, lender

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing():  # when even this module's names may be gone
            return
        engine = engine_of(self._device)
        ours = engine.current_stream()
        if self._lender is None:
            with suppress(DeviceError):
                engine.retain(self._owner, ours)
        elif self._lender != ours:
            _order(engine, ours, self._lender, self._owner)


class Lent:
    """Our memory in a consumer's hands, taken back behind the work that the consumer has launched on it.

    Parameters
    ----------
    owner : object
        What keeps the memory.
    device : Device
        A GPU.
    consumer, ours : int
        The stream on which the consumer uses it, and the one on which it will be used again.
    """

    __slots__ = ("_consumer", "_device", "_ours", "_owner")

    def __init__(self, owner: Any, device: Device, consumer: int, ours: int) -> None:
        self._owner, self._device, self._consumer, self._ours = owner, device, consumer, ours

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            _order(engine_of(self._device), self._consumer, self._ours, self._owner)


def _order(engine: Engine, first: int, then: int, owner: Any) -> None:
    """Make the second stream wait for the first before the owner is dropped, or else keep the owner until then.

    A stream may be gone, and its work with it; one that is captured cannot be ordered with one that is not.
    """
    try:
        engine.order(first, then)
    except DeviceError:
        with suppress(DeviceError):
            engine.retain(owner, first)


def borrowed(view: View, adapter: Adapter) -> View:
    """`view`, with an owner that releases it in order. On the CPU everything is in order already."""
    device = view.layout.device
    if device == CPU:
        return view
    return view._replace(owner=Borrowed(view.owner, device, adapter.current_stream(device)))
