"""A pretended CUDA driver with streams and a stream-ordered memory pool. Work runs only when something waits for it.

So work runs as late as possible. If memory is reused too early, pending work reads the new values, and a test notices
it without a GPU.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from cuda.bindings import driver

OK, OUT_OF_MEMORY = driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
INVALID, NOT_READY = driver.CUresult.CUDA_ERROR_INVALID_HANDLE, driver.CUresult.CUDA_ERROR_NOT_READY
_STATUS = driver.CUstreamCaptureStatus
_MODULES = ("memory", "settling", "capture", "recording", "runtime", "words")
_ASIDE = 1 << 20  # the stream that the pool creates


class Mark:
    """A place in a stream's work, and whether the stream has reached it."""

    def __init__(self, stream: int = 0, is_done: bool = True) -> None:
        self.stream, self.is_done = stream, is_done


class Event:
    """An event: the mark of its last record. What waits for it waits for the mark of that moment."""

    def __init__(self) -> None:
        self.mark = Mark()


class FakeGraph:
    """A graph: its work, the launches that are not done, and what is posted when all is done and it is destroyed."""

    def __init__(self) -> None:
        self.work: list[Callable[[], None]] = []
        self.semaphores: list[int] = []
        self.running, self.is_destroyed = 0, False

    def post_if_gone(self) -> None:
        while self.semaphores and self.is_destroyed and not self.running:
            ctypes.CDLL(None).sem_post(ctypes.c_void_p(self.semaphores.pop()))

    def end_launch(self) -> None:
        self.running -= 1
        self.post_if_gone()


