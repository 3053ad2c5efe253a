"""Launches: a loaded kernel, its grid, and a parameter buffer; a launch writes only the slots that change."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from contextlib import nullcontext
from struct import Struct
from struct import error as StructError
from typing import Any

from cuda.bindings import driver

from xpops.core import config
from xpops.core.compiled import compiled
from xpops.engine.cuda.runtime import driver as cuda_driver
from xpops.engine.cuda.runtime.capture import is_capturing, uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext, check
from xpops.engine.cuda.runtime.entry import ENTRY, PORTABLE
from xpops.engine.cuda.runtime.native import driver_address

# The most bytes of parameters that the compiled core takes; CUDA takes as many on every device.
_MOST_BYTES = 4096
_SUCCESS = driver.CUresult.CUDA_SUCCESS
# The errors of a launch if another device's context, or none, is current in the calling thread.
_WRONG_CONTEXT = (
    driver.CUresult.CUDA_ERROR_INVALID_CONTEXT,
    driver.CUresult.CUDA_ERROR_INVALID_HANDLE,
    driver.CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
)


class Function:
    """A kernel loaded on one device. It is never unloaded.

    Parameters
    ----------
    cubin : bytes
    context : DeviceContext
    overlaps : bool
        Whether the kernel may be launched before the one before it on its stream has ended. The compiled core does so,
        which saves a microsecond between kernels; without it, the host takes longer than that for a call.
    """

    def __init__(self, cubin: bytes, context: DeviceContext, overlaps: bool) -> None:
        with uncaptured(context):
            self.handle = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(cubin)), ENTRY.encode()))
            attribute = driver.CUfunction_attribute
            cluster = check(driver.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, self.handle))
            if cluster > PORTABLE:
                wide = attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
                check(driver.cuFuncSetAttribute(self.handle, wide, 1))
        self.overlaps, self._context, self._shared = overlaps, context, 0

    def allow_shared(self, nbytes: int) -> None:
        """Allow launches with so much dynamic shared memory. Without this, a block has 48 KiB of shared memory."""
        if nbytes <= self._shared:
            return
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with uncaptured(self._context):
            check(driver.cuFuncSetAttribute(self.handle, attribute, nbytes))
        self._shared = nbytes  # only now: another thread may launch as soon as it reads this


def launcher(
    name: str,
    function: Function,
    context: DeviceContext,
    blocks: int,
    threads: int,
    slots: str,
    tail: bytes,
    shared: int = 0,
) -> Callable[..., None]:
    """A function ``(stream, *slots)`` that launches the kernel.

    Parameters
    ----------
    name : str
        For errors.
    slots : str
        The `struct` format of the parameters that change from call to call: addresses and scalars.
    tail : bytes
        The parameters that follow the slots and never change.
    shared : int
        The bytes of dynamic shared memory of a block.
    """
    head = Struct("<" + slots)
    write, free = head.pack_into, []  # type: ignore[var-annotated]
    function.allow_shared(shared)
    handle, launch_kernel = function.handle, driver.cuLaunchKernel

    def new_buffer() -> tuple[Any, int, Any]:
        # The kernel has one parameter, a structure. The driver takes an array of pointers to the parameters.
        buffer = ctypes.create_string_buffer(bytes(head.size) + tail, (head.size + len(tail) + 31) // 16 * 16)
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
        return buffer, ctypes.addressof(pointers), pointers

    def launch(stream: int, *values: Any) -> None:
        # A launch releases the GIL, so each concurrent launch has its own buffer.
        try:
            parameters = free.pop()
        except IndexError:
            parameters = new_buffer()
        try:
            write(parameters[0], 0, *values)
        except StructError:  # addresses and checked integers always fit
            free.append(parameters)
            raise OverflowError(f"{name}: a Python integer is beyond the range of float64") from None
        (error,) = launch_kernel(handle, blocks, 1, 1, threads, 1, 1, shared, stream, parameters[1], 0)
        if error is not _SUCCESS:
            _launch_again(error, name, context, handle, blocks, threads, shared, stream, parameters[1])
        free.append(parameters)

    def guarded(stream: int, *values: Any) -> None:
        with context:
            launch(stream, *values)
            if config.debug and not is_capturing(stream):
                synchronise(name, context)

    # For the first device the right context is nearly always current; if it is not, the launch returns an error, and
    # `_launch_again` repairs it. In a forked process the launch would crash instead.
    if config.debug or cuda_driver.forked or context.index != 0:
        return guarded
    return _compiled_launcher(name, function, context, blocks, threads, slots, tail, shared) or launch


def _compiled_launcher(
    name: str,
    function: Function,
    context: DeviceContext,
    blocks: int,
    threads: int,
    slots: str,
    tail: bytes,
    shared: int,
) -> Callable[..., None] | None:
    """The launcher of the compiled core, which takes such slots; None if there is none."""
    forms = re.sub(r"(\d+)([Qqd])", lambda found: found[2] * int(found[1]), slots)
    if compiled is None or not set(forms) <= set("Qqd") or 8 * len(forms) + len(tail) > _MOST_BYTES:
        return None

    def failed(error: int, stream: int, pointers: int) -> None:
        found = driver.CUresult(error)
        _launch_again(found, name, context, function.handle, blocks, threads, shared, stream, pointers)

    launch, handle = driver_address("cuLaunchKernelEx"), int(function.handle)
    made: Callable[..., None] = compiled.Kernel(
        name, launch, handle, blocks, threads, shared, function.overlaps, forms, tail, failed
    )
    return made


def _launch_again(
    error: Any,
    name: str,
    context: DeviceContext,
    handle: Any,
    blocks: int,
    threads: int,
    shared: int,
    stream: int,
    pointers: int,
) -> None:
    """If the wrong context was current, launch again with the device's own context; otherwise raise the error.

    If the thread had no context, it keeps this one, so that the next launch succeeds at once.
    """
    if error in _WRONG_CONTEXT:
        with nullcontext() if context.adopt_thread() else context:
            (error,) = driver.cuLaunchKernel(handle, blocks, 1, 1, threads, 1, 1, shared, stream, pointers, 0)
    check((error,), f"launching {name}")


def synchronise(name: str, context: DeviceContext) -> None:
    """Wait for the device. The error of a failed kernel contains `name`."""
    with context:
        check(driver.cuCtxSynchronize(), f"running {name}")
