"""The memory that producers describe: host pages between two protected pages, or GPU memory, with known bytes."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Protocol

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
SIZE = 4 * mmap.PAGESIZE


class Memory(Protocol):
    """`SIZE` bytes at `start`.

    Attributes
    ----------
    start : int
    device : (int, int)
        The device in DLPack: its type and its number.
    """

    start: int
    device: tuple[int, int]

    def write(self, image: Bytes) -> None:
        """Set every byte."""

    def read(self) -> Bytes:
        """A copy of every byte, after all work on the memory has finished."""

    def settle(self) -> None:
        """Wait for the device, and release everything that was kept for its work."""


class GuardedPages:
    """Host memory whose neighbouring pages are inaccessible: a read beyond it ends the process."""

    device = (1, 0)

    def __init__(self) -> None:
        self._pages = mmap.mmap(-1, SIZE + 2 * mmap.PAGESIZE)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        self.start = first + mmap.PAGESIZE
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for guard in (first, self.start + SIZE):
            if protect(guard, mmap.PAGESIZE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")

    def write(self, image: Bytes) -> None:
        ctypes.memmove(self.start, image.ctypes.data, SIZE)

    def read(self) -> Bytes:
        return np.frombuffer(ctypes.string_at(self.start, SIZE), np.uint8)

    def settle(self) -> None:
        pass


class DeviceMemory:
    """A separate allocation on the first GPU. Run under compute-sanitizer to detect reads beyond it."""

    device = (2, 0)

    def __init__(self) -> None:
        from cuda.bindings import driver

        from xpops.core.devices import Device
        from xpops.engine import engine_of
        from xpops.engine.cuda.runtime.driver import check

        self._driver, self._check, self._engine = driver, check, engine_of(Device("cuda:0"))
        with self._engine.current():
            self.start = int(check(driver.cuMemAlloc(SIZE)))

    def write(self, image: Bytes) -> None:
        with self._engine.current():
            self._check(self._driver.cuMemcpyHtoD(self.start, image.ctypes.data, SIZE))

    def read(self) -> Bytes:
        image = np.empty(SIZE, np.uint8)
        with self._engine.current():
            self._check(self._driver.cuCtxSynchronize())
            self._check(self._driver.cuMemcpyDtoH(image.ctypes.data, self.start, SIZE))
        return image

    def settle(self) -> None:
        with self._engine.current():
            self._check(self._driver.cuCtxSynchronize())
        # A call of retain releases what earlier calls kept, if its work is done.
        self._engine.retain(None, 0)
