"""Shared parts of the calls of cuSOLVER and cuBLAS on stacks of matrices."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.errors import LinAlgError
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.arange import arange
from xpops.engine.cuda.kernels.reduce import reduce
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.reduction import REDUCTIONS, reduction_dtypes

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# Passed as host memory to a routine that needs none.
_NOWHERE = np.empty(1, np.uint8)


class Kind(NamedTuple):
    """The libraries' names of a dtype: the letter of its routines, its cudaDataType, and that of its real dtype."""

    letter: str
    code: int
    real: int


KINDS = {
    dt.float32: Kind("s", 0, 0),
    dt.float64: Kind("d", 1, 1),
    dt.complex64: Kind("c", 4, 0),
    dt.complex128: Kind("z", 5, 1),
}
# CUBLAS_OP_N, CUBLAS_FILL_MODE_*.
PLAIN = 0
LOWER, UPPER = 0, 1
# Up to this size the library decomposes a stack of matrices in one call, by Jacobi rotations.
JACOBI_SIZE = 32


def batched(runtime: Runtime, x: Layout) -> bool:
    """Whether one batched call decomposes the stack."""
    policy = tuning_of(runtime.context.capability).linalg
    return x.shape[0] >= policy.batched_count and max(x.shape[1:]) <= policy.batched_size


class Routine:
    """A routine of cuSOLVER's 64-bit interface, with its scratch memory.

    Parameters
    ----------
    runtime : Runtime
    name : str
    """

    def __init__(self, runtime: Runtime, name: str) -> None:
        solver = library(runtime, "cusolverDn")
        self._runtime, self._parameters = runtime, solver.made("create_params")
        self._run, self._ask = solver.function(name), solver.function(f"{name}_buffer_size")
        self._allocate: Any = None
        self._sizes, self._no_memory = (0, 0), _NOWHERE.ctypes.data

    def __call__(
        self, handle: int, stream: int, arguments: tuple[int, ...], info: int, *rest: int, extra: tuple[int, ...] = ()
    ) -> tuple[Any, ...]:
        """Call the routine with `arguments`, the scratch memory, the address of `info`, and the `rest`.

        The caller holds `handle`; see `Handle.on`. `extra` are the positions of arguments that the query of the scratch
        size does not take. Returns the host memory in use, if any; the caller keeps it until the work is done.
        """
        if self._allocate is None:
            asked = (argument for place, argument in enumerate(arguments) if place not in extra)
            self._sizes = self._ask(handle, self._parameters, *asked, *rest)
            self._allocate = self._runtime.pool.allocator(self._sizes[0])
        on_device, on_host = self._sizes
        scratch, block = self._allocate(stream)
        host: tuple[Any, ...] = ()
        on_host_at = self._no_memory
        if on_host:
            host = (np.empty(on_host, np.uint8),)
            on_host_at = host[0].ctypes.data
        self._run(handle, self._parameters, *arguments, scratch, on_device, on_host_at, on_host, info, *rest)
        del block  # kept until the routine was launched; the pool is ordered on the stream
        return host


class OlderRoutine:
    """A routine of cuSOLVER's older 32-bit interface, with its scratch memory.

    Parameters
    ----------
    runtime : Runtime
    name : str
    itemsize : int
        The bytes of the unit in which the routine counts scratch memory.
    """

    def __init__(self, runtime: Runtime, name: str, itemsize: int) -> None:
        solver = library(runtime, "cusolverDn")
        self._runtime, self._itemsize = runtime, itemsize
        self._run, self._ask = solver.function(name), solver.function(f"{name}_buffer_size")
        self._allocate: Any = None
        self._size = 0

    def __call__(self, handle: int, stream: int, arguments: tuple[int, ...], info: int, *rest: int) -> None:
        """Call the routine with `arguments`, the scratch memory, the address of `info`, and the `rest`."""
        if self._allocate is None:
            self._size = self._ask(handle, *arguments, *rest)
            self._allocate = self._runtime.pool.allocator(self._size * self._itemsize)
        scratch, block = self._allocate(stream)
        self._run(handle, *arguments, scratch, self._size, info, *rest)
        del block  # kept until the routine was launched


class Infos:
    """The status that the libraries write for each matrix of a stack, 0 for success. The host waits for the verdict."""

    def __init__(self, runtime: Runtime, count: int) -> None:
        layout = layout_of(dt.int32, (count,), None, runtime.context.device)
        self.new, self._ask = runtime.allocator(layout), runtime.ask
        counting = REDUCTIONS["count_nonzero"]
        loop, total = reduction_dtypes(counting, dt.int32)
        word = layout_of(total, (), None, runtime.context.device)
        self._count = reduce(runtime, counting, layout, (0,), loop, word, (0,))

    def ask(self, stream: int, address: int) -> Callable[[str], None]:
        """Launch the count of failures. Returns a function ``(failure)`` that waits for the count, not for later work.

        That function raises ``LinAlgError(failure)`` if a matrix has failed.
        """
        answer = self._ask(stream, lambda word: self._count(stream, word, address))

        def verdict(failure: str) -> None:
            if answer():
                raise LinAlgError(failure)

        return verdict

    def check(self, stream: int, address: int, failure: str) -> None:
        """Wait for the stream; raise LinAlgError if a matrix has failed."""
        self.ask(stream, address)(failure)


class Reports:
    """The status that the libraries write for each matrix of a stack. A failure is a fault; see `faults`.

    Parameters
    ----------
    runtime : Runtime
    count : int
    failure : str
        The text of the error; the matrix's number replaces "{}".
    """

    def __init__(self, runtime: Runtime, count: int, failure: str) -> None:
        layout = layout_of(dt.int32, (count,), None, runtime.context.device)
        self.new, self._faults = runtime.allocator(layout), runtime.faults
        tail = pack("<QQQ", runtime.faults.address, runtime.faults.code(LinAlgError, failure), count)
        block = tuning_of(runtime.context.capability).linalg.block
        self._launch = runtime.launcher("linalg", failures_glue(block), -(-count // block), block, "Q", tail)

    def send(self, stream: int, address: int) -> None:
        """Launch the kernel that reports failures."""
        self._launch(stream, address)
        if config.debug:
            self._faults.check()


def failures_glue(block: int) -> str:
    """The glue of the kernel that reports failures."""
    return linalg_glue("report_failures", "FailureParams", block)


def linalg_glue(call: str, params: str, block: int) -> str:
    """The glue of a kernel of ``kernels/linalg.cuh``."""
    return "\n".join(
        [
            "#include <xpops/kernels/linalg.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(block), params, call),
        ]
    )


# A function (stream, address of the first matrix) that returns the address of an array of addresses, and its owner.
Addresses = Callable[[int, int], tuple[int, Any]]


def addresses(runtime: Runtime, count: int, nbytes: int) -> Addresses:
    """A function that writes the addresses of the matrices of a stack, `nbytes` each, to device memory."""
    layout = layout_of(dt.uint64, (count,), None, runtime.context.device)
    write, allocate = arange(runtime, layout), runtime.allocator(layout)

    def make(stream: int, first: int) -> tuple[int, Any]:
        made, owner = allocate(stream)
        write(stream, made, first, nbytes)
        return made, owner

    return make
