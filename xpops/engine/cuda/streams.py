"""The current stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# 0 is CUDA's legacy default stream, which waits for every blocking stream and they for it.
LEGACY_DEFAULT = 0

_current: ContextVar[int] = ContextVar("xpops.stream", default=LEGACY_DEFAULT)
current = _current.get


@contextmanager
def stream(s: Any) -> Iterator[None]:
    """Run the calls of a block on the stream `s`, in this thread or task only.

    Arrays of torch and cupy alone are computed on those libraries' own current streams, whatever this says.

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
    token = _current.set(_handle(s))
    try:
        yield
    finally:
        _current.reset(token)


def _handle(s: Any) -> int:
    if hasattr(s, "__cuda_stream__"):
        protocol = s.__cuda_stream__
        _, handle = protocol() if callable(protocol) else protocol
        return int(handle)
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(getattr(s, attribute, None), int):
            return int(getattr(s, attribute))
    raise TypeError(
        f"stream: s is a {type(s).__qualname__}; accepted: an object with __cuda_stream__, or a torch or cupy stream"
    )
