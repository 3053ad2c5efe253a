"""Device memory: stream-ordered, reused without asking the driver, and handed back when it runs short."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import c_uint64
from functools import partial
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import OutOfMemoryError
from xpops.engine import release_other_caches
from xpops.engine.cuda.blocks import Block
from xpops.engine.cuda.capture import Captures, is_capturing, uncaptured
from xpops.engine.cuda.driver import DeviceContext, check
from xpops.engine.cuda.settling import Settler

# Blocks of these sizes are kept in lists of our own when they are freed, since the driver takes some microseconds for
# one. A large block takes longer to write than the driver does.
SMALL, MIDDLING = 1 << 20, 1 << 26
# The lists have at most this part of the device's memory, blocks in use included. Other libraries cannot get it, while
# the driver hands what its own pool caches to whoever runs short.
KEPT_SHARE = 256
# Blocks that are taken from the driver before lists that had nothing to give back are looked through again.
PATIENCE = 256
# Sizes of middling blocks between a power of two and the next.
STEPS = 8
GRANULE, WORD = 512, 8
# What the driver's pool keeps of freed memory after a synchronisation: this part of the device's.
RELEASE_SHARE = 8

# The addresses of the freed blocks of one size, by the stream they may be reused on.
_FreeLists = dict[int, list[int]]


def block_size(nbytes: int) -> int:
    """The bytes of a block for `nbytes`.

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


class HostWords:
    """Words of 8 bytes in the host's memory that kernels write, for counts that the host waits for.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._free: list[int] = []

    def take(self) -> int:
        """The address of a word that nobody uses, on the host and on the device."""
        try:
            return self._free.pop()
        except IndexError:
            with uncaptured(self._context):
                flags = driver.CU_MEMHOSTALLOC_DEVICEMAP | driver.CU_MEMHOSTALLOC_PORTABLE
                first = int(check(driver.cuMemHostAlloc(GRANULE, flags)))
            self._free += range(first + WORD, first + GRANULE, WORD)
            return first

    def give_back(self, address: int) -> int:
        """The number in a word, which others may use from now on."""
        value = c_uint64.from_address(address).value
        self._free.append(address)
        return value


class Pool:
    """The memory of one device.

    A block returns to the stream it was allocated on and is reused there only, so that the reuse comes after every
    kernel that this stream ran on it. `xpops.stream` says what that asks of those who use an array on several streams.
    What a CUDA graph captures has memory of its own.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._lists: dict[int, _FreeLists] = {}
        # The bytes of blocks that lists take when they are freed, and the most that these may be.
        self._kept, self._patience = 0, 0
        self._lock = threading.RLock()
        # Blocks that could not be freed when they were dropped, since their stream was captured.
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
        """A function from a stream to uninitialised memory for work on it, aligned to 256 bytes at least.

        It raises OutOfMemoryError, saying how much was asked for, is free, and was cached.
        """
        size = block_size(nbytes)
        if size > MIDDLING:
            return partial(self._allocate_large, size)
        lists = self._lists.setdefault(size, {})

        def allocate(stream: int) -> tuple[int, Block]:
            if stream and is_capturing(stream):
                return self.captures.memory(stream).allocate(size, stream)
            addresses = lists.get(stream)
            if addresses is None:
                addresses = lists.setdefault(stream, [])
            try:
                address = addresses.pop()
            except IndexError:
                return self._grow(size, addresses, stream)
            return address, Block((address, addresses.append))

        return allocate

    def scratch(self, nbytes: int) -> Callable[[int], tuple[int, Block | None]]:
        """`allocator`, but that no bytes are at address 0."""
        return self.allocator(nbytes) if nbytes else _nowhere

    def _allocate_large(self, size: int, stream: int) -> tuple[int, Block]:
        if is_capturing(stream):
            return self.captures.memory(stream).allocate(size, stream)
        address = self._from_driver(size, stream)
        return address, Block((address, partial(self._give_back, stream)))

    def _grow(self, size: int, addresses: list[int], stream: int) -> tuple[int, Block]:
        """A block from the driver, for a list to keep if there is room in them."""
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
        """Give what the lists of the legacy default stream keep back to the driver. Returns the bytes.

        Those of other streams stay: the stream may be gone, and nothing else is in order with their last use.
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
            if error == out_of_memory and stream != self._aside:  # for a graph: waiting would end its capture
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
        # At exit the driver may be gone, as may this module's names, and takes everything back anyway.
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
        """Hand every cached byte back to the driver, waiting for the device. Returns how many our lists held."""
        with uncaptured(self._context):
            self.captures.collect()
            taken = list(self._take_all())
            check(driver.cuCtxSynchronize())  # nothing uses any of them now, so any stream will do
            for _, address in taken:
                self._give_back(0, address)
            check(driver.cuCtxSynchronize())
            check(driver.cuMemPoolTrimTo(self._driver_pool, 0))
        return sum(size for size, _ in taken)

    def _take_all(self) -> Iterator[tuple[int, int]]:
        """Take every block from the lists: its bytes, and its address. Those that could not be freed count as none."""
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
        """The bytes that the pool has from the driver, used or cached."""
        attribute = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        return int(check(driver.cuMemPoolGetAttribute(self._driver_pool, attribute)))
