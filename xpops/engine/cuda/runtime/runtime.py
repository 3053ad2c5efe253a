"""One GPU: its memory, streams, launches and reports. The kernel families are functions of a `Runtime`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from cuda.bindings import driver

from xpops.core.devices import Device
from xpops.core.errors import DeviceError
from xpops.core.guards import copies, waits
from xpops.core.layouts import Layout
from xpops.engine.cuda.runtime import streams
from xpops.engine.cuda.runtime.blocks import Block
from xpops.engine.cuda.runtime.cache import Once, begin_cubin, cubin_for
from xpops.engine.cuda.runtime.capture import is_capturing, require_no_capture, uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext, check
from xpops.engine.cuda.runtime.entry import AWAIT, OVERLAPS
from xpops.engine.cuda.runtime.faults import Faults
from xpops.engine.cuda.runtime.launch import Function, launcher
from xpops.engine.cuda.runtime.memory import Pool
from xpops.engine.cuda.runtime.native import lookup_of, sequence_of, transfer_of, zero_of
from xpops.engine.cuda.runtime.recording import Recorder
from xpops.engine.cuda.runtime.words import Events, HostWords
from xpops.engine.program import Kernel, Owner

# The memory for counters: one for every output that several blocks share. There are fewer such outputs than blocks that
# fill a GPU.
COUNTER_BYTES = 1 << 16


class Runtime:
    """What the kernel families need of one GPU. Data is an address; owners are blocks of the pool.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self.context = DeviceContext(device)
        self.current_stream = streams.current(device.index)
        self.pool, self._words, self._events = Pool(self.context), HostWords(self.context), Events(self.context)
        self.faults = Faults(self._words, device)
        self._transfer, self._zero = transfer_of(self.context), zero_of(self.context)
        self.counters = lookup_of(self._find_counters)
        self.recorder = Recorder(self.context, self.pool)
        self._functions = Once()
        self._counters: dict[int, tuple[int, Block]] = {}
        self._counters_lock = threading.Lock()
        # The events and owners of each stream, in the order of its work.
        self._retained: dict[int, deque[tuple[Any, Owner]]] = {}
        self._retained_lock = threading.RLock()

    def allocator(self, layout: Layout) -> Callable[[int], tuple[int, Block]]:
        return self.pool.allocator(layout.nbytes)

    def allocate(self, layout: Layout, stream: int) -> tuple[int, Block]:
        return self.pool.allocator(layout.nbytes)(stream)

    def announce(self, name: str, sources: Iterable[str]) -> None:
        """Begin to compile kernels for which launchers will be made, all at once."""
        for source in sources:
            if source not in self._functions:
                begin_cubin(name, source, self.context.capability)

    def launcher(
        self, name: str, source: str, blocks: int, threads: int, slots: str, tail: bytes, shared: int = 0
    ) -> Callable[..., None]:
        """A function ``(stream, *slots)`` that launches the kernel of `source`; see `launch.launcher`."""
        capability = self.context.capability
        function = self._functions.get(
            source,
            lambda: Function(
                cubin_for(name, source, capability), self.context, AWAIT in source and capability >= OVERLAPS
            ),
        )
        return launcher(name, function, self.context, blocks, threads, slots, tail, shared)

    def sequence(self, kernel: Kernel, specs: tuple[Layout | type, ...]) -> Kernel:
        return sequence_of(kernel, tuple([isinstance(spec, Layout) for spec in specs]))

    def _find_counters(self, stream: int) -> int:
        """The address of the counters of `stream`: 0 before and after every kernel. No other stream uses them."""
        if stream and is_capturing(stream):
            return self._captured_counters(stream)
        found = self._counters.get(stream)
        if found is None:
            with self._counters_lock:
                found = self._counters.get(stream)
                if found is None:
                    made = self.pool.allocator(COUNTER_BYTES)(stream)
                    self.zero(made[0], COUNTER_BYTES, stream)
                    found = self._counters[stream] = made  # publish only after zeroing
        return found[0]

    def _captured_counters(self, stream: int) -> int:
        """The counters of the graph in capture. The capture includes a memset that zeros them before the first use."""
        memory = self.pool.captures.memory(stream)
        if stream not in memory.counters:
            address, memory.counters[stream] = memory.allocate(COUNTER_BYTES, stream, COUNTER_BYTES)
            self.zero(address, COUNTER_BYTES, stream)
        return memory.counters[stream].address

    def ask(self, stream: int, launch: Callable[[int], None]) -> Callable[[], int]:
        """Send a number from a kernel to the host. `launch` gets the address of 8 bytes that its kernel writes.

        The returned function waits for that kernel, but not for later launches, and returns the number.

        Raises
        ------
        DeviceError
            If the stream is captured.
        """
        require_no_capture(stream, "a call that waits for a count or a verdict of the device")
        if waits.is_open:
            waits.report("a call waits for a count or a verdict of the GPU")
        word = self._words.take()
        launch(word)
        event = self._events.record(stream)

        def answer() -> int:
            if not self._words.has_arrived(word):
                with uncaptured(self.context):
                    check(driver.cuEventSynchronize(event))
            self._events.give_back(event)
            count = self._words.give_back(word)
            self.faults.check()
            return count

        return answer

    def zero(self, address: int, nbytes: int, stream: int) -> None:
        """Set memory to zeros, in the order of `stream`."""
        self._zero(stream, address, nbytes)

    def view(self, data: int, offset: int, layout: Layout) -> int:
        return data + offset * layout.dtype.itemsize

    def address(self, data: int) -> int:
        return data

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> int:
        return address

    def to_host(self, data: int, layout: Layout, stream: int) -> Any:
        require_no_capture(stream, "reading an array on the host")
        if waits.is_open or copies.is_open:
            _report(f"an array of shape {layout.shape} is copied from {layout.device} to the host")
        array = np.empty(layout.shape, layout.dtype)
        if layout.size and not self._transfers(array, data, stream, True):
            with uncaptured(self.context):
                check(driver.cuMemcpyDtoHAsync(array.ctypes.data, data, layout.nbytes, stream))
                check(driver.cuStreamSynchronize(stream))
        self.faults.check()
        return array

    def from_host(self, array: Any, data: int, layout: Layout, stream: int) -> None:
        require_no_capture(stream, "copying from the host")
        if waits.is_open or copies.is_open:
            _report(f"an array of shape {layout.shape} is copied from the host to {layout.device}")
        if layout.size and not self._transfers(array, data, stream, False):
            with uncaptured(self.context):
                check(driver.cuMemcpyHtoDAsync(data, array.ctypes.data, layout.nbytes, stream))
                # Pageable memory has been read when the call returns, but pinned memory has not.
                check(driver.cuStreamSynchronize(stream))

    def _transfers(self, array: Any, data: int, stream: int, to_host: bool) -> bool:
        """Whether the compiled core copies an array; if not, the bindings do it, or say why it fails."""
        if self._transfer is None:
            return False
        # NumPy exports no buffers of the dtypes of ml_dtypes (2); unpickled dtypes say 0.
        plain = array.view(f"u{array.itemsize}") if array.dtype.isbuiltin == 2 else array
        return not self._transfer(plain, data, stream, to_host)

    def current(self) -> DeviceContext:
        return self.context

    def order(self, first: int, then: int) -> None:
        if is_capturing(first) != is_capturing(then):
            raise DeviceError(
                "operands on two streams, one of which is captured, cannot be captured in a CUDA graph; use both on "
                "the captured stream: with xpops.stream(...), or with the other library's own current stream"
            )
        with self.context:
            event = self._events.record(first)
            result = driver.cuStreamWaitEvent(then, event, 0)
            self._events.give_back(event)
            check(result)

    def retain(self, owner: Owner, stream: int) -> None:
        if is_capturing(stream):
            self.pool.captures.memory(stream).keep(owner)
            return
        with uncaptured(self.context), self._retained_lock:
            self._retained.setdefault(stream, deque()).append((self._events.record(stream), owner))
            done = [entry for entries in list(self._retained.values()) for entry in _take_done(entries)]
        for event, _ in done:
            self._events.give_back(event)
        # Drop the owners only after the lock is released: the destructor of an owner may call `retain`.
        done.clear()


def _report(event: str) -> None:
    """Report a copy that waits."""
    copies.report(event)
    waits.report(event)


def _take_done(entries: deque[tuple[Any, Owner]]) -> list[tuple[Any, Owner]]:
    """Take the first entries, whose events are done. A destructor that runs in between may take some, too."""
    done = []
    while entries:
        first = entries[0]
        if not _is_done(first[0]):
            break
        if entries and entries[0] is first:
            done.append(entries.popleft())
    return done


def _is_done(event: Any) -> bool:
    (error,) = driver.cuEventQuery(event)
    return bool(error == driver.CUresult.CUDA_SUCCESS)
