"""Triangular factors of matrices on CUDA."""

from __future__ import annotations

import ctypes
from struct import pack
from typing import TYPE_CHECKING

from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.gather import word_of
from xpops.engine.cuda.glue import truth
from xpops.engine.cuda.libraries import library
from xpops.engine.cuda.lu import BLOCK, linalg_glue
from xpops.engine.cuda.solver import KINDS, LOWER, UPPER, Infos, Routine, addresses, batched, copy_of
from xpops.engine.protocol import Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.plan.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine


def cholesky(engine: CudaEngine, x: Layout, upper: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.cholesky`.

    For the library rows are columns: the lower factor is its upper one, of the transposed and so conjugated matrix.
    """
    count, size, _ = x.shape
    kind, triangle, step = KINDS[x.dtype], LOWER if upper else UPPER, size**2 * x.dtype.itemsize
    infos, routine, point = Infos(engine, count), Routine(engine, "xpotrf"), addresses(engine, count, step)
    together = batched(x)

    def kernel(stream: int, x: int) -> None:
        (told, owner), pointed = infos.new(stream), None
        with library(engine, "cusolverDn").on(stream) as call:
            if together:
                pointers, pointed = point(stream, x)
                call(f"{kind.letter}potrf_batched", triangle, size, pointers, size, told, count)
            else:
                for i in range(count):
                    arguments = (triangle, size, kind.code, x + i * step, size, kind.code)
                    routine(call, stream, arguments, told + 4 * i)
        infos.check(stream, told, "cholesky: a matrix is not positive definite")
        del owner, pointed  # kept until the kernels were launched

    return kernel


def qr(engine: CudaEngine, x: Layout, q: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.qr`. For the library `x` are the matrices and `q` their orthonormal columns."""
    (count, columns, rows), made, kind, item = x.shape, q.shape[1], KINDS[x.dtype], x.dtype.itemsize
    used = min(rows, columns)
    taus = engine.allocator(layout_of(x.dtype, (count, used), None, x.device))
    factor, infos = Routine(engine, "xgeqrf"), Infos(engine, 1)
    point_x, point_tau = addresses(engine, count, rows * columns * item), addresses(engine, count, used * item)
    source, target = (layout_of(x.dtype, (count, used, rows), each.strides, x.device, x.align) for each in (x, q))
    copy, together = copy_of(engine, IDENTITY, source, target), batched(x)
    form = f"{kind.letter}{'ung' if kind.letter in 'cz' else 'org'}qr"
    sizes: list[int] = []

    def factored(stream: int, x: int, tau: int, told: int) -> None:
        if together:
            (matrices, first), (scalars, second), refused = point_x(stream, x), point_tau(stream, tau), ctypes.c_int()
            with library(engine, "cublas").on(stream) as call:
                call(
                    f"{kind.letter}geqrf_batched",
                    *(rows, columns, matrices, rows, scalars, ctypes.addressof(refused), count),
                )
            del first, second  # kept until the kernels were launched
            return
        with library(engine, "cusolverDn").on(stream) as call:
            for i in range(count):
                matrix, scalar = x + i * rows * columns * item, tau + i * used * item
                factor(call, stream, (rows, columns, kind.code, matrix, rows, kind.code, scalar, kind.code), told)

    def kernel(stream: int, q: int, x: int) -> None:
        (tau, first), (told, second) = taus(stream), infos.new(stream)
        factored(stream, x, tau, told)
        copy(stream, q, x)
        with library(engine, "cusolverDn").on(stream) as call:
            if not sizes:
                sizes.append(call(f"{form}_buffer_size", rows, made, used, q, rows, tau))
            (size,) = sizes
            scratch, third = engine.pool.allocator(size * item)(stream)
            for i in range(count):
                matrix, scalar = q + i * made * rows * item, tau + i * used * item
                call(form, rows, made, used, matrix, rows, scalar, scratch, size, told)
        del first, second, third  # kept until the kernels were launched

    return kernel


def triangle(engine: CudaEngine, x: Layout, upper: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.triangle`."""
    _, rows, columns = x.shape
    tail = pack("<Q", x.size) + pack_divmod(columns, 64) + pack_divmod(rows, 64)
    source = triangle_glue(x.dtype.itemsize, upper)
    return engine.launcher("triangle", source, -(-x.size // BLOCK), BLOCK, "Q", tail)


def triangle_glue(itemsize: int, upper: bool) -> str:
    """The glue of the kernel that writes zeros beside a triangle."""
    return linalg_glue(f"triangle<{word_of(itemsize)}, {truth(upper)}>", "TriangleParams")
