"""Singular values on CUDA.

The library is column-major: it sees the transposed matrix, which has at least as many rows as columns. The left
singular vectors of the transposed matrix are the right ones of `x`, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.engine.cuda.kernels.elementwise import elementwise, unary
from xpops.engine.cuda.kernels.reduce import inner_products
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.libraries.matmul import matmul
from xpops.engine.cuda.libraries.singular_values import by_eigenvalues
from xpops.engine.cuda.libraries.solver import JACOBI_SIZE, KINDS, OlderRoutine, Reports, Routine
from xpops.engine.cuda.tuning import FAST_FLOAT64, tuning_of
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.signature import signature_of

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# A function (handle, stream, x, u, s, vh, info) that decomposes one matrix. It returns the host memory in use.
Decompose = Callable[[int, int, int, int, int, int, int], tuple[Any, ...]]
# The same, but it returns whether the result is exact, too.
Attempt = Callable[[int, int, int, int, int, int, int], tuple[bool, tuple[Any, ...]]]
_WIDE = {dt.float32: dt.float64, dt.complex64: dt.complex128}


def svd(runtime: Runtime, x: Layout, vectors: bool, full: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.svd`.

    Notes
    -----
    Stacks of small matrices are decomposed in one call, by Jacobi's rotations. Large matrices take the polar
    decomposition, which is faster and more exact, and others Jacobi's rotations. Without vectors, singular values are
    eigenvalues of a Hermitian matrix, or those of long matrices come from the QR algorithm.
    """
    (count, low, high), item = x.shape, x.dtype.itemsize
    if not vectors and (high <= 2 * low or low + high <= tuning_of(runtime.context.capability).linalg.joined_size):
        return by_eigenvalues(runtime, x, _reports(runtime, count, False))
    if vectors and max(low, high) <= JACOBI_SIZE:
        return _by_small_rotations(runtime, x, full)
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
    (_, low, high), kind, (_, u, _, _) = x.shape, KINDS[x.dtype], _parts(x, full)
    rotations = OlderRoutine(runtime, f"{kind.letter}gesvdj", x.dtype.itemsize)
    new_side, copy_u = runtime.allocator(u), _conjugate_transposed(runtime, u)
    is_large = low >= tuning_of(runtime.context.capability).linalg.polar_size
    polar = _polar_for(runtime, x, full) if is_large else None
    settings = library(runtime, "cusolverDn").made("create_gesvdj_info")

    def decompose(handle: int, stream: int, x: int, u: int, s: int, vh: int, info: int) -> tuple[Any, ...]:
        exact, host = polar(handle, stream, x, u, s, vh, info) if polar else (False, ())
        if not exact:
            v, owner = new_side(stream)
            rotations(handle, stream, (1, int(not full), high, low, x, high, s, vh, high, v, low), info, settings)
            copy_u(stream, u, v)
            del owner  # kept until the kernels were launched
        return host

    return decompose


def _polar_for(runtime: Runtime, x: Layout, full: bool) -> Attempt:
    """The polar decomposition of `x`: of float32 in float64, where that is fast.

    Large random matrices have singular values so near 0 that their decomposition in float32 is not exact.
    """
    limits, capability = np.finfo(x.dtype), runtime.context.capability
    least = tuning_of(capability).linalg.polar_float64
    if x.dtype not in _WIDE or capability not in FAST_FLOAT64 or min(x.shape[1:]) < least:
        # Exact results differ from the matrix by 12 to 25 roundings, and those of other matrices by thousands.
        return _polar(runtime, x, full, 100 * float(limits.eps))
    return _in_float64(runtime, x, full, float(limits.eps))


def _in_float64(runtime: Runtime, x: Layout, full: bool, error: float) -> Attempt:
    """The polar decomposition in float64. See `_polar`."""
    narrow = _parts(x, full)
    wide = [layout_of(_WIDE.get(each.dtype, dt.float64), each.shape, None, x.device) for each in narrow]
    allocators = [runtime.allocator(each) for each in wide]
    widen = unary(runtime, IDENTITY, narrow[0], wide[0])
    narrowings = [unary(runtime, IDENTITY, *each) for each in zip(wide[1:], narrow[1:], strict=True)]
    polar = _polar(runtime, layout_of(wide[0].dtype, (1, *wide[0].shape), None, x.device), full, error)

    def decompose(handle: int, stream: int, x: int, u: int, s: int, vh: int, info: int) -> tuple[bool, tuple[Any, ...]]:
        (matrix, *sides), owners = zip(*(allocate(stream) for allocate in allocators), strict=True)
        widen(stream, matrix, x)
        exact, host = polar(handle, stream, matrix, sides[0], sides[1], sides[2], info)
        for narrowing, result, side in zip(narrowings, (u, s, vh), sides, strict=True):
            narrowing(stream, result, side)
        del owners  # kept until the kernels were launched
        return exact, host

    return decompose


