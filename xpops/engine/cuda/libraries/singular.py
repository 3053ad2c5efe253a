"""Singular values on CUDA.

The library is column-major: it sees the transposed matrix, which has at least as many rows as columns. The left
singular vectors of the transposed matrix are the right ones of `x`, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import elementwise, unary
from xpops.engine.cuda.kernels.reduce import inner_products
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.libraries.matmul import matmul
from xpops.engine.cuda.libraries.solver import JACOBI_SIZE, KINDS, OlderRoutine, Reports, Routine
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.signature import signature_of

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# A function (handle, stream, x, u, s, vh, info) that decomposes one matrix. It returns the host memory in use.
Decompose = Callable[[int, int, int, int, int, int, int], tuple[Any, ...]]


def svd(runtime: Runtime, x: Layout, vectors: bool, full: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.svd`.

    Notes
    -----
    Stacks of small matrices are decomposed in one call, by Jacobi's rotations. Large matrices take the polar
    decomposition, which is faster and more exact; others with vectors take Jacobi's rotations, and those without the QR
    algorithm.
    """
    (count, low, high), item = x.shape, x.dtype.itemsize
    if (count > 1 or vectors) and max(low, high) <= JACOBI_SIZE:
        return _by_small_rotations(runtime, x, vectors, full)
    decompose = _by_rotations(runtime, x, full) if vectors else _by_qr(runtime, x)
    reports, solver = _reports(runtime, count, vectors), library(runtime, "cusolverDn")
    real, wide = dt.REAL_OF.get(x.dtype, x.dtype).itemsize, high if full else low

    def kernel(stream: int, *data: int) -> None:
        u, s, vh, x = data if vectors else (0, data[0], 0, data[1])
        (told, owner), host = reports.new(stream), []  # type: ignore[var-annotated]
        with solver.on(stream) as handle:
            for i in range(count):
                matrix, left, right = x + i * low * high * item, u + i * low * low * item, vh + i * wide * high * item
                host += decompose(handle, stream, matrix, left, s + i * low * real, right, told + 4 * i)
        reports.send(stream, told)
        if host:
            runtime.retain(host, stream)
        del owner  # kept until the kernels were launched

    return kernel


def _by_qr(runtime: Runtime, x: Layout) -> Decompose:
    """By the QR algorithm, without vectors."""
    (_, low, high), kind = x.shape, KINDS[x.dtype]
    routine, none = Routine(runtime, "xgesvd"), ord("N")

    def decompose(handle: int, stream: int, x: int, u: int, s: int, vh: int, info: int) -> tuple[Any, ...]:
        sides = (kind.code, vh, high, kind.code, u, low, kind.code)
        return routine(handle, stream, (none, none, high, low, kind.code, x, high, kind.real, s, *sides), info)

    return decompose


def _by_rotations(runtime: Runtime, x: Layout, full: bool) -> Decompose:
    """By Jacobi's rotations, or by the polar decomposition if that is exact."""
    (_, low, high), kind = x.shape, KINDS[x.dtype]
    rotations = OlderRoutine(runtime, f"{kind.letter}gesvdj", x.dtype.itemsize)
    side = layout_of(x.dtype, (low, low), None, x.device)
    new_side, copy_u = runtime.allocator(side), _conjugate_transposed(runtime, side)
    is_large = low >= tuning_of(runtime.context.capability).linalg.polar_size
    polar = _polar(runtime, x, full, copy_u) if is_large else None
    settings = library(runtime, "cusolverDn").made("create_gesvdj_info")

    def decompose(handle: int, stream: int, x: int, u: int, s: int, vh: int, info: int) -> tuple[Any, ...]:
        v, owner = new_side(stream)
        exact, host = polar(handle, stream, x, u, s, vh, v, info) if polar else (False, ())
        if not exact:
            rotations(handle, stream, (1, int(not full), high, low, x, high, s, vh, high, v, low), info, settings)
            copy_u(stream, u, v)
        del owner  # kept until the kernels were launched
        return host

    return decompose


