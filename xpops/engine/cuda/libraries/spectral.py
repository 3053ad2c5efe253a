"""Eigenvalues on CUDA."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.libraries.solver import (
    JACOBI_SIZE,
    KINDS,
    UPPER,
    Infos,
    OlderRoutine,
    Reports,
    Routine,
    linalg_glue,
)
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def eigh(runtime: Runtime, x: Layout, vectors: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.eigh`."""
    name = "eigh" if vectors else "eigvalsh"
    message = f"{name}: the eigenvalues of matrix {{}} did not converge"
    return decompose_hermitian(runtime, x, vectors, Reports(runtime, x.shape[0], message))


def decompose_hermitian(runtime: Runtime, x: Layout, vectors: bool, reports: Reports) -> Kernel:
    """The kernel ``(stream, values, x)`` of `eigh`, which sends these reports.

    The library is column-major: it sees the transposed, and so conjugated, matrix. Our lower triangle is its upper one,
    and the other one is not read.
    """
    count, size, _ = x.shape
    if count > 1 and size <= JACOBI_SIZE:
        return _decompose_small(runtime, x, vectors, reports)
    kind = KINDS[x.dtype]
    solver = library(runtime, "cusolverDn")
    routine, batch = (Routine(runtime, "xsyevd"), ()) if count == 1 else (Routine(runtime, "xsyev_batched"), (count,))

    def kernel(stream: int, values: int, x: int) -> None:
        told, owner = reports.new(stream)
        arguments = (int(vectors), UPPER, size, kind.code, x, size, kind.real, values, kind.code)
        with solver.on(stream) as handle:
            host = routine(handle, stream, arguments, told, *batch)
        reports.send(stream, told)
        if host:
            runtime.retain(host, stream)
        del owner  # kept until the kernels were launched

    return kernel


def _decompose_small(runtime: Runtime, x: Layout, vectors: bool, reports: Reports) -> Kernel:
    """By Jacobi rotations, in one call. Ascending order is the library's default."""
    (count, size, _), letter, item = x.shape, KINDS[x.dtype].letter, x.dtype.itemsize
    solver = library(runtime, "cusolverDn")
    routine = OlderRoutine(runtime, f"{letter}{'he' if letter in 'cz' else 'sy'}evj_batched", item)
    settings = solver.made("create_syevj_info")

    def kernel(stream: int, values: int, x: int) -> None:
        told, owner = reports.new(stream)
        with solver.on(stream) as handle:
            routine(handle, stream, (int(vectors), UPPER, size, x, size, values), told, settings, count)
        reports.send(stream, told)
        del owner  # kept until the kernels were launched

    return kernel


def eig(runtime: Runtime, x: Layout, vectors: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.eig`. The library is column-major, so it sees `x.mT`."""
    count, size, _ = x.shape
    kind, infos = KINDS[x.dtype], Infos(runtime, count)
    routine, solver = Routine(runtime, "xgeev"), library(runtime, "cusolverDn")
    spectrum = dt.COMPLEX_OF.get(x.dtype, x.dtype)
    code, item, step = KINDS[spectrum].code, spectrum.itemsize, size**2 * x.dtype.itemsize
    allocate, pair = runtime.allocator(x), vectors and x.dtype is not spectrum
    block = tuning_of(runtime.context.capability).linalg.block
    source = eigenvectors_glue(dt.INFO[dt.REAL_OF[spectrum]].c_type, block)
    tail = pack("<Q", x.size) + pack_divmod(size, 64)
    unpack = runtime.launcher("eigenvectors", source, -(-x.size // block), block, "QQQ", tail) if pair else None

    def kernel(stream: int, values: int, *data: int) -> None:
        *results, x = data
        (told, first), second, host = infos.new(stream), None, []  # type: ignore[var-annotated]
        rows = results[0] if results else 0
        if unpack is not None:
            rows, second = allocate(stream)
        with solver.on(stream) as handle:
            for i in range(count):
                right = rows + i * step if vectors else 0
                matrix = (size, kind.code, x + i * step, size, code, values + i * size * item)
                arguments = (0, int(vectors), *matrix, kind.code, 0, size, kind.code, right, size, kind.code)
                host += routine(handle, stream, arguments, told + 4 * i)
        if unpack is not None:
            unpack(stream, results[0], rows, values)
        infos.check(stream, told, "eig: the eigenvalues of a matrix did not converge")
        del first, second, host  # kept until the work was done

    return kernel


def eigenvectors_glue(c_type: str, block: int) -> str:
    """The glue of the kernel that joins real and imaginary parts to complex vectors."""
    return linalg_glue(f"eigenvectors<{c_type}>", "EigenvectorParams", block)
