"""The primitives on NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from xpops.core.dtypes import DType
from xpops.core.errors import OutOfMemoryError
from xpops.core.layouts import Layout, extent
from xpops.engine.cpu.fft import fft
from xpops.engine.cpu.gather import gather, scatter, take_along
from xpops.engine.cpu.histogram import bincount, histogram
from xpops.engine.cpu.linalg import cholesky, eig, eigh, inv, qr, slogdet, solve, svd, triangle
from xpops.engine.cpu.matmul import matmul
from xpops.engine.cpu.random import random
from xpops.engine.cpu.reduce import reduce
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.cpu.scan import scan
from xpops.engine.cpu.scatter import scatter_reduce
from xpops.engine.cpu.searchsorted import searchsorted
from xpops.engine.cpu.select import compress, masked_scatter, nonzero, runs
from xpops.engine.cpu.softmax import softmax
from xpops.engine.cpu.sort import sort
from xpops.engine.cpu.upsample import upsample
from xpops.engine.cpu.window import window
from xpops.engine.program import Kernel, Owner
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand, Signature

NDArray = np.ndarray[Any, Any]

# JAX shares host memory without a copy only at this alignment. SIMD loops are faster with it, too.
HOST_ALIGNMENT = 64


class CpuEngine:
    """The NumPy engine. Data is an ndarray of exactly the array's layout; it keeps its memory alive itself."""

    is_host, dlpack_kind, fft_split = True, 1, None

    reduce = staticmethod(reduce)
    bincount = staticmethod(bincount)
    histogram = staticmethod(histogram)
    cholesky = staticmethod(cholesky)
    eig = staticmethod(eig)
    eigh = staticmethod(eigh)
    fft = staticmethod(fft)
    inv = staticmethod(inv)
    qr = staticmethod(qr)
    slogdet = staticmethod(slogdet)
    solve = staticmethod(solve)
    svd = staticmethod(svd)
    triangle = staticmethod(triangle)
    compress = staticmethod(compress)
    gather = staticmethod(gather)
    matmul = staticmethod(matmul)
    nonzero = staticmethod(nonzero)
    masked_scatter = staticmethod(masked_scatter)
    random = staticmethod(random)
    runs = staticmethod(runs)
    scan = staticmethod(scan)
    scatter = staticmethod(scatter)
    scatter_reduce = staticmethod(scatter_reduce)
    searchsorted = staticmethod(searchsorted)
    softmax = staticmethod(softmax)
    sort = staticmethod(sort)
    take_along = staticmethod(take_along)
    upsample = staticmethod(upsample)
    window = staticmethod(window)

    def allocator(self, layout: Layout) -> Callable[[int], tuple[NDArray, Owner]]:
        return partial(self.allocate, layout)

    def allocate(self, layout: Layout, stream: int = 0) -> tuple[NDArray, Owner]:
        try:
            buffer = np.empty(layout.nbytes + HOST_ALIGNMENT, np.uint8)
        except MemoryError:
            raise OutOfMemoryError(f"cpu: {layout.nbytes:,} bytes were asked for") from None
        low, _ = extent(layout)
        start = -buffer.ctypes.data % HOST_ALIGNMENT - low
        return np.ndarray(layout.shape, layout.dtype, buffer, start, _byte_strides(layout)), None

    def elementwise(self, op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout) -> Kernel:
        loops = signature.loop if op.own_halves else tuple(WIDENED.get(loop, loop) for loop in signature.loop)
        pairs, function = tuple(zip(signature.loop, loops, strict=True)), op.cpu

        def kernel(stream: int, out: NDArray, *inputs: Any) -> None:
            with np.errstate(all="ignore"):
                converted = [_converted(x, *pair) for x, pair in zip(inputs, pairs, strict=True)]
                if isinstance(function, np.ufunc):
                    function(*converted, out=out, casting="unsafe")
                else:
                    np.copyto(out, cast(np.asarray(function(*converted)), out.dtype), casting="unsafe")

        def copy(stream: int, out: NDArray, x: Any) -> None:
            with np.errstate(all="ignore"):
                np.copyto(out, cast(x, out.dtype), casting="unsafe")

        return copy if op is IDENTITY else kernel

    def assign(self, signature: Signature, operands: tuple[Layout, Operand, Layout], out: Layout) -> Kernel:
        return self.elementwise(OPERATORS["where"], signature, operands, out)

    def arange(self, out: Layout) -> Kernel:
        def kernel(stream: int, out: NDArray, start: Any, step: Any) -> None:
            if out.dtype.kind in "iu":  # modulo 2**64, so that the whole 64-bit range is exact
                index = np.arange(out.size, dtype=np.uint64)
                out[...] = (index * np.uint64(step % 2**64) + np.uint64(start % 2**64)).astype(out.dtype)
            else:
                out[...] = start + np.arange(out.size) * step

        return kernel

    def distinct(self, x: Layout, parts: tuple[str, ...]) -> None:
        """Return None: NumPy sorts."""

    def join(self, parts: tuple[Layout, ...], axis: int, out: Layout) -> None:
        """Return None: NumPy copies one part after the other."""

    def view(self, data: NDArray, offset: int, layout: Layout) -> NDArray:
        # as_strided cannot step before the first element, so negative strides go through the address.
        address = data.ctypes.data + offset * layout.dtype.itemsize
        return self.adopt(address, layout, data, data.flags.writeable)

    def address(self, data: NDArray) -> int:
        return data.ctypes.data

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> NDArray:
        if layout.size == 0:
            return np.empty(layout.shape, layout.dtype)
        low, high = extent(layout)
        buffer: Any = (ctypes.c_char * (high - low)).from_address(address + low)
        buffer.owner = owner  # the ndarray's base is this ctypes instance, which keeps its attribute `owner` alive
        array: NDArray = np.ndarray(layout.shape, layout.dtype, buffer, -low, _byte_strides(layout))
        array.flags.writeable = writable
        return array

    def to_host(self, data: NDArray, layout: Layout, stream: int = 0) -> NDArray:
        return data.copy()

    def from_host(self, array: NDArray, data: NDArray, layout: Layout, stream: int = 0) -> None:
        data[...] = array

    def current_stream(self) -> int:
        return 0

    def current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def order(self, first: int, then: int) -> None:
        pass  # the host computes in order

    def retain(self, owner: Owner, stream: int) -> None:
        pass  # a kernel has read its operands when it returns


def _converted(x: Any, loop: DType, wide: DType) -> NDArray:
    """Convert an operand to the loop's dtype, and then to the wider dtype of the computation."""
    return cast(x, loop).astype(wide, copy=False)


def _byte_strides(layout: Layout) -> tuple[int, ...]:
    item = layout.dtype.itemsize
    return tuple(stride * item for stride in layout.strides)
