"""Linear equations, inverses, determinants on CUDA: by LU decomposition, of what lies transposed for the libraries."""

from __future__ import annotations

import ctypes
from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.libraries import library
from xpops.engine.cuda.solver import KINDS, PLAIN, TRANSPOSED, Infos, Routine, addresses, batched
from xpops.engine.protocol import Kernel

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# Up to this size cuBLAS inverts matrices in one step.
SMALL_INVERSE = 32
# A warp for each matrix.
BLOCK, WARP = 128, 32


class Factors(NamedTuple):
    """Addresses of what a decomposition leaves beside its matrices, and who owns them."""

    pivots: int
    infos: int
    pointers: int
    owners: tuple[Any, ...]


class LU:
    """The LU decomposition of a stack of square matrices where they lie, and equations solved by it.

    Small ones are decomposed together by cuBLAS, others one by one by cuSOLVER.
    """

    def __init__(self, engine: CudaEngine, x: Layout) -> None:
        self._engine, self.kind = engine, KINDS[x.dtype]
        self.count, self.size, _ = x.shape
        self.together, self._item = batched(x), x.dtype.itemsize
        self.pivot = dt.int32 if self.together else dt.int64
        self._pivots = engine.allocator(layout_of(self.pivot, (self.count, self.size), None, x.device))
        self.infos, self._routine = Infos(engine, self.count), Routine(engine, "xgetrf")
        self.point = addresses(engine, self.count, self.size**2 * self._item)

    def factor(self, stream: int, a: int) -> Factors:
        (pivots, first), (infos, second) = self._pivots(stream), self.infos.new(stream)
        size, code, pointers, third = self.size, self.kind.code, 0, None
        if self.together:
            pointers, third = self.point(stream, a)
            with library(self._engine, "cublas").on(stream) as call:
                call(f"{self.kind.letter}getrf_batched", size, pointers, size, pivots, infos, self.count)
        else:
            with library(self._engine, "cusolverDn").on(stream) as call:
                for i in range(self.count):
                    matrix, pivot = a + i * size**2 * self._item, pivots + i * size * self.pivot.itemsize
                    arguments = (size, size, code, matrix, size, pivot, code)
                    self._routine(call, stream, arguments, infos + 4 * i, extra=(5,))
        return Factors(pivots, infos, pointers, (first, second, third))

    def solve(self, stream: int, a: int, factors: Factors, b: int, columns: int, trans: int) -> None:
        """Replace the `columns` of right-hand sides for each matrix, which are rows of `b`, by solutions."""
        size, kind, step = self.size, self.kind, columns * self.size * self._item
        if self.together:
            sides, owner = addresses(self._engine, self.count, step)(stream, b)
            refused = ctypes.c_int()
            with library(self._engine, "cublas").on(stream) as call:
                call(
                    f"{kind.letter}getrs_batched",
                    *(trans, size, columns, factors.pointers, size, factors.pivots, sides, size),
                    *(ctypes.addressof(refused), self.count),
                )
            del owner  # kept until the kernels were launched
            return
        solver = library(self._engine, "cusolverDn")
        told, owner = self.infos.new(stream)
        with solver.on(stream) as call:
            for i in range(self.count):
                matrix = a + i * size**2 * self._item
                pivots = factors.pivots + i * size * self.pivot.itemsize
                call(
                    "xgetrs",
                    solver.made("create_params"),
                    *(trans, size, columns, kind.code, matrix, size, pivots, kind.code, b + i * step, size, told),
                )
        del owner  # kept until the kernels were launched


def solve(engine: CudaEngine, a: Layout, b: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.solve`."""
    lu, columns = LU(engine, a), b.shape[1]

    def kernel(stream: int, a: int, b: int) -> None:
        factors = lu.factor(stream, a)
        lu.solve(stream, a, factors, b, columns, TRANSPOSED)
        lu.infos.check(stream, factors.infos, "solve: a matrix is singular")

    return kernel


def inv(engine: CudaEngine, x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.inv`."""
    lu, (count, size, _) = LU(engine, x), x.shape
    letter = lu.kind.letter

    def kernel(stream: int, out: int, x: int) -> None:
        if not lu.together:
            factors = lu.factor(stream, x)
            lu.solve(stream, x, factors, out, size, PLAIN)
            infos, owners = factors.infos, factors.owners
        elif size <= SMALL_INVERSE:
            (infos, owner), (results, second) = lu.infos.new(stream), lu.point(stream, out)
            pointers, first = lu.point(stream, x)
            with library(engine, "cublas").on(stream) as call:
                call(f"{letter}matinv_batched", size, pointers, size, results, size, infos, count)
            owners = owner, first, second
        else:
            factors, (results, owner), (told, second) = (
                lu.factor(stream, x),
                lu.point(stream, out),
                lu.infos.new(stream),
            )
            with library(engine, "cublas").on(stream) as call:
                call(
                    f"{letter}getri_batched",
                    *(size, factors.pointers, size, factors.pivots, results, size, told, count),
                )
            infos, owners = factors.infos, (factors, owner, second)
        lu.infos.check(stream, infos, "inv: a matrix is singular")
        del owners  # kept until the kernels were launched

    return kernel


def slogdet(engine: CudaEngine, x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.slogdet`."""
    lu, (count, size, _) = LU(engine, x), x.shape
    source = slogdet_glue(dt.INFO[x.dtype].c_type, dt.INFO[lu.pivot].c_type)
    launch = engine.launcher("slogdet", source, -(-count * WARP // BLOCK), BLOCK, "QQQQ", pack("<QQ", count, size))

    def kernel(stream: int, sign: int, logabsdet: int, x: int) -> None:
        factors = lu.factor(stream, x)
        launch(stream, sign, logabsdet, x, factors.pivots)
        del factors  # kept until the kernels were launched

    return kernel


def slogdet_glue(c_type: str, pivot: str) -> str:
    """The glue of the kernel that multiplies diagonals."""
    return linalg_glue(f"slogdet<{c_type}, {pivot}>", "SlogdetParams")


def linalg_glue(call: str, params: str) -> str:
    """The glue of a kernel of ``kernels/linalg.cuh``."""
    return "\n".join(
        [
            "#include <xpops/kernels/linalg.cuh>",
            "using namespace xpops;",
            f'extern "C" __global__ void __launch_bounds__({BLOCK})',
            f"xpops_kernel(const __grid_constant__ {params} params) {{",
            f"  {call}(params);",
            "}",
            "",
        ]
    )
