"""Record launches as a CUDA graph, and replay it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime import streams
from xpops.engine.cuda.runtime.capture import uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext, check
from xpops.engine.cuda.runtime.memory import Pool
from xpops.engine.cuda.runtime.native import replayer_of

_SUCCESS = driver.CUresult.CUDA_SUCCESS
# Calls that cannot be captured are errors in this thread. Other threads may allocate, load and wait.
_MODE = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


class Recording:
    """An executable CUDA graph. When it is dropped, the driver destroys it as soon as its last replay is done.

    The driver orders the replays of one graph, whatever their streams. Two threads must not replay it at once.

    Attributes
    ----------
    replay : callable
        ``replay(stream)`` launches the graph on a stream.
    """

    __slots__ = ("_context", "_graph", "replay")

    def __init__(self, graph: Any, context: DeviceContext) -> None:
        self._graph, self._context, self.replay = graph, context, replayer_of(context, graph)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            with suppress(DeviceError), uncaptured(self._context):
                check(driver.cuGraphExecDestroy(self._graph))


class Recorder:
    """Records what functions launch on one device, one function at a time.

    Parameters
    ----------
    context : DeviceContext
    pool : Pool
    """

    def __init__(self, context: DeviceContext, pool: Pool) -> None:
        self._context, self._pool = context, pool
        self._stream = 0
        self._lock = threading.RLock()

    def record(
        self, run: Callable[[int], None], placed: dict[int, tuple[int, int]]
    ) -> tuple[Recording, list[tuple[int, int]]]:
        """The graph of everything that ``run(stream)`` launches on its stream, which is also our current stream.

        Nothing that `run` launches is executed. If `run` raises, nothing is left of the recording.

        Parameters
        ----------
        run : callable
        placed : dict
            See `GraphMemory`.

        Returns
        -------
        Recording
        list of (int, int)
            The address and the bytes of each allocation of `run`.
        """
        with self._lock, self._context:
            stream = self._capture_stream()
            try:
                check(driver.cuStreamBeginCapture(stream, _MODE), "beginning a recording")
                memory = self._pool.captures.memory(stream)
                memory.placed = placed
                with streams.set_recorded(self._context.index, stream):
                    run(stream)
            except BaseException:
                error, graph = driver.cuStreamEndCapture(stream)
                if error is _SUCCESS:
                    check(driver.cuGraphDestroy(graph))
                raise
            graph = check(driver.cuStreamEndCapture(stream), "ending a recording that some call has broken off")
            try:
                return Recording(check(driver.cuGraphInstantiate(graph, 0)), self._context), memory.taken
            finally:
                check(driver.cuGraphDestroy(graph))

    def _capture_stream(self) -> int:
        """The stream for recordings. Nothing else runs on it, and it does not wait for the legacy default stream."""
        if not self._stream:
            with uncaptured(self._context):
                self._stream = int(check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)))
        return self._stream


class Turns:
    """Makes users of the same memory take turns, on whatever streams.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        with uncaptured(context):
            self._event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))

    def begin(self, stream: int) -> None:
        """Make later work on `stream` wait until the last turn has ended."""
        with self._context:
            check(driver.cuStreamWaitEvent(stream, self._event, 0))

    def end(self, stream: int) -> None:
        """End the turn after the work that has been launched on `stream`."""
        with self._context:
            check(driver.cuEventRecord(self._event, stream))

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            driver.cuEventDestroy(self._event)
