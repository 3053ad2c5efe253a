"""What the compiled core does for a GPU. It calls the driver's functions without the bindings."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from cuda.bindings import driver

from xpops.core.compiled import compiled
from xpops.engine.cuda.runtime.driver import DeviceContext, check
from xpops.engine.program import Kernel

_CONTEXT = "cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"


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


def zero_of(context: DeviceContext) -> Callable[[int, int, int], None]:
    """A function ``(stream, address, nbytes)`` that sets memory to zeros."""
    if compiled is None:

        def zero(stream: int, address: int, nbytes: int) -> None:
            with context:
                check(driver.cuMemsetD8Async(address, 0, nbytes, stream))

        return zero

    def fail(error: int) -> None:
        check((driver.CUresult(error),), "setting memory to zeros")

    found = map(driver_address, (*_CONTEXT, "cuMemsetD8Async"))
    made: Callable[[int, int, int], None] = compiled.Zero(fail, int(context.handle), *found)
    return made


def replayer_of(context: DeviceContext, graph: Any) -> Callable[[int], None]:
    """A function ``(stream)`` that launches an executable graph. The caller keeps the graph."""
    if compiled is None:

        def replay(stream: int) -> None:
            with context:  # the legacy default stream is that of the current context
                check(driver.cuGraphLaunch(graph, stream), "replaying a graph")

        return replay

    def fail(error: int) -> None:
        check((driver.CUresult(error),), "replaying a graph")

    found = map(driver_address, (*_CONTEXT, "cuGraphLaunch"))
    made: Callable[[int], None] = compiled.Graph(fail, int(graph), int(context.handle), *found)
    return made


def lookup_of(find: Callable[[int], int]) -> Callable[[int], int]:
    """A function ``(stream)`` that finds an address, as sequences take it. That of the stream 0 never changes."""
    made: Callable[[int], int] = find if compiled is None else compiled.Lookup(find)
    return made


def step_of(function: Kernel) -> Kernel:
    """A function ``(stream, *values)`` of Python as one step of a sequence, such as a call of a library."""
    made: Kernel = function if compiled is None else compiled.Call(function)
    return made


def sequence_of(kernel: Kernel, operands: tuple[bool, ...]) -> Kernel:
    """The launches of a kernel as one function of the compiled core; `kernel` itself if it is more than launches.

    The core calls the kernel once with stand-ins for its arguments. Launchers, allocators, look-ups, `zero` and steps
    note their arguments. Everything else that uses a stand-in is an error, after which the kernel stays as it is.

    Parameters
    ----------
    operands : tuple of bool
        For each argument of the kernel whether it is an address; otherwise it is a scalar.
    """
    made: Kernel = kernel if compiled is None else compiled.sequence(kernel, operands)
    return made
