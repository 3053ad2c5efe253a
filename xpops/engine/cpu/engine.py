"""The primitives on NumPy."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu import rounding
from xpops.engine.cpu.assign import assign
from xpops.engine.cpu.correlate import correlate
from xpops.engine.cpu.elementwise import elementwise
from xpops.engine.cpu.fft import fft
from xpops.engine.cpu.gather import gather, scatter, take_along
from xpops.engine.cpu.histogram import bincount, histogram
from xpops.engine.cpu.linalg import cholesky, eig, eigh, inv, qr, slogdet, solve, svd, triangle
from xpops.engine.cpu.matmul import matmul
from xpops.engine.cpu.memory import adopt, allocator, view
from xpops.engine.cpu.random import random
from xpops.engine.cpu.reduce import reduce
from xpops.engine.cpu.scan import scan
from xpops.engine.cpu.scatter import scatter_reduce
from xpops.engine.cpu.searchsorted import searchsorted
from xpops.engine.cpu.select import compress, masked_scatter, nonzero, runs
from xpops.engine.cpu.softmax import softmax
from xpops.engine.cpu.sort import sort
from xpops.engine.cpu.upsample import upsample
from xpops.engine.cpu.window import window
from xpops.engine.program import Kernel, Owner

NDArray = np.ndarray[Any, Any]


class CpuEngine:
    """The NumPy engine. Data is an ndarray of exactly the array's layout; it keeps its memory alive itself."""

    is_host, dlpack_kind, fft_strided = True, 1, None

    adopt = staticmethod(adopt)
    allocator = staticmethod(allocator)
    view = staticmethod(view)
    assign = staticmethod(assign)
    elementwise = staticmethod(elementwise)
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
    correlate = staticmethod(correlate)
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

    def allocate(self, layout: Layout, stream: int = 0) -> tuple[NDArray, Owner]:
        return allocator(layout)(stream)

    def arange(self, out: Layout) -> Kernel:
        def kernel(stream: int, out: NDArray, start: Any, step: Any) -> None:
            if out.dtype.kind in "iu":  # modulo the dtype's range, so that the whole range is exact
                bits, modulus = out.view(f"u{out.itemsize}"), 2 ** (8 * out.itemsize)
                bits[...] = np.arange(out.size)
                bits *= bits.dtype.type(step % modulus)
                bits += bits.dtype.type(start % modulus)
            else:
                numbers = np.arange(out.size, dtype=np.result_type(out.dtype, np.float64))
                numbers *= step
                numbers += start
                rounding.assign(out, numbers)

        return kernel

    def distinct(self, x: Layout, parts: tuple[str, ...]) -> None:
        """Return None: NumPy sorts."""

    def join(self, parts: tuple[Layout, ...], axis: int, out: Layout) -> None:
        """Return None: NumPy copies one part after the other."""

    def sequence(self, kernel: Kernel, specs: tuple[Layout | type, ...]) -> Kernel:
        return kernel

    def address(self, data: NDArray) -> int:
        return data.ctypes.data

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
