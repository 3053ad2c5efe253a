"""Linear equations, inverses and determinants on CUDA, by LU decomposition. The libraries see transposed matrices."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.libraries.solver import (
    KINDS,
    PLAIN,
    Addresses,
    Infos,
    Routine,
    addresses,
    batched,
    linalg_glue,
)
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# Up to this size cuBLAS inverts matrices in one step.
SMALL_INVERSE = 32
# The threads of a warp. One warp computes the determinant of a matrix.
WARP = 32


class Factors(NamedTuple):
    """The addresses of a decomposition's further results, the owners of their memory, and host memory still in use."""

    pivots: int
    infos: int
    pointers: int
    owners: tuple[Any, ...]
    host: list[Any]


class LU:
    """The in-place LU decomposition of a stack of square matrices, and the solution of equations with it.

    cuBLAS decomposes stacks of small matrices in one call; cuSOLVER decomposes other matrices one by one.
    """

    def __init__(self, runtime: Runtime, x: Layout) -> None:
        self.runtime, self.kind = runtime, KINDS[x.dtype]
        self.count, self.size, _ = x.shape
        self.together, self._item = batched(runtime, x), x.dtype.itemsize
        self.pivot = dt.int32 if self.together else dt.int64
        self._pivots = runtime.allocator(layout_of(self.pivot, (self.count, self.size), None, x.device))
        self.infos, self.point = Infos(runtime, self.count), self.pointers(self.size)
        self.library = library(runtime, "cublas" if self.together else "cusolverDn")
        if self.together:
            self._factor = self.library.function(f"{self.kind.letter}getrf_batched")
        else:
            self._routine = Routine(runtime, "xgetrf")

    def pointers(self, columns: int) -> Addresses:
        """A function that writes the addresses of a stack's matrices, each of `columns` columns, to device memory."""
        return addresses(self.runtime, self.count, columns * self.size * self._item)

    def factor(self, stream: int, a: int) -> Factors:
        (pivots, first), (infos, second) = self._pivots(stream), self.infos.new(stream)
        size, code, pointers, third = self.size, self.kind.code, 0, None
        host: list[Any] = []
        if self.together:
            pointers, third = self.point(stream, a)
            with self.library.on(stream) as handle:
                self._factor(handle, size, pointers, size, pivots, infos, self.count)
        else:
            with self.library.on(stream) as handle:
                for i in range(self.count):
                    matrix, pivot = a + i * size**2 * self._item, pivots + i * size * self.pivot.itemsize
                    arguments = (size, size, code, matrix, size, pivot, code)
                    host += self._routine(handle, stream, arguments, infos + 4 * i, extra=(5,))
        return Factors(pivots, infos, pointers, (first, second, third), host)

    def solver(self, columns: int) -> Callable[[int, int, Factors, int], None]:
        """A function ``(stream, a, factors, b)`` that solves equations.

        For each matrix, `b` has `columns` right-hand sides, one per row; the solutions overwrite them.
        """
        return self._solver_together(columns) if self.together else self._solver_of_each(columns)

    def _solver_together(self, columns: int) -> Callable[[int, int, Factors, int], None]:
        size, count, point, turn = self.size, self.count, self.pointers(columns), self.library.on
        run, refused = self.library.function(f"{self.kind.letter}getrs_batched"), ctypes.c_int()
        told = ctypes.addressof(refused)

        def solve(stream: int, a: int, factors: Factors, b: int, _kept: Any = refused) -> None:
            sides, owner = point(stream, b)
            with turn(stream) as handle:
                run(handle, PLAIN, size, columns, factors.pointers, size, factors.pivots, sides, size, told, count)
            del owner  # kept until the kernels were launched

        return solve

    def _solver_of_each(self, columns: int) -> Callable[[int, int, Factors, int], None]:
        size, item, code = self.size, self._item, self.kind.code
        run, parameters = self.library.function("xgetrs"), self.library.made("create_params")

        def solve(stream: int, a: int, factors: Factors, b: int) -> None:
            told, owner = self.infos.new(stream)
            with self.library.on(stream) as handle:
                for i in range(self.count):
                    matrix, pivots = a + i * size**2 * item, factors.pivots + i * size * self.pivot.itemsize
                    equations = (code, matrix, size, pivots, code, b + i * columns * size * item, size)
                    run(handle, parameters, PLAIN, size, columns, *equations, told)
            del owner  # kept until the kernels were launched

        return solve


