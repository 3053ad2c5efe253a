"""What a device must offer. Every public function is written once, over these primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from xpops.core.layouts import Layout
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand, Signature

# How an engine holds elements: an address (int) on CUDA, an ndarray of exactly the layout on the CPU.
Data = Any
# What keeps the memory alive; None where the data does so itself.
Owner = Any
# kernel(stream, out, *operands): writes `out`. Operands are Data, or Python scalars where the signature has a type.
Kernel = Callable[..., None]


class Engine(Protocol):
    """The primitives of one kind of device."""

    def allocate(self, layout: Layout, stream: int) -> tuple[Data, Owner]:
        """Uninitialised memory for a C-contiguous or densely permuted `layout`, ordered on `stream`."""

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Owner]]:
        """`allocate` for one layout: a function of the stream, with everything else decided."""

    def elementwise(self, op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout) -> Kernel:
        """The kernel that computes `op`; `out` may be exactly an operand's memory, but must not partly overlap one."""

    def arange(self, out: Layout) -> Kernel:
        """The kernel ``(stream, out, start, step)`` that writes ``start + i * step`` into a C-contiguous `out`."""

    def view(self, data: Data, offset: int, layout: Layout) -> Data:
        """The data of a view: `offset` in elements from the first element of `data`, whose dtype `layout` shares."""

    def address(self, data: Data) -> int:
        """The address of the first element."""

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> Data:
        """Data for memory that came from elsewhere and that `owner` keeps alive."""

    def to_host(self, data: Data, layout: Layout, stream: int) -> Any:
        """A C-contiguous ndarray with the elements of a C-contiguous `layout`. Waits for the stream."""

    def from_host(self, array: Any, data: Data, layout: Layout, stream: int) -> None:
        """Copy a C-contiguous ndarray into the memory of a C-contiguous `layout`. Waits until it has been read."""

    def current_stream(self) -> int:
        """The handle of the stream that calls go to; 0 is the legacy default stream."""

    def order(self, first: int, then: int) -> None:
        """Make later work on the stream `then` wait for the work that is on the stream `first` now."""

    def retain(self, owner: Owner, stream: int) -> None:
        """Keep `owner` alive until the work that is on `stream` now is done. Does not wait."""
