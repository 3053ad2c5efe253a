"""The current stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from xpops.core.errors import described

# 0 is CUDA's legacy default stream, which waits for every blocking stream and they for it.
LEGACY_DEFAULT = 0


def no_framework(index: int) -> int:
    """The stream of no framework."""
    return LEGACY_DEFAULT


# From a device's index to the current stream of a framework that may capture graphs, and whether it captures on that.
# The first is asked in every call on xpops arrays: it is torch's own function once torch is there.
framework_stream: Callable[[int], int] = no_framework
framework_captures: Callable[[], bool] = bool


@cache
def _variable(index: int) -> ContextVar[int | None]:
    """The stream that `stream` has set for the GPU with this index, in each thread and task."""
    return ContextVar(f"xpops.stream.{index}", default=None)


def current(index: int) -> Callable[[], int]:
    """A function that returns the current stream of the GPU with this index.

    That is the one that `stream` has set; else the one on which a framework captures a graph at present, so that
    xpops arrays are part of it; else the legacy default stream.
    """
    get = _variable(index).get

    def current_stream() -> int:
        handle = get()
        if handle is None:
            handle = framework_stream(index)
            if handle and not framework_captures():
                return LEGACY_DEFAULT
        return handle

    return current_stream


@contextmanager
def stream(s: Any) -> Iterator[None]:
    """Run the calls of a block on the stream `s`, in this thread or task only.

    Arrays of torch and cupy alone are computed on those libraries' own current streams, whatever this says.

    An array's memory is used again in the order of the stream it was made on. Who uses it on another stream keeps it
    until that work is done, or makes the first stream wait for it: as with cupy, and with torch without
    ``record_stream``.

    Parameters
    ----------
    s : object with ``__cuda_stream__``, ``cuda_stream`` (torch) or ``ptr`` (cupy)
        A stream of any library. It must live as long as arrays made on it.

    Raises
    ------
    TypeError
        If `s` is no stream.

    Examples
    --------
    >>> class Stream:
    ...     def __cuda_stream__(self):
    ...         return 0, 1  # the protocol's version, and the handle: 1 is the legacy default stream
    >>> with xp.stream(Stream()):
    ...     xp.asarray([1.0]) + 1
    Array([2.], dtype=float64, device='cpu')
    """
    handle, variable = handle_of(s), _variable(_device_index(s))
    token = variable.set(handle)
    try:
        yield
    finally:
        variable.reset(token)


def _device_index(s: Any) -> int:
    """The GPU of a stream, as its library says it: torch, cupy, cuda.core; else the first."""
    for attribute in ("device_index", "device_id"):
        if isinstance(getattr(s, attribute, None), int):
            return max(int(getattr(s, attribute)), 0)
    return int(getattr(getattr(s, "device", None), "device_id", 0))


def handle_of(s: Any) -> int:
    """The handle of a stream of any library."""
    if hasattr(s, "__cuda_stream__"):
        protocol = s.__cuda_stream__
        _, handle = protocol() if callable(protocol) else protocol
        return int(handle)
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(getattr(s, attribute, None), int):
            return int(getattr(s, attribute))
    raise TypeError(f"stream: s is {described(s)}; accepted: an object with __cuda_stream__, or a torch or cupy stream")
