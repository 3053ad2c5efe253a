"""Words that kernels write for the host, and the events that say when they are written."""

from __future__ import annotations

from ctypes import c_uint64
from typing import Any

from cuda.bindings import driver

from xpops.core.compiled import compiled
from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime.capture import uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext, check

GRANULE, WORD = 512, 8
_SUCCESS = driver.CUresult.CUDA_SUCCESS
# The value of a word that no kernel has written yet. No count and no report is as large.
PENDING = 2**64 - 1
# The nanoseconds for which the host reads a word again and again, which is the fastest way to wait for a short kernel.
PATIENCE = 100_000


class HostWords:
    """8-byte words in host memory that kernels write: counts and reports for the host. A new word is `PENDING`.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._free: list[int] = []

    def take(self) -> int:
        """The address of an unused word; it is the same on the host and on the device."""
        try:
            address = self._free.pop()
        except IndexError:
            with uncaptured(self._context):
                flags = driver.CU_MEMHOSTALLOC_DEVICEMAP | driver.CU_MEMHOSTALLOC_PORTABLE
                address = int(check(driver.cuMemHostAlloc(GRANULE, flags)))
            self._free += range(address + WORD, address + GRANULE, WORD)
        c_uint64.from_address(address).value = PENDING
        return address

    def has_arrived(self, address: int) -> bool:
        """Whether a kernel writes a word within `PATIENCE`. False without the compiled core."""
        return compiled is not None and compiled.poll(address, PENDING, PATIENCE)

    def give_back(self, address: int) -> int:
        """Free a word, and return the number in it."""
        value = c_uint64.from_address(address).value
        self._free.append(address)
        return value


class Events:
    """Events to wait for, which are used again. A stream that waits for one waits for its last record until then.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._free: list[Any] = []

    def record(self, stream: int) -> Any:
        """An event that is done when the work launched on a stream so far is done."""
        try:
            event = self._free.pop()
        except IndexError:
            with uncaptured(self._context):
                event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
        if driver.cuEventRecord(event, stream)[0] is not _SUCCESS:  # another device's context, or none, is current
            try:
                with self._context:
                    check(driver.cuEventRecord(event, stream))
            except DeviceError:  # the stream is gone
                self._free.append(event)
                raise
        return event

    def give_back(self, event: Any) -> None:
        """Let another call use an event, which no thread of the host waits for any more."""
        self._free.append(event)
