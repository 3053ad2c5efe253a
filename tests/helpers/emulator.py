"""A CUDA engine that runs kernels on the host, with one fiber for each thread, so that primitives run without a GPU.

It is slow, so tests use small arrays. `emulator.hpp` lists what counts as an error. Allocated memory is filled with
`RUBBISH`. After each launch, the guards around every allocated block are checked.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from struct import Struct
from struct import error as StructError
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest

from tests.helpers.host_compile import build
from xpops.core.devices import Device
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.engine.cpu.engine import CpuEngine
from xpops.engine.cuda import tuning
from xpops.engine.cuda.engine import CudaEngine
from xpops.engine.cuda.runtime.faults import Faults
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]

GPU = Device("cuda")
GUARD = 256
RUBBISH = 0xCD
FLAGS = (
    f"-I{Path(__file__).parent}",
    "-U_FORTIFY_SOURCE",  # some compilers set it, and its checks forbid longjmp to another stack
    "-fno-strict-aliasing",
    "-fno-gnu-unique",
    "-fsanitize=alignment,bounds,shift-exponent",
    "-Wno-unknown-pragmas",
    "-Wno-attributes",
    "-Wno-unused-function",
    "-pthread",
)
# Blocks take turns, see `schedules.hpp`.
SCHEDULES = (
    "-DEMULATOR_SCHEDULES",
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
    "-nodefaultlibs",  # without the sanitizer's runtime, which `schedules.hpp` replaces
    "-Wl,--no-as-needed",
    "-lc",
    "-lm",
    "-lgcc_s",
    "-lstdc++",
)
EMULATOR = '#include "emulator.hpp"\n'
# What most kernels include. Users' kernels must find other headers first.
COMMON = f"""{EMULATOR}
#include <xpops/kernels/elementwise.cuh>
#include <xpops/kernels/fused/elementwise.cuh>
#include <xpops/math/arithmetic.cuh>
#include <xpops/math/reduction.cuh>
"""
EPILOGUE = """
extern "C" const char* emulate_kernel(const void* params, const unsigned* n, int workers) {
  return emulator::emulate(xpops_kernel, params, n[0], n[1], emulator::Range{n[2], n[3]}, workers, n[4], n[5] != 0);
}
"""


class Stream(int):
    """A stream handle. Tests compare its identity, so no other 0 can pass for it."""


# The current stream. Its handle is 0, the default stream, so the engine does not ask the driver whether it is captured.
STREAM = Stream(0)


class KernelError(Exception):
    """A kernel made one of the errors that `emulator.hpp` lists."""


class Block:
    """Host memory between two guards."""

    def __init__(self, nbytes: int) -> None:
        self._buffer = np.full(nbytes + 3 * GUARD, RUBBISH, np.uint8)
        self._start = GUARD + -self._buffer.ctypes.data % GUARD
        self._stop = self._start + nbytes
        self.address = self._buffer.ctypes.data + self._start

    def check(self) -> None:
        if (self._buffer[: self._start] != RUBBISH).any() or (self._buffer[self._stop :] != RUBBISH).any():
            raise KernelError("a kernel wrote outside of an allocated block")


class Pool:
    """Allocates blocks. `require` raises for any stream but the current one."""

    def __init__(self, require: Callable[[int], None]) -> None:
        self.blocks: WeakSet[Block] = WeakSet()
        self._require = require

    def allocator(self, nbytes: int) -> Callable[[int], tuple[int, Block]]:
        def allocate(stream: int) -> tuple[int, Block]:
            self._require(stream)
            block = Block(nbytes)
            self.blocks.add(block)
            return block.address, block

        return allocate

    def scratch(self, nbytes: int) -> Callable[[int], tuple[int, Block | None]]:
        return self.allocator(nbytes) if nbytes else lambda stream: (0, None)


class Words:
    """Words of 8 bytes that the host and the kernels share."""

    def __init__(self) -> None:
        self._taken: list[Any] = []

    def take(self) -> int:
        self._taken.append(ctypes.c_uint64())
        return ctypes.addressof(self._taken[-1])


# The most bytes of shared memory of a block, by compute capability.
SHARED = {80: 163 << 10, 90: 227 << 10, 100: 227 << 10, 120: 99 << 10}


class EmulatedEngine(CudaEngine):
    """A CUDA engine that uses the host as its GPU.

    Parameters
    ----------
    workers : int
        Blocks that run at the same time. Blocks that wait for each other need more than one.
    capability : int
        The compute capability of the emulated GPU.
    device : Device
    seed : int
        The seed of the schedule by which workers take turns; 0 if they run freely.
    shuffled : bool
        Whether blocks start in random order; only with a seed.

    Work and memory on any other stream than `STREAM` are errors.
    """

    def __init__(
        self, workers: int = 1, capability: int = 90, device: Device = GPU, seed: int = 0, shuffled: bool = False
    ) -> None:
        self.seed, self.shuffled = seed, shuffled
        self.context: Any = SimpleNamespace(
            capability=capability, device=device, multiprocessors=4, shared=SHARED[capability]
        )
        self.pool: Any = Pool(self.require_stream)
        self.faults = Faults(Words(), device)
        self.current_stream = lambda: STREAM
        self._counters = {}
        self._counters_lock = threading.Lock()
        self.counters = self._find_counters
        self._workers = workers

    def require_stream(self, stream: int) -> None:
        """Raise for a stream that is not the current one."""
        assert stream is STREAM, "not on the current stream"

    def announce(self, name: str, sources: Iterable[str]) -> None:
        """Kernels are built when their launchers are made."""

    def sequence(self, kernel: Kernel, specs: tuple[Layout | type, ...]) -> Kernel:
        """The kernel: its launchers are not those of the compiled core."""
        return kernel

    def launcher(
        self, name: str, source: str, blocks: int, threads: int, slots: str, tail: bytes, shared: int = 0
    ) -> Callable[..., None]:
        found = re.search(r"__cluster_dims__\((\d+)", source)
        cluster = int(found[1]) if found else 1
        assert blocks % cluster == 0, f"{name}: {blocks} blocks in clusters of {cluster}"
        define = f"-DEMULATOR_CLUSTER={cluster}"
        scheduled = SCHEDULES if self.seed else ()
        first = COMMON if "<xpops/kernels/" in source and "<xpops/user/" not in source else EMULATOR
        library = build(source + EPILOGUE, define, *FLAGS, *scheduled, first=first)
        library.emulate_kernel.restype = ctypes.c_char_p
        head = Struct("<" + slots)
        count = len(head.unpack(bytes(head.size)))

        def launch(stream: int, *values: Any) -> None:
            self.require_stream(stream)
            assert len(values) == count, f"{name}: {len(values)} values for {count} slots"
            try:
                written = head.pack(*values)
            except StructError:  # as the engine's own launcher does
                raise OverflowError(f"{name}: a Python integer is beyond the range of float64") from None
            params = np.frombuffer(written + tail + bytes(64), np.uint8).copy()
            for each in self.chosen(blocks):
                shape = (ctypes.c_uint * 6)(blocks, threads, each.start, each.stop, self.seed, self.shuffled)
                error = library.emulate_kernel(ctypes.c_void_p(params.ctypes.data), shape, max(self._workers, cluster))
                if error:
                    raise KernelError(f"{name}: {error.decode()}\n{source}")
            for block in list(self.pool.blocks):
                block.check()

        return launch

    def chosen(self, blocks: int) -> list[range]:
        """The ranges of blocks of a grid that run: one range of all blocks."""
        return [range(blocks)]

    def ask(self, stream: int, launch: Callable[[int], None]) -> Callable[[], int]:
        self.require_stream(stream)
        word = ctypes.c_uint64()
        launch(ctypes.addressof(word))

        def answer() -> int:
            self.faults.check()
            return word.value

        return answer

    def zero(self, address: int, nbytes: int, stream: int) -> None:
        self.require_stream(stream)
        ctypes.memset(address, 0, nbytes)

    def to_host(self, data: int, layout: Layout, stream: int) -> NDArray:
        self.require_stream(stream)
        self.faults.check()
        return read(data, layout)

    def from_host(self, array: Any, data: int, layout: Layout, stream: int) -> None:
        self.require_stream(stream)
        CpuEngine().adopt(data, layout, None, True)[...] = array

    def order(self, first: int, then: int) -> None:
        pass

    def retain(self, owner: Any, stream: int) -> None:
        pass


def tuned(monkeypatch: pytest.MonkeyPatch, **policies: Any) -> None:
    """Replace tuning numbers of the only row, which every emulated engine uses."""
    ((capability, row),) = tuning.ROWS.items()
    monkeypatch.setitem(tuning.ROWS, capability, row._replace(**policies))


def layout_on_gpu(host: NDArray) -> Layout:
    """The layout of an ndarray's memory, as memory of the emulated GPU."""
    strides = tuple(stride // host.itemsize for stride in host.strides)
    return layout_of(host.dtype, host.shape, strides, GPU, alignment(host.ctypes.data))


def read(data: int, layout: Layout) -> NDArray:
    """The current elements of a block."""
    return CpuEngine().adopt(data, layout, None, False).copy()


def run(engine: EmulatedEngine, layouts: tuple[Layout, ...], kernel: Any, *operands: Any) -> tuple[NDArray, ...]:
    """Run a kernel (a `Program`'s fields) on the memory of ndarrays, and on scalars. Returns the results."""
    results = [engine.allocate(layout, STREAM) for layout in layouts]
    kernel(STREAM, *(data for data, _ in results), *(addressed(operand) for operand in operands))
    return tuple(read(data, layout) for (data, _owner), layout in zip(results, layouts, strict=True))


def addressed(operand: Any) -> Any:
    """The address of an ndarray; a scalar as it is."""
    return operand.ctypes.data if isinstance(operand, np.ndarray) else operand
