"""CUDA graphs: protect captures in progress, and provide the memory that captured calls use."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime.blocks import Block
from xpops.engine.cuda.runtime.driver import check

_SUCCESS = driver.CUresult.CUDA_SUCCESS
_NOT_CAPTURING = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
_INVALIDATED = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED
_RELAXED = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED


def is_capturing(stream: int) -> bool:
    """Whether the stream is in capture. The legacy default stream never is."""
    if not stream:
        return False
    error, status = driver.cuStreamIsCapturing(stream)
    return error is _SUCCESS and status is not _NOT_CAPTURING


def require_no_capture(stream: int, doing: str) -> None:
    """Raise an error if the stream is in capture, before an operation that would invalidate the capture.

    Raises
    ------
    DeviceError
    """
    if is_capturing(stream):
        raise DeviceError(f"{doing} cannot be captured in a CUDA graph; do it before or after the capture")


class uncaptured:
    """A context manager that enters a device's context, and sets CUDA's relaxed capture mode for this thread.

    In any other mode, an allocation, a module load or a wait would invalidate a capture that this thread has begun on
    another stream.
    """

    __slots__ = ("_context", "_mode")

    def __init__(self, context: AbstractContextManager[object]) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._context.__enter__()
        self._mode = check(driver.cuThreadExchangeStreamCaptureMode(_RELAXED))

    def __exit__(self, *exception: Any) -> None:
        driver.cuThreadExchangeStreamCaptureMode(self._mode)
        self._context.__exit__(*exception)


class GraphMemory:
    """The memory of one graph. Its capture and all its replays use it, as long as the graph exists.

    The capture reuses a block that was freed during the capture, on the same stream. No other work gets the block
    before the graph is destroyed.

    Parameters
    ----------
    take : callable
        Takes a number of bytes, and returns the address of new memory.
    give_back : callable
        Takes the address of memory to free.

    Attributes
    ----------
    taken : list of (int, int)
        The address and the bytes asked for of each allocation, in order.
    placed : dict of int to (int, int)
        The number of an allocation -> its address and its bytes, if it gets memory that belongs to somebody else. An
        allocation of other bytes gets memory of the graph.
    """

    def __init__(self, take: Callable[[int], int], give_back: Callable[[int], None]) -> None:
        self._take, self._give_back = take, give_back
        self.taken: list[tuple[int, int]] = []
        self.placed: dict[int, tuple[int, int]] = {}
        self._free: dict[tuple[int, int], list[int]] = {}
        self._kept: list[Any] = []
        self._is_gone = False
        self.counters: dict[int, Block] = {}

    def allocate(self, size: int, stream: int, nbytes: int) -> tuple[int, Block]:
        """A block of `size` bytes for captured work on a stream that uses `nbytes` of it."""
        address, asked = self.placed.get(len(self.taken), (0, -1))
        if asked == nbytes:
            self.taken.append((address, nbytes))
            return address, Block((address, int))  # nothing to release
        address, block = self._allocate_own(size, stream)
        self.taken.append((address, nbytes))
        return address, block

    def _allocate_own(self, size: int, stream: int) -> tuple[int, Block]:
        free = self._free.setdefault((size, stream), [])
        try:
            address = free.pop()
        except IndexError:
            address = self._take(size)

        def release(address: int) -> None:
            free.append(address)
            if self._is_gone:
                self._give_back_all(free)

        return address, Block((address, release))

    def keep(self, owner: Any) -> None:
        """Keep `owner` alive, since captured work reads its memory."""
        self._kept.append(owner)

    def graph_is_gone(self) -> None:
        """Free the memory that nothing uses. Blocks in use follow when they are released."""
        self._is_gone = True
        self._kept.clear()
        self.counters.clear()
        for free in list(self._free.values()):
            self._give_back_all(free)

    def _give_back_all(self, free: list[int]) -> None:
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._give_back(free.pop())


class Captures:
    """The graphs of one device that use our memory.

    Parameters
    ----------
    take, give_back : callable
        See `GraphMemory`.
    """

    def __init__(self, take: Callable[[int], int], give_back: Callable[[int], None]) -> None:
        self._take, self._give_back = take, give_back
        # By the id of the capture: the memory, and a semaphore that the driver posts when the graph is destroyed.
        self._graphs: dict[int, tuple[GraphMemory, int]] = {}
        self._lock = threading.RLock()

    def memory(self, stream: int) -> GraphMemory:
        """The memory of the graph into which a stream is being captured.

        Raises
        ------
        DeviceError
            If a call, of any thread, has invalidated the capture.
        """
        status, number, graph = check(driver.cuStreamGetCaptureInfo(stream))[:3]
        if status is _INVALIDATED:
            raise DeviceError(
                "allocating memory for a CUDA graph: another call invalidated the capture. In the mode 'global', calls "
                "of any thread do, such as JAX's; see torch.cuda.graph's capture_error_mode='thread_local'"
            )
        number = int(number)
        with self._lock:
            if number not in self._graphs:
                self.collect()
                self._graphs[number] = GraphMemory(self._take, self._give_back), _posted_with(graph)
            return self._graphs[number][0]

    def collect(self) -> None:
        """Free the memory of destroyed graphs."""
        with self._lock:
            for number, (memory, semaphore) in list(self._graphs.items()):
                if _libc.sem_trywait(semaphore) == 0:
                    del self._graphs[number]
                    _libc.free(semaphore)
                    with uncaptured(nullcontext()):  # the pool of a framework may call cudaFree
                        memory.graph_is_gone()


_libc = ctypes.CDLL(None)
_libc.calloc.restype = ctypes.c_void_p
for _name in ("sem_init", "sem_trywait", "free"):
    getattr(_libc, _name).argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint)[: 3 if _name == "sem_init" else 1]
_SEMAPHORE_BYTES = 64


def _posted_with(graph: Any) -> int:
    """A semaphore that the driver posts when a graph, and everything instantiated from it, is destroyed.

    The driver calls the destructor on its own thread. That thread must not call CUDA, and the interpreter may have
    ended already. So the destructor is the C library's `sem_post`, and the semaphore is in memory that Python does not
    own.
    """
    semaphore: int = _libc.calloc(1, _SEMAPHORE_BYTES)
    _libc.sem_init(semaphore, 0, 0)
    post = ctypes.cast(_libc.sem_post, ctypes.c_void_p).value
    flags = driver.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
    found = check(driver.cuUserObjectCreate(semaphore, driver.CUhostFn(post), 1, flags))
    check(driver.cuGraphRetainUserObject(graph, found, 1, driver.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE))
    return semaphore
