"""The driver's functions for the compiled core, which calls them without the bindings."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from xpops.core.compiled import compiled
from xpops.engine.cuda.runtime.driver import DeviceContext


@cache
def driver_address(name: str) -> int:
    """The address of a function of the driver. The bindings have loaded the driver before."""
    return ctypes.cast(ctypes.CDLL("libcuda.so.1")[name], ctypes.c_void_p).value or 0


def transfer_of(context: DeviceContext) -> Callable[[Any, int, int, bool], int] | None:
    """A function ``(ndarray, address, stream, to_host)`` that copies all bytes and waits; None without the core.

    It returns the driver's error, 0 for success. The array is C-contiguous.
    """
    if compiled is None:
        return None
    names = (
        "cuCtxPushCurrent_v2",
        "cuCtxPopCurrent_v2",
        "cuThreadExchangeStreamCaptureMode",
        "cuMemcpyDtoHAsync_v2",
        "cuMemcpyHtoDAsync_v2",
        "cuStreamSynchronize",
    )
    made: Callable[[Any, int, int, bool], int] = compiled.Transfer(int(context.handle), *map(driver_address, names))
    return made
