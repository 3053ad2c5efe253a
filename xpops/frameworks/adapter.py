"""What an adapter is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xpops.core.devices import CPU, Device
from xpops.core.layouts import Layout, contiguous_strides
from xpops.engine import engine_of
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


class Adapter:
    """One framework's arrays in and out, without a copy.

    Subclasses have `is_array_type`, `view` and `export`. What the other methods do by default is right for frameworks
    that take part in nothing more.

    Attributes
    ----------
    name : str
        Whose arrays they are.
    """

    name: str

    def is_array_type(self, cls: type) -> bool:
        """Whether instances of `cls` are arrays of the framework that mean no more than their memory."""
        raise NotImplementedError

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        """The memory of `x`, ready for work on the stream that `stream` gives for its device.

        Errors name the public `function` and its `argument`.
        """
        raise NotImplementedError

    def allocate(self, layout: Layout) -> tuple[Any, Data] | None:
        """A new array of the framework, by its own allocator, and its data; None if it has to go through `export`."""
        return None

    def export(self, array: Any) -> Any:
        """The framework's array on the memory of an xpops array, for frameworks that `allocate` nothing."""
        raise NotImplementedError

    def resolve(self, x: Any) -> Any:
        """A copy of `x` with the values that it stands for, if its memory holds other ones; else `x` itself."""
        return x

    def written(self, x: Any) -> None:
        """Tell the framework that the memory of `x` was written, if it keeps account of that."""

    def release_cache(self) -> None:
        """Hand the GPU memory that the framework caches back, if it has a way to."""

    def current_stream(self, device: Device) -> int | None:
        """The handle of the framework's current stream (0: legacy default); None where it has none to know."""
        return None


def foreign_view(layout: Layout, address: int, owner: Any, writable: bool, what: str) -> View:
    """Memory that `owner` keeps, as a View; `what` begins the error.

    Raises
    ------
    BufferError
        If it is on a GPU and elements are not aligned to their size: kernels would fault.
    """
    device, dtype = layout.device, layout.dtype
    if device != CPU and address % dtype.itemsize:
        raise BufferError(
            f"{what} is at address {address:#x}; accepted: a multiple of {dtype.itemsize} bytes for {dtype}"
        )
    return View(layout, engine_of(device).adopt(address, layout, owner, writable), owner, writable)


def order_before(device: Device, theirs: int, stream: Callable[[Device], int]) -> None:
    """Make work on the stream that `stream` gives wait for what a framework has launched on `theirs`."""
    ours = stream(device)
    if ours != theirs:
        engine_of(device).order(theirs, ours)


def spelled_strides(layout: Layout) -> tuple[int, ...]:
    """The strides of a layout, with those of C order where the value does not matter and others may still look at it.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.layouts import layout_of
    >>> spelled_strides(layout_of(dt.int8, (2, 1, 3), None, CPU))
    (3, 3, 1)
    """
    if layout.contiguous:
        return contiguous_strides(layout.shape)
    usual = contiguous_strides(layout.shape)
    return tuple(
        default if length == 1 else stride
        for length, stride, default in zip(layout.shape, layout.strides, usual, strict=True)
    )
