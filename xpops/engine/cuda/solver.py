"""What calls of cuSOLVER and cuBLAS on stacks of matrices have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.errors import LinAlgError
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.libraries import library
from xpops.engine.protocol import Kernel
from xpops.ops.operator import Operator
from xpops.plan.signature import signature_of

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# Larger matrices, and stacks of fewer, are decomposed one by one: the batched routines are made for many small ones.
# By analogy with other libraries' choices; not measured yet.
BATCHED_SIZE, BATCHED_COUNT = 512, 3


class Kind(NamedTuple):
    """How the libraries call a dtype: the letter of its routines, and its and its real dtype's cudaDataType."""

    letter: str
    code: int
    real: int


KINDS = {
    dt.float32: Kind("s", 0, 0),
    dt.float64: Kind("d", 1, 1),
    dt.complex64: Kind("c", 4, 0),
    dt.complex128: Kind("z", 5, 1),
}
# Of parameters: CUBLAS_OP_*, CUBLAS_FILL_MODE_*.
PLAIN, TRANSPOSED = 0, 1
LOWER, UPPER = 0, 1

Call = Callable[..., Any]


def batched(x: Layout) -> bool:
    """Whether a stack is decomposed by one call."""
    return x.shape[0] >= BATCHED_COUNT and max(x.shape[1:]) <= BATCHED_SIZE


class Routine:
    """A routine of cuSOLVER's 64-bit interface, with the scratch memory that it asks for.

    Parameters
    ----------
    engine : CudaEngine
    name : str
    """

    def __init__(self, engine: CudaEngine, name: str) -> None:
        self._engine, self._name = engine, name
        self._sizes: tuple[int, int] | None = None

    def __call__(
        self, call: Call, stream: int, arguments: tuple[int, ...], info: int, *rest: int, extra: tuple[int, ...] = ()
    ) -> None:
        """Call it with `arguments`, the scratch memory, the address of `info`, and the `rest`.

        `extra` are the places of arguments that do not count when it is asked for the memory's size.
        """
        parameters = library(self._engine, "cusolverDn").made("create_params")
        if self._sizes is None:
            asked = (argument for place, argument in enumerate(arguments) if place not in extra)
            self._sizes = call(f"{self._name}_buffer_size", parameters, *asked, *rest)
        on_device, on_host = self._sizes
        scratch, block = self._engine.pool.allocator(on_device)(stream)
        host = np.empty(max(on_host, 1), np.uint8)
        call(self._name, parameters, *arguments, scratch, on_device, host.ctypes.data, on_host, info, *rest)
        if on_host:
            self._engine.retain(host, stream)
        del block  # kept until the routine was launched; the pool is ordered on the stream


class Infos:
    """What the libraries say of each matrix of a stack: 0, or what was wrong with it."""

    def __init__(self, engine: CudaEngine, count: int) -> None:
        self._engine = engine
        self._layout = layout_of(dt.int32, (count,), None, engine.context.device)
        self.new = engine.allocator(self._layout)

    def check(self, stream: int, address: int, failure: str) -> None:
        """Wait for the stream; LinAlgError if a matrix has failed."""
        if self._engine.to_host(address, self._layout, stream).any():
            raise LinAlgError(failure)


def addresses(engine: CudaEngine, count: int, nbytes: int) -> Callable[[int, int], tuple[int, Any]]:
    """A function ``(stream, first)`` that makes the addresses of the matrices of a stack, `nbytes` each, on the device.

    It gives the address of the array of them, and its owner.
    """
    layout = layout_of(dt.uint64, (count,), None, engine.context.device)
    write, allocate = engine.arange(layout), engine.allocator(layout)

    def make(stream: int, first: int) -> tuple[int, Any]:
        made, owner = allocate(stream)
        write(stream, made, first, nbytes)
        return made, owner

    return make


def copy_of(engine: CudaEngine, op: Operator, source: Layout, target: Layout) -> Kernel:
    """The kernel ``(stream, target, source)`` that writes `op` of `source`."""
    return engine.elementwise(op, signature_of(op, (source,), target.dtype), (source,), target)
