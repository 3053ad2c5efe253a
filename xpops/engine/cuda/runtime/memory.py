"""Device memory: stream-ordered, reused without a driver call, and given back when the device runs out of memory."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from cuda.bindings import driver

from xpops.core.compiled import compiled
from xpops.core.errors import OutOfMemoryError
from xpops.core.guards import waits
from xpops.engine.caches import release_other_caches
from xpops.engine.cuda.runtime.blocks import Block
from xpops.engine.cuda.runtime.capture import Captures, is_capturing, uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext, check
from xpops.engine.cuda.runtime.settling import Settler
from xpops.plan.cache import BoundedDict

# Our own lists keep freed blocks of up to MIDDLING bytes, since the driver takes some microseconds to allocate a block.
# To write a larger block takes longer than that.
SMALL, MIDDLING = 1 << 20, 1 << 26
# The lists have at most 1 / KEPT_SHARE of the device's memory, including blocks in use. Other libraries cannot get this
# memory, while the driver gives the memory that its own pool caches to any library that runs out.
KEPT_SHARE = 256
# If the lists are full and `_empty_default_lists` finds nothing to free, so many allocations pass before it runs again.
PATIENCE = 256
# The number of sizes of middling blocks between two powers of two.
STEPS = 8
GRANULE = 512
# After a synchronisation, the driver's pool keeps freed memory up to 1 / RELEASE_SHARE of the device's memory.
RELEASE_SHARE = 8

# The addresses of the freed blocks of one size, by the stream that may reuse them.
_FreeLists = dict[int, list[int]]


def block_size(nbytes: int) -> int:
    """The size of the block for `nbytes`.

    Examples
    --------
    >>> block_size(1), block_size(1000), block_size(2**20 + 1) - 2**20, block_size(2**26 + 1) - 2**26
    (512, 1024, 131072, 512)
    """
    step = GRANULE
    if SMALL < nbytes <= MIDDLING:
        step = (1 << (nbytes - 1).bit_length() - 1) // STEPS
    return max(-(-nbytes // step) * step, GRANULE)


def _nowhere(stream: int) -> tuple[int, None]:
    return 0, None


class Pool:
    """The memory of one device.

    A freed block returns to the stream on which it was allocated, and only that stream reuses it. So the reuse comes
    after every kernel that this stream ran on the block. For arrays used on several streams see `xpops.stream`.
    Captured calls use the memory of their graph.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._lists: dict[int, _FreeLists] = {}
        self._allocators: BoundedDict[int, Callable[[int], tuple[int, Block]]] = BoundedDict(1024)
        # The bytes of all blocks that return to the lists, and the allocations before the lists are searched again.
        self._kept, self._patience = 0, 0
        self._lock = threading.RLock()
        # Blocks that could not be freed when they were dropped, for example since their stream was in capture.
        self._deferred: list[tuple[int, int]] = []
        self._settler = Settler(context)
        self.captures = Captures(self._take_aside, self._give_back_aside)
        with uncaptured(context):
            self._driver_pool = self._make_driver_pool(context)
            self._aside = int(check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)))

    def _make_driver_pool(self, context: DeviceContext) -> Any:
        properties = driver.CUmemPoolProps()
        properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = context.index
        pool = check(driver.cuMemPoolCreate(properties))
        _, total = check(driver.cuMemGetInfo())
        self._most = total // KEPT_SHARE
        threshold = driver.cuuint64_t(total // RELEASE_SHARE)
        check(
            driver.cuMemPoolSetAttribute(pool, driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, threshold)
        )
        return pool

    def allocator(self, nbytes: int) -> Callable[[int], tuple[int, Block]]:
        """A function ``(stream)`` that allocates uninitialised memory for work on a stream, aligned to 256 bytes.

        It raises OutOfMemoryError with the bytes requested, free and cached.
        """
        known = self._allocators.get(nbytes)
        if known is None:
            known = self._allocators[nbytes] = self._make_allocator(nbytes)
        return known

    def _make_allocator(self, nbytes: int) -> Callable[[int], tuple[int, Block]]:
        size = block_size(nbytes)
        if size > MIDDLING:
            return partial(self._allocate_large, size, nbytes)
        lists = self._lists.setdefault(size, {})

        def allocate(stream: int) -> tuple[int, Block]:
            if stream and is_capturing(stream):
                return self.captures.memory(stream).allocate(size, stream, nbytes)
            addresses = lists.get(stream)
            if addresses is None:
                addresses = lists.setdefault(stream, [])
            try:
                address = addresses.pop()
            except IndexError:
                return self._grow(size, addresses, stream)
            return address, Block((address, addresses.append))

        # The compiled core takes blocks from the lists of the legacy default stream, and calls `allocate` otherwise.
        return allocate if compiled is None else compiled.Allocator(lists, allocate)

    def scratch(self, nbytes: int) -> Callable[[int], tuple[int, Block | None]]:
        """As `allocator`, but 0 bytes have the address 0 and no block."""
        return self.allocator(nbytes) if nbytes else _nowhere

    def _allocate_large(self, size: int, nbytes: int, stream: int) -> tuple[int, Block]:
        if is_capturing(stream):
            return self.captures.memory(stream).allocate(size, stream, nbytes)
        address = self._from_driver(size, stream)
        return address, Block((address, partial(self._give_back, stream)))

    def _grow(self, size: int, addresses: list[int], stream: int) -> tuple[int, Block]:
        """Allocate a block from the driver. When freed, it goes to `addresses` if the lists have room for it."""
        with self._lock:
            if self._kept + size > self._most:
                self._patience -= 1
                if self._patience < 0 and not self._empty_default_lists():
                    self._patience = PATIENCE
        address = self._from_driver(size, stream)
        with self._lock:
            if self._kept + size > self._most:
                return address, Block((address, partial(self._give_back, stream)))
            self._kept += size
        return address, Block((address, addresses.append))

    def _empty_default_lists(self) -> int:
        """Give the blocks in the lists of the legacy default stream back to the driver. Returns the bytes.

        Blocks of other streams stay: a stream may be destroyed by now, and no other stream is ordered after their last
        use.
        """
        freed = 0
        for size, lists in list(self._lists.items()):
            for stream, addresses in list(lists.items()):
                with suppress(IndexError):  # another thread may take the last one
                    while stream == 0:
                        address = addresses.pop()
                        with self._lock:
                            self._kept -= size
                        freed += size
                        self._give_back(0, address)
        return freed

    def _from_driver(self, size: int, stream: int) -> int:
        cached, out_of_memory = 0, driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        allocate = partial(driver.cuMemAllocFromPoolAsync, size, self._driver_pool, stream)
        self._settler.start()
        with uncaptured(self._context):
            if self._deferred:
                self._give_back_deferred()
            error, pointer = allocate()
            if error == out_of_memory and stream != self._aside:  # not for a graph: a wait would end its capture
                cached = self.trim()
                error, pointer = allocate()
            if error == out_of_memory:
                release_other_caches()
                error, pointer = allocate()
            if error == out_of_memory:
                free, total = check(driver.cuMemGetInfo())
                raise OutOfMemoryError(
                    f"{self._context.device}: {size:,} bytes were asked for; {free:,} of {total:,} are free, after "
                    f"{cached:,} cached ones, and those of other libraries, were handed back"
                )
            check((error,))
        return int(pointer)

    def _give_back(self, stream: int, address: int, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At exit the driver and this module's names may be unloaded already; the driver frees everything anyway.
        if finalizing():
            return
        if not self._settler.free(address, stream):
            self._deferred.append((stream, address))

    def _take_aside(self, size: int) -> int:
        address = self._from_driver(size, self._aside)
        with uncaptured(self._context):
            check(driver.cuStreamSynchronize(self._aside))
        return address

    def _give_back_aside(self, address: int) -> None:
        self._give_back(self._aside, address)

    def _give_back_deferred(self) -> None:
        for _ in range(len(self._deferred)):
            self._give_back(*self._deferred.pop(0))

    def trim(self) -> int:
        """Wait for the device, and give every cached byte back to the driver. Returns the bytes that our lists held."""
        if waits.is_open:
            waits.report("the GPU's memory is full, and the cached memory is handed back")
        with uncaptured(self._context):
            self.captures.collect()
            taken = list(self._take_all())
            check(driver.cuCtxSynchronize())  # now no work uses the blocks, so any stream can free them
            for _, address in taken:
                self._give_back(0, address)
            check(driver.cuCtxSynchronize())
            check(driver.cuMemPoolTrimTo(self._driver_pool, 0))
        return sum(size for size, _ in taken)

    def _take_all(self) -> Iterator[tuple[int, int]]:
        """Remove every block from the lists: yield its bytes and its address. Deferred blocks count as 0 bytes."""
        for size, lists in list(self._lists.items()):
            for addresses in list(lists.values()):
                with suppress(IndexError):  # another thread may take the last one
                    while True:
                        address = addresses.pop()
                        with self._lock:
                            self._kept -= size
                        yield size, address
        while self._deferred:
            yield 0, self._deferred.pop()[1]

    def reserved(self) -> int:
        """The bytes that the driver has reserved for the pool, used or cached."""
        attribute = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        return int(check(driver.cuMemPoolGetAttribute(self._driver_pool, attribute)))