def solve(runtime: Runtime, a: Layout, b: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.solve`."""
    lu = LU(runtime, a)
    solver = lu.solver(b.shape[1])

    def kernel(stream: int, a: int, b: int) -> None:
        factors = lu.factor(stream, a)
        verdict = lu.infos.ask(stream, factors.infos)
        solver(stream, a, factors, b)
        verdict("solve: a matrix is singular")

    return kernel


def inv(runtime: Runtime, x: Layout, identity: Callable[[int, int], None]) -> Kernel:
    """See `xpops.engine.protocol.Engine.inv`."""
    lu = LU(runtime, x)
    if lu.together:
        invert = _inverse_at_once(lu) if lu.size <= SMALL_INVERSE else _inverse_together(lu)
    else:
        invert = _inverse_of_each(lu, identity)

    def kernel(stream: int, out: int, x: int) -> None:
        verdict, owners = invert(stream, out, x)
        verdict("inv: a matrix is singular")
        del owners  # kept until the kernels were launched

    return kernel


# A function (stream, out, x) that launches the inversion. It returns a function that raises if a matrix is singular,
# and the owners of memory in use.
_Inverse = Callable[[int, int, int], tuple[Callable[[str], None], Any]]


def _inverse_at_once(lu: LU) -> _Inverse:
    run, size = lu.library.function(f"{lu.kind.letter}matinv_batched"), lu.size

    def invert(stream: int, out: int, x: int) -> tuple[Callable[[str], None], Any]:
        (infos, first), (pointers, second), (results, third) = (
            lu.infos.new(stream),
            lu.point(stream, x),
            lu.point(stream, out),
        )
        with lu.library.on(stream) as handle:
            run(handle, size, pointers, size, results, size, infos, lu.count)
        return lu.infos.ask(stream, infos), (first, second, third)

    return invert


def _inverse_together(lu: LU) -> _Inverse:
    run, size = lu.library.function(f"{lu.kind.letter}getri_batched"), lu.size

    def invert(stream: int, out: int, x: int) -> tuple[Callable[[str], None], Any]:
        factors = lu.factor(stream, x)
        verdict = lu.infos.ask(stream, factors.infos)
        (results, first), (told, second) = lu.point(stream, out), lu.infos.new(stream)
        with lu.library.on(stream) as handle:
            run(handle, size, factors.pointers, size, factors.pivots, results, size, told, lu.count)
        return verdict, (factors, first, second)

    return invert


def _inverse_of_each(lu: LU, identity: Callable[[int, int], None]) -> _Inverse:
    solver = lu.solver(lu.size)

    def invert(stream: int, out: int, x: int) -> tuple[Callable[[str], None], Any]:
        identity(stream, out)
        factors = lu.factor(stream, x)
        verdict = lu.infos.ask(stream, factors.infos)
        solver(stream, x, factors, out)
        return verdict, factors

    return invert


def slogdet(runtime: Runtime, x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.slogdet`."""
    lu, (count, size, _) = LU(runtime, x), x.shape
    block = tuning_of(runtime.context.capability).linalg.block
    source = slogdet_glue(dt.INFO[x.dtype].c_type, dt.INFO[lu.pivot].c_type, block)
    launch = runtime.launcher("slogdet", source, -(-count * WARP // block), block, "QQQQ", pack("<QQ", count, size))
    keep = runtime.retain

    def kernel(stream: int, sign: int, logabsdet: int, x: int) -> None:
        factors = lu.factor(stream, x)
        launch(stream, sign, logabsdet, x, factors.pivots)
        if factors.host:
            keep(factors.host, stream)

    return kernel


def slogdet_glue(c_type: str, pivot: str, block: int) -> str:
    """The glue of the kernel that multiplies diagonals."""
    return linalg_glue(f"slogdet<{c_type}, {pivot}>", "SlogdetParams", block)