def _polar(runtime: Runtime, x: Layout, full: bool, error: float) -> Attempt:
    """A function that waits, and returns whether the result is exact: `error`, relative to the matrix, is allowed.

    Of a nearly singular matrix the library decomposes another one nearby. So the product of the result is compared with
    the matrix. Neither is computed for matrices with squares out of range. The function leaves `x` as it is.
    """
    (_, low, high), kind = x.shape, KINDS[x.dtype]
    matrix, u, values, vh = _parts(x, full)
    routine, square_of = Routine(runtime, "xgesvdp"), _square_sums(runtime, matrix)
    new, side = (layout_of(x.dtype, each.shape, None, x.device) for each in (matrix, u))
    allocate, copy = runtime.allocator(new), unary(runtime, IDENTITY, matrix, new)
    new_side, copy_u = runtime.allocator(side), _conjugate_transposed(runtime, u)
    product = matmul(runtime, side, layout_of(x.dtype, matrix.shape, None, x.device, vh.align), new, False)
    scale, subtract = (
        elementwise(runtime, op, signature_of(op, operands), operands, out)
        for op, operands, out in (
            (OPERATORS["multiply"], (u, values), side),
            (OPERATORS["subtract"], (new, matrix), new),
        )
    )
    # Of smaller matrices, the squares of such differences are lost.
    least = low * high * float(np.finfo(x.dtype).smallest_normal) / error**2

    def decompose(handle: int, stream: int, x: int, u: int, s: int, vh: int, info: int) -> tuple[bool, tuple[Any, ...]]:
        whole = square_of(stream, x)
        if not least <= whole < inf:
            return False, ()
        (other, first), (scratch, second) = allocate(stream), new_side(stream)
        copy(stream, other, x)
        given = (1, int(not full), high, low, kind.code, other, high, kind.real, s)
        sides = (kind.code, vh, high, kind.code, scratch, low, kind.code)
        host = routine(handle, stream, (*given, *sides), info)
        copy_u(stream, u, scratch)
        scale(stream, scratch, u, s)
        product(stream, other, scratch, vh)
        subtract(stream, other, other, x)
        exact = square_of(stream, other) <= error**2 * whole
        del first, second  # kept until the kernels were launched
        return exact, host

    return decompose


def _parts(x: Layout, full: bool) -> tuple[Layout, Layout, Layout, Layout]:
    """One matrix of a stack, and its `u`, `s` and `vh`. Only those of the first are surely aligned."""
    _, low, high = x.shape
    real = dt.REAL_OF.get(x.dtype, x.dtype)
    matrix, u, s, vh = (
        layout_of(dtype, shape, None, x.device, min(x.align, alignment(prod(shape) * dtype.itemsize)))
        for dtype, shape in (
            (x.dtype, (low, high)),
            (x.dtype, (low, low)),
            (real, (low,)),
            (x.dtype, (high if full else low, high)),
        )
    )
    return matrix, u, s, vh


def _square_sums(runtime: Runtime, x: Layout) -> Callable[[int, int], float]:
    """A function ``(stream, x)`` that waits, and returns the sum of the squares of all numbers."""
    real = dt.REAL_OF.get(x.dtype, x.dtype)
    line = layout_of(real, (x.size * (x.dtype.itemsize // real.itemsize),), None, x.device, x.align)
    total = layout_of(real, (), None, x.device)
    allocate, add = runtime.allocator(total), inner_products(runtime, line, line, total)
    assert add is not None  # the operands have the same strides

    def square_sum(stream: int, x: int) -> float:
        made, owner = allocate(stream)
        add(stream, made, x, x)
        found = float(runtime.to_host(made, total, stream))
        del owner  # kept until the number was read
        return found

    return square_sum


def _by_small_rotations(runtime: Runtime, x: Layout, full: bool) -> Kernel:
    """By Jacobi's rotations, all matrices at once. The library gives square sides, and V where it is V.H elsewhere."""
    (count, low, high), kind, item = x.shape, KINDS[x.dtype], x.dtype.itemsize
    reports = _reports(runtime, count, True)
    routine = OlderRoutine(runtime, f"{kind.letter}gesvdj_batched", item)
    left, right = (layout_of(x.dtype, (count, size, size), None, x.device) for size in (high, low))
    # The rows of the library's U.T in memory are the rows of Vh.
    part = layout_of(x.dtype, (count, low, high), left.strides, x.device)
    copy_vh = unary(runtime, IDENTITY, part, layout_of(x.dtype, part.shape, None, x.device))
    copy_u = _conjugate_transposed(runtime, right)
    news, solver = (runtime.allocator(left), runtime.allocator(right)), library(runtime, "cusolverDn")
    settings = solver.made("create_gesvdj_info")

    def kernel(stream: int, u: int, s: int, vh: int, x: int) -> None:
        (told, first), (sides, second), (v, third) = (new(stream) for new in (reports.new, *news))
        sides = vh if full else sides
        with solver.on(stream) as handle:
            routine(handle, stream, (1, high, low, x, high, s, sides, high, v, low), told, settings, count)
        copy_u(stream, u, v)
        if not full:
            copy_vh(stream, vh, sides)
        reports.send(stream, told)
        del first, second, third  # kept until the kernels were launched

    return kernel


def _conjugate_transposed(runtime: Runtime, side: Layout) -> Kernel:
    """The kernel ``(stream, u, v)`` for the library's V, transposed in memory and aligned, whose conjugate is U."""
    *stack, low, _ = side.strides
    turned = layout_of(side.dtype, side.shape, (*stack, 1, low), side.device)
    return unary(runtime, OPERATORS["conj"], turned, side)


def _reports(runtime: Runtime, count: int, vectors: bool) -> Reports:
    name = "svd" if vectors else "svdvals"
    return Reports(runtime, count, f"{name}: the singular values of matrix {{}} did not converge")