def _polar(runtime: Runtime, x: Layout, full: bool, copy_u: Kernel) -> Callable[..., tuple[bool, tuple[Any, ...]]]:
    """A function ``(handle, stream, x, u, s, vh, scratch, info)`` that waits, and returns whether the result is exact.

    Of a nearly singular matrix the library decomposes another one nearby. So the product of the result is compared with
    the matrix. Neither is computed for matrices with squares out of range. The function leaves `x` as it is.
    """
    (_, low, high), kind = x.shape, KINDS[x.dtype]
    routine, square_of = Routine(runtime, "xgesvdp"), _square_sums(runtime, x.dtype, low * high)
    matrix, side = (layout_of(x.dtype, (low, length), None, x.device) for length in (high, low))
    values = layout_of(dt.REAL_OF.get(x.dtype, x.dtype), (low,), None, x.device)
    allocate, copy = runtime.allocator(matrix), unary(runtime, IDENTITY, matrix, matrix)
    product = matmul(runtime, side, matrix, matrix, False)
    scale, subtract = (
        elementwise(runtime, op, signature_of(op, operands), operands, operands[0])
        for op, operands in ((OPERATORS["multiply"], (side, values)), (OPERATORS["subtract"], (matrix, matrix)))
    )
    # Exact results differ from the matrix by 12 to 25 roundings, and those of other matrices by thousands.
    limits = np.finfo(x.dtype)
    limit = (100 * float(limits.eps)) ** 2
    # Of smaller matrices, the squares of such differences are lost.
    least = low * high * float(limits.smallest_normal) / limit

    def decompose(
        handle: int, stream: int, x: int, u: int, s: int, vh: int, scratch: int, info: int
    ) -> tuple[bool, tuple[Any, ...]]:
        whole = square_of(stream, x)
        if not least <= whole < inf:
            return False, ()
        other, owner = allocate(stream)
        copy(stream, other, x)
        given = (1, int(not full), high, low, kind.code, other, high, kind.real, s)
        sides = (kind.code, vh, high, kind.code, scratch, low, kind.code)
        host = routine(handle, stream, (*given, *sides), info)
        copy_u(stream, u, scratch)
        scale(stream, scratch, u, s)
        product(stream, other, scratch, vh)
        subtract(stream, other, other, x)
        exact = square_of(stream, other) <= limit * whole
        del owner  # kept until the kernels were launched
        return exact, host

    return decompose


def _square_sums(runtime: Runtime, dtype: dt.DType, size: int) -> Callable[[int, int], float]:
    """A function ``(stream, x)`` that waits, and returns the sum of the squares of `size` numbers."""
    real = dt.REAL_OF.get(dtype, dtype)
    line = layout_of(real, (size * (dtype.itemsize // real.itemsize),), None, runtime.context.device)
    total = layout_of(real, (), None, runtime.context.device)
    allocate, add = runtime.allocator(total), inner_products(runtime, line, line, total)
    assert add is not None  # the operands have the same strides

    def square_sum(stream: int, x: int) -> float:
        made, owner = allocate(stream)
        add(stream, made, x, x)
        found = float(runtime.to_host(made, total, stream))
        del owner  # kept until the number was read
        return found

    return square_sum


def _by_small_rotations(runtime: Runtime, x: Layout, vectors: bool, full: bool) -> Kernel:
    """By Jacobi's rotations, all matrices at once. The library gives square sides, and V where it is V.H elsewhere."""
    (count, low, high), kind, item = x.shape, KINDS[x.dtype], x.dtype.itemsize
    reports = _reports(runtime, count, vectors)
    routine = OlderRoutine(runtime, f"{kind.letter}gesvdj_batched", item)
    left, right = (layout_of(x.dtype, (count, size, size), None, x.device) for size in (high, low))
    # The rows of the library's U.T in memory are the rows of Vh.
    part = layout_of(x.dtype, (count, low, high), left.strides, x.device)
    copy_vh = unary(runtime, IDENTITY, part, layout_of(x.dtype, part.shape, None, x.device))
    copy_u = _conjugate_transposed(runtime, right)
    news, solver = (runtime.allocator(left), runtime.allocator(right)), library(runtime, "cusolverDn")
    settings = solver.made("create_gesvdj_info")

    def kernel(stream: int, *data: int) -> None:
        u, s, vh, x = data if vectors else (0, data[0], 0, data[1])
        (told, first), (sides, second), (v, third) = (new(stream) for new in (reports.new, *news))
        sides = vh if full else sides
        with solver.on(stream) as handle:
            arguments = (int(vectors), high, low, x, high, s, sides, high, v, low)
            routine(handle, stream, arguments, told, settings, count)
        if vectors:
            copy_u(stream, u, v)
            if not full:
                copy_vh(stream, vh, sides)
        reports.send(stream, told)
        del first, second, third  # kept until the kernels were launched

    return kernel


def _conjugate_transposed(runtime: Runtime, side: Layout) -> Kernel:
    """The kernel ``(stream, u, v)`` for the library's V, which is transposed in memory: U is its conjugate."""
    *stack, low, _ = side.strides
    turned = layout_of(side.dtype, side.shape, (*stack, 1, low), side.device)
    return unary(runtime, OPERATORS["conj"], turned, side)


def _reports(runtime: Runtime, count: int, vectors: bool) -> Reports:
    name = "svd" if vectors else "svdvals"
    return Reports(runtime, count, f"{name}: the singular values of matrix {{}} did not converge")
