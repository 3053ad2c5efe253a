"""Device memory: stream-ordered, reused without asking the driver, and handed back when it runs short."""

from __future__ import annotations

import sys
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import OutOfMemoryError
from xpops.engine.cuda.driver import DeviceContext, check

# Blocks up to this size are kept in lists of our own (0.2 us) instead of going through the driver (1 us and more).
SMALL = 1 << 20
# Of the memory in our lists, this many bytes at most stay there for each stream and size.
KEPT_PER_LIST = 64 << 20
GRANULE = 512
# What the driver's pool keeps of freed memory after a synchronisation, as a share of the device's.
RELEASE_SHARE = 8


class Block:
    """Device memory that goes back to its pool when nothing holds it."""

    __slots__ = ("_free", "address")

    def __init__(self, address: int, free: Any) -> None:
        self.address, self._free = address, free

    def __del__(self) -> None:
        self._free(self.address)


class Pool:
    """The memory of one device.

    A block returns to the stream it was allocated on and is reused there only, so that the reuse comes after every kernel
    that was launched on it.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._lists: dict[tuple[int, int], _FreeList] = {}
        with context:
            self._driver_pool = self._make_driver_pool(context)

    def _make_driver_pool(self, context: DeviceContext) -> Any:
        properties = driver.CUmemPoolProps()
        properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = context.index
        pool = check(driver.cuMemPoolCreate(properties))
        _, total = check(driver.cuMemGetInfo())
        threshold = driver.cuuint64_t(total // RELEASE_SHARE)
        check(
            driver.cuMemPoolSetAttribute(
                pool, driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, threshold
            )
        )
        return pool

    def allocate(self, nbytes: int, stream: int) -> Block:
        """Uninitialised memory, aligned to 256 bytes at least, for work on `stream`.

        Raises
        ------
        OutOfMemoryError
            Saying how much was asked for, is free, and was cached.
        """
        size = -(-nbytes // GRANULE) * GRANULE or GRANULE
        key = (stream, size)
        free_list = self._lists.get(key)
        if free_list is None:
            free_list = self._lists[key] = _FreeList(size, stream, KEPT_PER_LIST // size if size <= SMALL else 0)
        try:
            address = free_list.addresses.pop()
        except IndexError:
            address = self._from_driver(size, stream)
        return Block(address, free_list.give)

    def _from_driver(self, size: int, stream: int) -> int:
        with self._context:
            error, pointer = driver.cuMemAllocFromPoolAsync(size, self._driver_pool, stream)
            if error == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                cached = self.trim()
                error, pointer = driver.cuMemAllocFromPoolAsync(size, self._driver_pool, stream)
                if error == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                    free, total = check(driver.cuMemGetInfo())
                    raise OutOfMemoryError(
                        f"{self._context.device}: {size:,} bytes were asked for; {free:,} of {total:,} are free, "
                        f"after {cached:,} cached ones were handed back"
                    )
            check((error,))
        return int(pointer)

    def trim(self) -> int:
        """Hand every cached byte back to the driver, waiting for the device. Returns how many our lists held."""
        cached = 0
        with self._context:
            for free_list in list(self._lists.values()):
                cached += free_list.drain()
            check(driver.cuCtxSynchronize())
            check(driver.cuMemPoolTrimTo(self._driver_pool, 0))
        return cached

    def reserved(self) -> int:
        """The bytes that the pool has from the driver, used or cached."""
        attribute = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        return int(check(driver.cuMemPoolGetAttribute(self._driver_pool, attribute)))


class _FreeList:
    """The freed blocks of one size on one stream."""

    __slots__ = ("_limit", "_size", "_stream", "addresses")

    def __init__(self, size: int, stream: int, limit: int) -> None:
        self._size, self._stream, self._limit = size, stream, limit
        self.addresses: list[int] = []

    def give(self, address: int) -> None:
        if len(self.addresses) < self._limit:
            self.addresses.append(address)
        elif not sys.is_finalizing():  # at exit the driver may be gone, and takes everything back anyway
            driver.cuMemFreeAsync(address, self._stream)

    def drain(self) -> int:
        count = 0
        while self.addresses:
            driver.cuMemFreeAsync(self.addresses.pop(), self._stream)
            count += 1
        return count * self._size
