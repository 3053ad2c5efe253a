"""Device memory: stream-ordered, reused without asking the driver, and handed back when it runs short."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from ctypes import c_uint64
from functools import partial
from typing import Any

from cuda.bindings import driver

from xpops.core.errors import OutOfMemoryError
from xpops.engine.cuda.driver import DeviceContext, check

# Freed blocks are kept in lists of our own, until `Pool.trim`, instead of going through the driver, which costs some
# microseconds a block: small ones always, middling ones of each size up to this part of the device's memory. What is
# larger takes longer to write than the driver does.
SMALL, MIDDLING = 1 << 20, 1 << 26
KEPT_SHARE = 256
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


class Block:
    """Device memory that goes back to its pool when nothing holds it."""

    __slots__ = ("_free", "address")

    def __init__(self, address: int, free: Any) -> None:
        self.address, self._free = address, free

    def __del__(self) -> None:
        self._free(self.address)


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
            with self._context:
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

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context
        self._lists: dict[int, _FreeLists] = {}
        with context:
            self._driver_pool = self._make_driver_pool(context)

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
        if size > SMALL:
            return partial(self._allocate_middling, size, lists)

        def allocate(stream: int) -> tuple[int, Block]:
            addresses = lists.get(stream)
            if addresses is None:
                addresses = lists.setdefault(stream, [])
            try:
                address = addresses.pop()
            except IndexError:
                address = self._from_driver(size, stream)
            return address, Block(address, addresses.append)

        return allocate

    def scratch(self, nbytes: int) -> Callable[[int], tuple[int, Block | None]]:
        """`allocator`, but that no bytes are at address 0."""
        return self.allocator(nbytes) if nbytes else _nowhere

    def _allocate_middling(self, size: int, lists: _FreeLists, stream: int) -> tuple[int, Block]:
        addresses = lists.get(stream)
        if addresses is None:
            addresses = lists.setdefault(stream, [])
        try:
            address = addresses.pop()
        except IndexError:
            address = self._from_driver(size, stream)
        return address, Block(address, partial(self._keep, size, addresses, stream))

    def _keep(self, size: int, addresses: list[int], stream: int, address: int) -> None:
        # No lock: a collection of garbage may come here at any time. A few blocks more do not matter.
        if (len(addresses) + 1) * size <= self._most:
            addresses.append(address)
        else:
            self._give_back(stream, address)

    def _allocate_large(self, size: int, stream: int) -> tuple[int, Block]:
        address = self._from_driver(size, stream)
        return address, Block(address, partial(self._give_back, stream))

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

    def _give_back(self, stream: int, address: int, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At exit the driver may be gone, as may this module's names, and takes everything back anyway.
        if not finalizing():
            with self._context:
                driver.cuMemFreeAsync(address, stream)

    def trim(self) -> int:
        """Hand every cached byte back to the driver, waiting for the device. Returns how many our lists held."""
        cached = 0
        with self._context:
            check(driver.cuCtxSynchronize())  # nothing uses any of them now, so any stream will do
            for size, lists in list(self._lists.items()):
                for addresses in list(lists.values()):
                    with suppress(IndexError):  # another thread may take the last one
                        while True:
                            check(driver.cuMemFreeAsync(addresses.pop(), 0))
                            cached += size
            check(driver.cuCtxSynchronize())
            check(driver.cuMemPoolTrimTo(self._driver_pool, 0))
        return cached

    def reserved(self) -> int:
        """The bytes that the pool has from the driver, used or cached."""
        attribute = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        return int(check(driver.cuMemPoolGetAttribute(self._driver_pool, attribute)))
