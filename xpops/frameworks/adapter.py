"""What an adapter is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from xpops.core.devices import Device
from xpops.core.layouts import Layout
from xpops.engine.protocol import Data


class View(NamedTuple):
    """Memory of any array, as the engines see it.

    Attributes
    ----------
    layout : Layout
    data : Data
        What the engine of ``layout.device`` computes on.
    owner : object
        What keeps the memory alive.
    writable : bool
    """

    layout: Layout
    data: Data
    owner: Any
    writable: bool


class Adapter(Protocol):
    """One framework's arrays in and out, without a copy.

    Attributes
    ----------
    name : str
        The module's name.
    """

    name: str

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        """The memory of `x`, ready for work on the stream that `stream` gives for its device.

        Errors name the public `function` and its `argument`.
        """

    def allocate(self, layout: Layout) -> tuple[Any, Data] | None:
        """A new array of the framework, by its own allocator, and its data; None if it has to go through `export`."""

    def export(self, array: Any) -> Any:
        """The framework's array on the memory of an xpops array, for frameworks that `allocate` nothing."""

    def current_stream(self, device: Device) -> int | None:
        """The handle of the framework's current stream (0: legacy default); None where it has none to know."""
