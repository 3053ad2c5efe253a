"""Freed memory that others may have: the driver hands it on once somebody has waited for the stream that freed it."""

from __future__ import annotations

import _thread
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import DeviceError
from xpops.engine.cuda.capture import uncaptured
from xpops.engine.cuda.driver import DeviceContext, check

_SUCCESS = driver.CUresult.CUDA_SUCCESS
_NOT_CAPTURING = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
# Seconds between two waits of the thread.
PAUSE = 0.001


class Settler:
    """Waits for streams that have freed memory: at once for idle ones, on a thread of its own for busy ones.

    Otherwise a library that runs short would not get the memory before a call of somebody waits for the device.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        # Freeing may happen in a collection of garbage, at any moment: nothing but this queue may be locked then. It
        # holds an event, or None for whatever the legacy default stream has freed so far.
        self._freed: SimpleQueue[Any] = SimpleQueue()
        self._is_noted = False
        self._is_started = False

    def start(self) -> None:
        """Start the thread, if it is not there. Not while garbage is collected."""
        if not self._is_started:
            self._is_started = True
            # threading's own start does not survive an interrupt at any moment.
            _thread.start_new_thread(self._run, ())

    def free(self, address: int, stream: int) -> bool:
        """Free memory of the driver's pool in the order of a stream.

        Returns whether that could be: not while the stream is captured, nor if it is gone.
        """
        with uncaptured(self._context):
            # While a blocking stream is captured, this fails for the legacy default one, and touching that would end
            # the capture: this call does not.
            error, status = driver.cuStreamIsCapturing(stream)
            if error is not _SUCCESS or status is not _NOT_CAPTURING:
                return False
            idle = driver.cuStreamQuery(stream)[0] is _SUCCESS
            if driver.cuMemFreeAsync(address, stream)[0] is not _SUCCESS:
                return False
            with suppress(DeviceError):  # after a fault there is nothing to wait for
                if idle:
                    check(driver.cuStreamSynchronize(stream))
                elif stream:  # which may be gone when the thread comes to it
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
                    # What is freed from here on is noted anew.
                    self._is_noted = False
                    if driver.cuStreamIsCapturing(0)[0] is not _SUCCESS:  # see `free`
                        continue  # who frees after the capture notes it
                with suppress(DeviceError):
                    event = event or _event_on(0)
                    driver.cuEventSynchronize(event)
                    driver.cuEventDestroy(event)


def _event_on(stream: int) -> Any:
    flags = driver.CUevent_flags
    event = check(driver.cuEventCreate(flags.CU_EVENT_DISABLE_TIMING | flags.CU_EVENT_BLOCKING_SYNC))
    check(driver.cuEventRecord(event, stream))
    return event