class FakeDriver:
    """The functions of the driver for memory and the order of streams.

    Attributes
    ----------
    total, others : int
        The device's memory in bytes, and the part that other libraries use.
    held : dict of int to int
        Blocks whose free has not run yet, so that nobody else can get them: address -> bytes.
    freed : list of (int, int)
        The address and stream of every requested free.
    values : dict of int to object
        The contents of memory, by address.
    capturing, gone : set of int
        Streams that are being captured, and destroyed streams.
    in_graphs : list of int
        Addresses whose free was captured.
    trims : int
        How many times the pool was trimmed.
    graphs : list of FakeGraph
        The executable graphs that exist.
    """

    def __init__(self, total: int = 1 << 30) -> None:
        self.total, self.others = total, 0
        self.held: dict[int, int] = {}
        self.freed: list[tuple[int, int]] = []
        self.values: dict[int, Any] = {}
        self.capturing: set[int] = set()
        self.gone: set[int] = set()
        self.in_graphs: list[int] = []
        self.trims = 0
        self.graphs: list[FakeGraph] = []
        self._streams = 0
        # The graphs of the streams that `cuStreamBeginCapture` has put into capture.
        self._captures: dict[int, FakeGraph] = {}
        self._pending: dict[int, deque[Callable[[], None]]] = {}
        # For each address: the stream of its last free, and an object that identifies this free.
        self._free: dict[int, tuple[int, object]] = {}
        self._next = 1 << 30

    def __getattr__(self, name: str) -> Any:
        return getattr(driver, name)  # for enumerations

    # Work that tests launch

    def launch(self, stream: int, work: Callable[[], None]) -> None:
        if stream in self._captures:
            self._captures[stream].work.append(work)
            return
        self._pending.setdefault(stream, deque()).append(work)

    def write(self, stream: int, address: int, value: Any) -> None:
        self.launch(stream, lambda: self.values.__setitem__(address, value))

    def read(self, stream: int, address: int) -> list[Any]:
        """Queue a read. Returns a list to which the value is appended when the read runs."""
        seen: list[Any] = []
        self.launch(stream, lambda: seen.append(self.values.get(address)))
        return seen

    def finish(self, stream: int) -> None:
        """Run all work of a stream, and all work that it waits for."""
        pending = self._pending.get(stream, deque())
        while pending:
            pending.popleft()()

    def finish_alternately(self, *streams: int) -> None:
        """Run all work of these streams, one piece of each in turn."""
        while pending := [queue for queue in map(self._pending.get, streams) if queue]:
            for queue in pending:
                if queue:
                    queue.popleft()()

    def _run_until(self, mark: Mark) -> None:
        pending = self._pending.get(mark.stream, deque())
        while not mark.is_done:
            pending.popleft()()

    # Streams and events

    def cuStreamCreate(self, flags: Any) -> Any:
        self._streams += 1
        return OK, _ASIDE + self._streams - 1

    def cuStreamQuery(self, stream: int) -> Any:
        return (NOT_READY if self._pending.get(stream) else OK,)

    def cuStreamSynchronize(self, stream: int) -> Any:
        self.finish(stream)
        return (OK,)

    def cuStreamIsCapturing(self, stream: int) -> Any:
        if stream in self.gone:
            return INVALID, None
        status = "ACTIVE" if stream in self.capturing else "NONE"
        return OK, getattr(_STATUS, f"CU_STREAM_CAPTURE_STATUS_{status}")

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> Any:
        return OK, mode

    def cuCtxSynchronize(self) -> Any:
        for stream in list(self._pending):
            self.finish(stream)
        return (OK,)

    def cuEventCreate(self, flags: Any) -> Any:
        return OK, Event()

    def cuEventRecord(self, event: Event, stream: int) -> Any:
        if stream in self.gone:
            return (INVALID,)
        mark = event.mark = Mark(stream, is_done=False)
        self.launch(stream, lambda: setattr(mark, "is_done", True))
        return (OK,)

    def cuStreamWaitEvent(self, stream: int, event: Event, flags: int) -> Any:
        if stream in self.gone:
            return (INVALID,)
        mark = event.mark
        self.launch(stream, lambda: self._run_until(mark))
        return (OK,)

    def cuEventQuery(self, event: Event) -> Any:
        return (OK if event.mark.is_done else NOT_READY,)

    def cuEventSynchronize(self, event: Event) -> Any:
        self._run_until(event.mark)
        return (OK,)

    def cuEventDestroy(self, event: Event) -> Any:
        return (OK,)

    # Graphs

    def cuStreamBeginCapture(self, stream: int, mode: Any) -> Any:
        if stream in self.capturing:
            return (driver.CUresult.CUDA_ERROR_ILLEGAL_STATE,)
        self.capturing.add(stream)
        self._captures[stream] = FakeGraph()
        return (OK,)

    def cuStreamGetCaptureInfo(self, stream: int) -> Any:
        graph = self._captures[stream]
        return OK, _STATUS.CU_STREAM_CAPTURE_STATUS_ACTIVE, id(graph), graph

    def cuStreamEndCapture(self, stream: int) -> Any:
        if stream not in self._captures:
            return driver.CUresult.CUDA_ERROR_ILLEGAL_STATE, None
        self.capturing.remove(stream)
        return OK, self._captures.pop(stream)

    def cuUserObjectCreate(self, semaphore: int, destroy: Any, references: int, flags: Any) -> Any:
        return OK, semaphore

    def cuGraphRetainUserObject(self, graph: FakeGraph, semaphore: int, references: int, flags: Any) -> Any:
        graph.semaphores.append(semaphore)
        return (OK,)

    def cuGraphInstantiate(self, graph: FakeGraph, flags: int) -> Any:
        self.graphs.append(graph)
        return OK, graph

    def cuGraphDestroy(self, graph: FakeGraph) -> Any:
        if graph not in self.graphs:
            graph.is_destroyed = True
            graph.post_if_gone()
        return (OK,)

    def cuGraphLaunch(self, graph: FakeGraph, stream: int) -> Any:
        assert graph in self.graphs, "launched after it was destroyed"
        for work in graph.work:
            self.launch(stream, work)
        graph.running += 1
        self.launch(stream, graph.end_launch)
        return (OK,)

    def cuGraphExecDestroy(self, graph: FakeGraph) -> Any:
        self.graphs.remove(graph)
        graph.is_destroyed = True
        graph.post_if_gone()
        return (OK,)

    # Memory

    def cuMemPoolCreate(self, properties: Any) -> Any:
        return OK, "pool"

    def cuMemPoolSetAttribute(self, pool: Any, attribute: Any, value: Any) -> Any:
        return (OK,)

    def cuMemPoolTrimTo(self, pool: Any, least: int) -> Any:
        self.trims += 1
        return (OK,)

    def cuMemGetInfo(self) -> Any:
        return OK, (self.total - self.others - sum(self.held.values()), self.total)

    def cuMemAllocFromPoolAsync(self, size: int, pool: Any, stream: int) -> Any:
        """Memory that this stream has freed, or memory whose free has run; otherwise new memory."""
        for address, (freed_on, _) in self._free.items():
            if freed_on == stream and self.held.get(address) == size:
                del self._free[address]
                return OK, address
        if sum(self.held.values()) + self.others + size > self.total:
            return OUT_OF_MEMORY, None
        address = next((each for each in sorted(self._free) if each not in self.held), self._next)
        self._next += (address == self._next) << 30
        self._free.pop(address, None)
        self.held[address] = size
        return OK, address

    def cuMemFreeAsync(self, address: int, stream: int) -> Any:
        if stream in self.gone:
            return (INVALID,)
        if stream in self.capturing:
            self.in_graphs.append(address)  # every replay of the graph frees it
            return (OK,)
        assert address in self.held
        assert address not in self._free, "freed twice"
        self.freed.append((address, stream))
        this = self._free[address] = stream, object()

        def run() -> None:
            if self._free.get(address) is this:  # nobody has allocated it again
                del self.held[address]

        self.launch(stream, run)
        return (OK,)


class FakeContext:
    """The context of a pretended device."""

    device, index = "cuda:0", 0

    def __enter__(self) -> FakeContext:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def pretend(monkeypatch: pytest.MonkeyPatch, total: int = 1 << 30) -> FakeDriver:
    """Install the pretended driver in the modules that manage memory and order. No thread runs in the background."""
    fake = FakeDriver(total)
    for name in _MODULES:
        __import__(f"xpops.engine.cuda.runtime.{name}")
        monkeypatch.setattr(sys.modules[f"xpops.engine.cuda.runtime.{name}"], "driver", fake)
    monkeypatch.setattr(
        "xpops.engine.cuda.runtime.recording.replayer_of",
        lambda context, graph: lambda stream: fake.cuGraphLaunch(graph, stream),
    )
    for function in ("cuGetErrorName", "cuGetErrorString"):  # functions that would need a library
        monkeypatch.setattr(driver, function, lambda error: (OK, error.name.encode()))
    monkeypatch.setattr("xpops.engine.cuda.runtime.settling._thread.start_new_thread", lambda *arguments: None)
    return fake
