"""Memory of two owners: given back in the order of both owners' streams."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from xpops.core.devices import CPU, Device
from xpops.core.errors import DeviceError
from xpops.engine import engine_of
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
        with suppress(DeviceError):  # the lender's stream may be gone, and its work with it
            if self._lender is None:
                engine.retain(self._owner, ours)
            elif self._lender != ours:
                engine.order(ours, self._lender)


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
            with suppress(DeviceError):  # the consumer's stream may be gone, and its work with it
                engine_of(self._device).order(self._consumer, self._ours)


def borrowed(view: View, adapter: Adapter) -> View:
    """`view`, with an owner that releases it in order. On the CPU everything is in order already."""
    device = view.layout.device
    if device == CPU:
        return view
    return view._replace(owner=Borrowed(view.owner, device, adapter.current_stream(device)))
