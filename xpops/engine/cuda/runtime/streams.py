"""The current stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from xpops.core.compiled import compiled
from xpops.core.errors import DeviceError, describe

# 0 is CUDA's legacy default stream. It waits for every blocking stream, and every blocking stream waits for it.
LEGACY_DEFAULT = 0


def no_framework(index: int) -> int:
    """The value of `framework_stream` while no framework has set it: the legacy default stream."""
    return LEGACY_DEFAULT


# The current stream of a framework that may capture graphs, by the device's index; and whether it captures on that
# stream. Every call on xpops arrays calls the first function. Once torch is imported, it is torch's own function.
framework_stream: Callable[[int], int] = no_framework
framework_captures: Callable[[], bool] = bool


# Whether this thread or task records a graph on the stream that is set.
_records: ContextVar[bool] = ContextVar("xpops.records", default=False)


@cache
def _variable(index: int) -> ContextVar[int | None]:
    """The stream that `stream` has set for the GPU with this index, in each thread and task."""
    return ContextVar(f"xpops.stream.{index}", default=None)


def current(index: int) -> Callable[[], int]:
    """A function that returns the current stream of the GPU with this index.

    That is the stream that `stream` has set. Otherwise it is the stream on which a framework captures a graph now, so
    that the graph includes calls on xpops arrays. Otherwise it is the legacy default stream.
    """
    get = _variable(index).get

    def current_stream() -> int:
        handle = get()
        if handle is None:
            handle = framework_stream(index)
            if handle and not framework_captures():
                return LEGACY_DEFAULT
        return handle

    return current_stream if compiled is None else compiled.Stream(get, index, globals())


@contextmanager
def stream(s: Any) -> Iterator[None]:
    """Run the calls of a block on the stream `s`, in this thread or task only.

    Calls with only torch or only cupy arrays ignore this, and run on that library's own current stream.

    The memory of a dropped array is reused in the order of the stream on which the array was made. If you use the array
    on another stream, keep it until that work is done, or make the first stream wait for that work. The same rule holds
    for cupy, and for torch without ``record_stream``.

    Parameters
    ----------
    s : object with ``__cuda_stream__``, ``cuda_stream`` (torch) or ``ptr`` (cupy)
        A stream of any library. It must live as long as arrays made on it.

    Raises
    ------
    TypeError
        If `s` is no stream.
    DeviceError
        If `xpops.graph` records the call: a graph is recorded on one stream.

    Examples
    --------
    >>> class Stream:
    ...     def __cuda_stream__(self):
    ...         return 0, 1  # the protocol's version, and the handle: 1 is the legacy default stream
    >>> with xp.stream(Stream()):
    ...     xp.asarray([1.0]) + 1
    Array([2.], dtype=float64, device='cpu')
    """
    handle = handle_of(s)
    if _records.get():
        raise DeviceError("stream: another stream cannot be recorded; accepted: xp.stream around the call of the graph")
    with set_current(_device_index(s), handle):
        yield


@contextmanager
def set_current(index: int, handle: int) -> Iterator[None]:
    """Make `handle` the current stream of the GPU with this index, in this thread or task only."""
    variable = _variable(index)
    token = variable.set(handle)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def set_recorded(index: int, handle: int) -> Iterator[None]:
    """As `set_current`, and `stream` refuses to set another stream."""
    token = _records.set(True)
    try:
        with set_current(index, handle):
            yield
    finally:
        _records.reset(token)


def _device_index(s: Any) -> int:
    """The index of a stream's GPU, from an attribute that torch, cupy or cuda.core has; 0 if there is none."""
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
    raise TypeError(f"stream: s is {describe(s)}; accepted: an object with __cuda_stream__, or a torch or cupy stream")
