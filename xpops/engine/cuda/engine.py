"""The primitives on one GPU."""

from __future__ import annotations

import threading
from collections.abc import Callable
from struct import pack
from typing import Any

import numpy as np
from cuda.bindings import driver

from xpops.core.devices import Device
from xpops.core.layouts import Layout
from xpops.engine.cuda import streams
from xpops.engine.cuda.cache import Once, cubin_for
from xpops.engine.cuda.driver import DeviceContext, check
from xpops.engine.cuda.elementwise import empty_kernel, planned, with_python_scalars
from xpops.engine.cuda.glue import arange_glue
from xpops.engine.cuda.launch import Function, launcher
from xpops.engine.cuda.memory import Block, Pool
from xpops.engine.cuda.tuning import ARANGE_BLOCK, ARANGE_UNROLL
from xpops.engine.protocol import Kernel, Owner
from xpops.ops.operator import Operator
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.signature import Operand, Signature


class CudaEngine:
    """One GPU as an engine. Data is an address; owners are blocks of the pool.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self.context = DeviceContext(device)
        self.current_stream = streams.variable(device.index).get
        self.pool = Pool(self.context)
        self._functions = Once()
        self._retained: list[tuple[Any, Owner]] = []
        self._retained_lock = threading.RLock()

    def allocator(self, layout: Layout) -> Callable[[int], tuple[int, Block]]:
        return self.pool.allocator(layout.nbytes)

    def allocate(self, layout: Layout, stream: int) -> tuple[int, Block]:
        return self.pool.allocator(layout.nbytes)(stream)

    def elementwise(self, op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout) -> Kernel:
        if out.size == 0:
            return empty_kernel
        plan, glue = planned(op, signature, operands, out, self.context.capability)
        function = self.function(op.name, glue.source)
        launch = launcher(op.name, function, self.context, plan.blocks, plan.block, glue.slots, plan.tail)
        return with_python_scalars(launch, operands, signature)

    def arange(self, out: Layout) -> Kernel:
        if out.size == 0:
            return empty_kernel
        glue = arange_glue(out, ARANGE_BLOCK, ARANGE_UNROLL)
        elements = ARANGE_BLOCK * ARANGE_UNROLL * MAX_PACK_BYTES // out.dtype.itemsize
        function = self.function("arange", glue.source)
        blocks, tail = -(-out.size // elements), pack("<Q", out.size)
        launch = launcher("arange", function, self.context, blocks, ARANGE_BLOCK, glue.slots, tail)

        def modular(stream: int, out: int, start: int, step: int) -> None:
            launch(stream, out, start % 2**64, step % 2**64)

        def split(stream: int, out: int, start: complex, step: complex) -> None:
            launch(stream, out, start.real, start.imag, step.real, step.imag)

        return {"QQQ": modular, "Qdddd": split}.get(glue.slots, launch)

    def function(self, name: str, source: str) -> Function:
        """The loaded kernel of `source`."""
        return self._functions.get(
            source, lambda: Function(cubin_for(name, source, self.context.capability), self.context)
        )

    def view(self, data: int, offset: int, layout: Layout) -> int:
        return data + offset * layout.dtype.itemsize

    def address(self, data: int) -> int:
        return data

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> int:
        return address

    def to_host(self, data: int, layout: Layout, stream: int) -> Any:
        array = np.empty(layout.shape, layout.dtype)
        if layout.size:
            with self.context:
                check(driver.cuMemcpyDtoHAsync(array.ctypes.data, data, layout.nbytes, stream))
                check(driver.cuStreamSynchronize(stream))
        return array

    def from_host(self, array: Any, data: int, layout: Layout, stream: int) -> None:
        if layout.size:
            with self.context:
                check(driver.cuMemcpyHtoDAsync(data, array.ctypes.data, layout.nbytes, stream))
                # Pageable memory has been read when the call returns, but pinned memory has not.
                check(driver.cuStreamSynchronize(stream))

    def order(self, first: int, then: int) -> None:
        with self.context:
            event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
            check(driver.cuEventRecord(event, first))
            check(driver.cuStreamWaitEvent(then, event, 0))
            check(driver.cuEventDestroy(event))

    def retain(self, owner: Owner, stream: int) -> None:
        with self.context:
            event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
            check(driver.cuEventRecord(event, stream))
            # Each entry is in the hands of one thread at a time: asking the driver gives up the GIL, and dropping an
            # owner may come back here.
            with self._retained_lock:
                entries, self._retained = self._retained, []
            entries.append((event, owner))
            waiting = [entry for entry in entries if not _done(entry[0])]
            with self._retained_lock:
                self._retained += waiting


def _done(event: Any) -> bool:
    (error,) = driver.cuEventQuery(event)
    if error != driver.CUresult.CUDA_SUCCESS:
        return False
    driver.cuEventDestroy(event)
    return True
