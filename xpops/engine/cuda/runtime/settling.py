"""Make freed memory available to other libraries: the driver gives it away only after a wait for the freeing stream."""

from __future__ import annotations

import _thread
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime.capture import uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext, check

_SUCCESS = driver.CUresult.CUDA_SUCCESS
_NOT_CAPTURING = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
# Seconds between two waits of the thread.
PAUSE = 0.001


class Settler:
    """Wait for streams that have freed memory: for an idle stream at once, for a busy one on a separate thread.

    Without that, a library that runs out of memory would get this memory only after some call waits for the device.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        # The garbage collector may call `free` at any moment: then no lock may be taken except that of this queue. An
        # entry is an event, or None for all memory that the legacy default stream has freed so far.
        self._freed: SimpleQueue[Any] = SimpleQueue()
        self._is_noted = False
        self._is_started = False

    def start(self) -> None:
        """Start the thread, if it is not running. Do not call this during garbage collection."""
        if not self._is_started:
            self._is_started = True
            # `threading.Thread.start` is not safe if an interrupt comes at a bad moment.
            _thread.start_new_thread(self._run, ())

    def free(self, address: int, stream: int) -> bool:
        """Free memory of the driver's pool in the order of a stream.

        Returns False, and frees nothing, if the stream is in capture or destroyed.
        """
        with uncaptured(self._context):
            # While a blocking stream is in capture, any use of the legacy default stream would end the capture. This
            # query is safe: it only returns an error.
            error, status = driver.cuStreamIsCapturing(stream)
            if error is not _SUCCESS or status is not _NOT_CAPTURING:
                return False
            idle = driver.cuStreamQuery(stream)[0] is _SUCCESS
            if driver.cuMemFreeAsync(address, stream)[0] is not _SUCCESS:
                return False
            with suppress(DeviceError):  # after a fault there is nothing to wait for
                if idle:
                    check(driver.cuStreamSynchronize(stream))
                elif stream:  # an event, since the stream may be destroyed before the thread waits
                    self._freed.put(_event_on(stream))
                elif not self._is_noted:
                    self._freed.put(None)
                    self._is_noted = True
        return True

    def _run(self) -> None:
        with uncaptured(self._context):
            while True:
                event = self._freed.get()
                time.sleep(PAUSE)
                if event is None:
                    # From here on, `free` adds a new entry.
                    self._is_noted = False
                    if driver.cuStreamIsCapturing(0)[0] is not _SUCCESS:  # see `free`
                        continue  # the next `free` after the capture adds a new entry
                with suppress(DeviceError):
                    event = event or _event_on(0)
                    driver.cuEventSynchronize(event)
                    driver.cuEventDestroy(event)


def _event_on(stream: int) -> Any:
    flags = driver.CUevent_flags
    event = check(driver.cuEventCreate(flags.CU_EVENT_DISABLE_TIMING | flags.CU_EVENT_BLOCKING_SYNC))
    check(driver.cuEventRecord(event, stream))
    return event
