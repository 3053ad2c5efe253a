"""Triangular factors of matrices on CUDA."""

from __future__ import annotations

import ctypes
from struct import pack
from typing import TYPE_CHECKING, Any

from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import unary
from xpops.engine.cuda.kernels.gather import word_of
from xpops.engine.cuda.kernels.rescale import rescaling
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.libraries.solver import (
    KINDS,
    LOWER,
    Infos,
    OlderRoutine,
    Routine,
    addresses,
    batched,
    linalg_glue,
)
from xpops.engine.cuda.runtime.native import step_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

_NOT_DEFINITE = "cholesky: a matrix is not positive definite"


def cholesky(runtime: Runtime, x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.cholesky`.

    The library is column-major: it sees the transposed, and so conjugated, matrix. Our upper factor is its lower one.
    The library takes about twice as long to compute its upper one.
    """
    if batched(runtime, x):
        return _cholesky_together(runtime, x)
    count, size, _ = x.shape
    code, step = KINDS[x.dtype].code, size**2 * x.dtype.itemsize
    infos, routine, solver = Infos(runtime, count), Routine(runtime, "xpotrf"), library(runtime, "cusolverDn")

    def kernel(stream: int, x: int) -> None:
        told, owner = infos.new(stream)
        with solver.on(stream) as handle:
            host = [
                routine(handle, stream, (LOWER, size, code, x + i * step, size, code), told + 4 * i)
                for i in range(count)
            ]
        infos.check(stream, told, _NOT_DEFINITE)
        del owner, host  # kept until the work was done

    return kernel


def _cholesky_together(runtime: Runtime, x: Layout) -> Kernel:
    count, size, _ = x.shape
    solver, infos = library(runtime, "cusolverDn"), Infos(runtime, count)
    point = addresses(runtime, count, size**2 * x.dtype.itemsize)
    run = solver.function(f"{KINDS[x.dtype].letter}potrf_batched")

    def kernel(stream: int, x: int) -> None:
        (told, first), (pointers, second) = infos.new(stream), point(stream, x)
        with solver.on(stream) as handle:
            run(handle, LOWER, size, pointers, size, told, count)
        infos.check(stream, told, _NOT_DEFINITE)
        del first, second  # kept until the kernels were launched

    return kernel


def qr(runtime: Runtime, x: Layout, q: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.qr`. The library is column-major: it sees `x.mT` and `q.mT`."""
    (count, columns, rows), made, item = x.shape, q.shape[1], x.dtype.itemsize
    used, letter = min(rows, columns), KINDS[x.dtype].letter
    taus, news = runtime.allocator(layout_of(x.dtype, (count, used), None, x.device)), Infos(runtime, 1).new
    factor = (_factor_together if batched(runtime, x) else _factor_each)(runtime, x)
    source, target = (layout_of(x.dtype, (count, used, rows), each.strides, x.device, x.align) for each in (x, q))
    copy, solver = unary(runtime, IDENTITY, source, target), library(runtime, "cusolverDn")
    scale = rescaling(runtime, x)
    words = runtime.pool.allocator(scale.nbytes)
    form = OlderRoutine(runtime, f"{letter}{'ung' if letter in 'cz' else 'org'}qr", item)

    @step_of
    def form_each(stream: int, q: int, tau: int, told: int) -> None:
        with solver.on(stream) as handle:
            for i in range(count):
                arguments = (rows, made, used, q + i * made * rows * item, rows, tau + i * used * item)
                form(handle, stream, arguments, told)

    def kernel(stream: int, q: int, x: int) -> None:
        (tau, first), (told, second), (largest, third) = taus(stream), news(stream), words(stream)
        scale.begin(stream, x, largest)  # the library may overflow; a scaled column of x scales only its column of R
        factor(stream, x, tau)
        copy(stream, q, x)
        scale.end(stream, x, largest)
        form_each(stream, q, tau, told)
        del first, second, third  # kept until the kernels were launched

    return kernel


def _factor_together(runtime: Runtime, x: Layout) -> Kernel:
    """The kernel ``(stream, x, tau)`` that factorises a stack of matrices in one call."""
    count, columns, rows = x.shape
    cublas, item = library(runtime, "cublas"), x.dtype.itemsize
    run, refused = cublas.function(f"{KINDS[x.dtype].letter}geqrf_batched"), ctypes.c_int()
    matrices, scalars = (addresses(runtime, count, size * item) for size in (rows * columns, min(rows, columns)))

    @step_of
    def factor(stream: int, x: int, tau: int) -> None:
        (of_x, first), (of_tau, second) = matrices(stream, x), scalars(stream, tau)
        with cublas.on(stream) as handle:
            run(handle, rows, columns, of_x, rows, of_tau, ctypes.addressof(refused), count)
        del first, second  # kept until the kernels were launched

    return factor


def _factor_each(runtime: Runtime, x: Layout) -> Kernel:
    """The kernel ``(stream, x, tau)`` that factorises one matrix after the other."""
    (count, columns, rows), code, item = x.shape, KINDS[x.dtype].code, x.dtype.itemsize
    solver, routine, news = library(runtime, "cusolverDn"), Routine(runtime, "xgeqrf"), Infos(runtime, 1).new

    @step_of
    def factor(stream: int, x: int, tau: int) -> None:
        told, owner = news(stream)
        host: list[Any] = []
        with solver.on(stream) as handle:
            for i in range(count):
                matrix, scalar = x + i * rows * columns * item, tau + i * min(rows, columns) * item
                host += routine(handle, stream, (rows, columns, code, matrix, rows, code, scalar, code), told)
        if host:
            runtime.retain(host, stream)
        del owner  # kept until the kernels were launched

    return factor


def triangle(runtime: Runtime, x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.triangle`."""
    (_, rows, columns), block = x.shape, tuning_of(runtime.context.capability).linalg.block
    tail = pack("<Q", x.size) + pack_divmod(columns, 64) + pack_divmod(rows, 64)
    return runtime.launcher("triangle", triangle_glue(x.dtype.itemsize, block), -(-x.size // block), block, "Q", tail)


def triangle_glue(itemsize: int, block: int) -> str:
    """The glue of the kernel that writes zeros under the diagonal."""
    return linalg_glue(f"triangle<{word_of(itemsize)}>", "TriangleParams", block)
