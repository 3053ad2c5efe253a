"""Reads of arrays on the host: as Python scalars, lists and ndarrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from xpops.arrays.operators import Operators
from xpops.arrays.tensors import to_contiguous
from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.errors import HostCopyError
from xpops.core.guards import waits
from xpops.dispatch import Tensor
from xpops.engine import engine_of

NDArray = np.ndarray[Any, Any]

_copies_allowed: ContextVar[bool] = ContextVar("xpops_host_copies", default=config.allow_host_copies)


class Readable(Operators):
    """A tensor with operators, and with methods that read elements on the host. They wait for the device."""

    __slots__ = ()

    def item(self) -> bool | int | float | complex:
        """The only element, as a Python scalar. Waits for the device.

        Raises
        ------
        ValueError
            If the array has not exactly one element.
        """
        if self._layout.size != 1:
            raise ValueError(f"item: the array has shape {self._layout.shape}; accepted: arrays of one element")
        value: bool | int | float | complex = host_array(self).item()
        return value

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars; a Python scalar for a 0-d array. Waits for the device."""
        return host_array(self).tolist()

    def to_numpy(self) -> NDArray:
        """The elements as a NumPy array: the array's own memory on the CPU, a copy of it from a GPU."""
        return _host_view(self) if engine_of(self._layout.device).is_host else host_array(self)

    def _scalar(self, method: str, *refused: str) -> Any:
        dtype, shape = self._layout.dtype, self._layout.shape
        if shape:
            raise TypeError(f"{method}: the array has shape {shape}; accepted: 0-d arrays")
        for category in refused:
            if dtype in dt.CATEGORIES[category]:
                raise TypeError(f"{method}: the array has dtype {dtype}; {category} dtypes are not accepted")
        return self.item()

    def __bool__(self) -> bool:
        return bool(self._scalar("bool"))

    def __int__(self) -> int:
        return int(self._scalar("int", "complex floating-point"))

    def __float__(self) -> float:
        return float(self._scalar("float", "complex floating-point"))

    def __complex__(self) -> complex:
        value = self._scalar("complex")
        return complex(value, value) if isinstance(value, float) and value != value else complex(value)

    def __index__(self) -> int:
        if self._layout.dtype not in dt.CATEGORIES["integer"]:
            raise TypeError(f"index: the array has dtype {self._layout.dtype}; accepted: integer dtypes")
        return int(self._scalar("index"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        device = self._layout.device
        is_host = engine_of(device).is_host
        if not is_host:
            if not _copies_allowed.get():
                raise HostCopyError(
                    f"__array__: the array is on {device}, and NumPy would copy it to the host; "
                    "ask for the copy with to_numpy(), or allow all with xpops.allow_host_copies()"
                )
            if copy is False:
                raise ValueError(f"__array__: the array is on {device}, so that copy=False is not possible")
        host = _host_view(self) if is_host else host_array(self)
        if dtype is not None and np.dtype(dtype) != host.dtype:
            if copy is False:
                raise ValueError(f"__array__: {host.dtype} to {np.dtype(dtype)} is not possible with copy=False")
            return host.astype(dtype)
        return host.copy() if copy and is_host else host


@contextmanager
def allow_host_copies() -> Iterator[None]:
    """Let NumPy copy arrays from a GPU to the host implicitly, in a ``with`` block of this thread or task.

    ``XPOPS_ALLOW_HOST_COPIES=1`` lets it in all threads.

    Examples
    --------
    >>> with xp.allow_host_copies():
    ...     int(np.sum(np.asarray(xp.arange(4))))
    6
    """
    token = _copies_allowed.set(True)
    try:
        yield
    finally:
        _copies_allowed.reset(token)


def host_array(x: Tensor, stream: Any = None) -> NDArray:
    """A C-contiguous ndarray with a copy of the elements. Waits for the device."""
    if waits.is_open:
        waits.report(f"an array of shape {x._layout.shape} is read on the host")
    x = to_contiguous(x)
    engine = engine_of(x._layout.device)
    current = engine.current_stream()
    handle = current if stream is None else operator.index(stream)
    if handle != current:
        engine.order(current, handle)
    host: NDArray = engine.to_host(x._data, x._layout, handle)
    return host


def _host_view(x: Tensor) -> NDArray:
    if waits.is_open:
        waits.report(f"an array of shape {x._layout.shape} is read on the host")
    host: NDArray = x._data[...]
    if not x._writable:
        host.flags.writeable = False
    return host
