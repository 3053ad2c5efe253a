"""What the engine of a device must offer besides primitives: memory, copies to and from the host, and streams."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from xpops.core.layouts import Layout
from xpops.engine.program import Data, Kernel, Owner


class Memory(Protocol):
    """The memory and the streams of one device."""

    def allocate(self, layout: Layout, stream: int) -> tuple[Data, Owner]:
        """Allocate uninitialised memory in the order of `stream`; `layout` is C-contiguous or densely permuted."""

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Owner]]:
        """A function ``(stream)`` that allocates memory for this layout; see `allocate`."""

    def sequence(self, kernel: Kernel, specs: tuple[Layout | type, ...]) -> Kernel:
        """A kernel that does the same as `kernel`, perhaps in less time of the host.

        `specs` has the layout of each argument after the stream, or the type of a scalar.
        """

    def view(self, data: Data, offset: int, layout: Layout) -> Data:
        """The data of a view that begins `offset` elements after the first of `data`; `layout` has the same dtype."""

    def address(self, data: Data) -> int:
        """The address of the first element."""

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> Data:
        """Data for foreign memory, which `owner` keeps alive."""

    def to_host(self, data: Data, layout: Layout, stream: int) -> Any:
        """Copy a C-contiguous `layout` to a C-contiguous ndarray. Waits for the stream."""

    def from_host(self, array: Any, data: Data, layout: Layout, stream: int) -> None:
        """Copy a C-contiguous ndarray to the memory of a C-contiguous `layout`. Waits until the ndarray is read."""

    def current_stream(self) -> int:
        """The handle of the stream on which calls run; 0 is the legacy default stream."""

    def current(self) -> AbstractContextManager[object]:
        """A context manager that makes the device current in this thread."""

    def order(self, first: int, then: int) -> None:
        """Make later work on the stream `then` wait for the work that has been launched on the stream `first`."""

    def retain(self, owner: Owner, stream: int) -> None:
        """Keep `owner` alive until the work that has been launched on `stream` is done. Does not wait."""
