"""The memory that producers offer: host pages between two protected pages, or GPU memory. Its bytes are known."""

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
        In DLPack's terms.
    """

    start: int
    device: tuple[int, int]

    def write(self, image: Bytes) -> None:
        """Set every byte."""

    def read(self) -> Bytes:
        """A copy of every byte, after all work on it."""

    def settle(self) -> None:
        """Have everything released that waits for work on the device."""


class GuardedPages:
    """Host memory whose neighbouring pages are inaccessible: who reads beyond it ends the process."""

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
    """Memory of the first GPU, an allocation of its own. Run under compute-sanitizer to see reads beyond it."""

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
        # What waits for work is looked through whenever something else has to wait.
        self._engine.retain(None, 0)
