"""Singular values without vectors on CUDA, as eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import elementwise, unary
from xpops.engine.cuda.kernels.reduce import reduce
from xpops.engine.cuda.libraries.solver import Reports
from xpops.engine.cuda.libraries.spectral import decompose_hermitian
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.reduction import REDUCTIONS
from xpops.plan.signature import signature_of

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def by_eigenvalues(runtime: Runtime, x: Layout, reports: Reports) -> Kernel:
    """The kernel ``(stream, s, x)``: the largest eigenvalues of ``[[0, x.H], [x, 0]]``, which are `s`, `-s` and 0."""
    count, low, high = x.shape
    size, real = low + high, dt.REAL_OF.get(x.dtype, x.dtype)
    joined = layout_of(x.dtype, (count, size, size), None, x.device)
    block = layout_of(x.dtype, x.shape, joined.strides, x.device, x.dtype.itemsize)
    values = layout_of(real, (count, size), None, x.device)
    fill = elementwise(runtime, IDENTITY, signature_of(IDENTITY, (int,), x.dtype), (int,), joined)
    copy, decompose = unary(runtime, IDENTITY, x, block), decompose_hermitian(runtime, joined, False, reports)
    allocate, allocate_values = runtime.allocator(joined), runtime.allocator(values)
    choose = _largest_values(runtime, x, values)

    def kernel(stream: int, s: int, x: int) -> None:
        (matrix, first), (found, second) = allocate(stream), allocate_values(stream)
        fill(stream, matrix, 0)
        copy(stream, matrix + high * size * joined.dtype.itemsize, x)
        decompose(stream, found, matrix)
        choose(stream, s, found, x)
        del first, second  # kept until the kernels were launched

    return kernel


def _largest_values(runtime: Runtime, x: Layout, values: Layout) -> Kernel:
    """The kernel ``(stream, s, values, x)``: the largest values first, and at least 0, below which errors take them.

    If a matrix has an infinite or NaN element, the library may return zeros. Its singular values are NaN here.
    """
    (count, low, _), (_, size), real = x.shape, values.shape, values.dtype
    elements = layout_of(real, (count, x.nbytes // count // real.itemsize), None, x.device, x.align)
    extremes, one = (layout_of(real, (kinds, count, 1), None, x.device, real.itemsize) for kinds in (2, 1))
    last = layout_of(real, (1, count, low), (0, size, -1), x.device, real.itemsize)
    out = layout_of(real, (1, count, low), None, x.device, real.itemsize)
    searches = [reduce(runtime, REDUCTIONS[name], elements, (1,), real, one, (1, 0)) for name in ("max", "min")]
    multiply, clamp, clamp_again = (
        elementwise(runtime, op, signature_of(op, operands), operands, result)
        for op, operands, result in (
            (OPERATORS["multiply"], (extremes, float), extremes),
            (OPERATORS["maximum"], (last, one), out),
            (OPERATORS["maximum"], (out, one), out),
        )
    )
    allocate = runtime.allocator(extremes)

    def kernel(stream: int, s: int, values: int, x: int) -> None:
        zeros, owner = allocate(stream)
        others = zeros + count * real.itemsize
        for search, place in zip(searches, (zeros, others), strict=True):
            search(stream, place, x)
        multiply(stream, zeros, zeros, 0.0)
        clamp(stream, s, values + (size - 1) * real.itemsize, zeros)
        clamp_again(stream, s, s, others)
        del owner  # kept until the kernels were launched

    return kernel
