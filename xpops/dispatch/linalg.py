"""Decompositions and solutions for stacks of matrices: plans over primitives that work in place.

The primitives take C-contiguous stacks and overwrite them, so a plan copies its operand first. cuSOLVER reads a matrix
in C order as its transpose: the copy also puts elements in the order that the primitive needs. A result may be
transposed in memory.
"""

from __future__ import annotations

from math import prod

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import promote
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import require_array, reshape_dense
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.matrices import (
    contiguous_layout,
    copier_into,
    empty_program,
    identity_writer,
    require_matrices,
    stack_layout,
    transpose_layout,
)
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import linalg as derivative
from xpops.ops.derivatives.elementwise import zero
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.signature import Operand
from xpops.plan.strides.broadcast import broadcast_shapes


@differentiable(derivative.cholesky)
def cholesky(engine: Engine, specs: tuple[Operand, ...], upper: bool) -> Program:
    """The program of the triangular factor of positive definite matrices."""
    x = require_matrices(specs[0], "cholesky")
    rows = contiguous_layout(x.dtype, x.shape, x)
    # The primitive makes upper factors. The lower factor is the transpose of the upper factor of the transposed matrix.
    out = rows if upper else transpose_layout(rows)
    if out.size == 0:
        return empty_program(out)
    stack = stack_layout(rows)
    copy, factor, triangle = copier(x, out), engine.cholesky(stack), engine.triangle(stack)

    def kernel(stream: int, out: Data, x: Data) -> None:
        copy(stream, out, x)
        data = engine.view(out, 0, stack)
        factor(stream, data)
        triangle(stream, data)

    return Program((out,), kernel)


@differentiable(derivative.eig)
def eig(engine: Engine, specs: tuple[Operand, ...], function: str, vectors: bool) -> Program:
    """The program of the eigenvalues of square matrices, and of the eigenvectors if `vectors`."""
    x = require_matrices(specs[0], function)
    result = dt.COMPLEX_OF.get(x.dtype, x.dtype)
    values = contiguous_layout(result, x.shape[:-1], x)
    outs = (values, transpose_layout(contiguous_layout(result, x.shape, x))) if vectors else (values,)
    if x.size == 0:
        return empty_program(*outs)
    columns = contiguous_layout(x.dtype, x.shape, x)
    copy, solve = copier_into(engine, x, columns, turned=True), engine.eig(stack_layout(columns), vectors)
    shapes = [reshape_dense(values, (values.size,)), stack_layout(contiguous_layout(result, x.shape, x))]
    allocate = engine.allocator(columns)

    def kernel(stream: int, *data: Data) -> None:
        work, owner = allocate(stream)
        copy(stream, work, data[-1])
        results = [engine.view(each, 0, shape) for each, shape in zip(data[:-1], shapes, strict=False)]
        solve(stream, *results, engine.view(work, 0, stack_layout(columns)))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


@differentiable(derivative.eigh)
def eigh(engine: Engine, specs: tuple[Operand, ...], function: str, vectors: bool) -> Program:
    """The program of the eigenvalues of Hermitian matrices, and of the eigenvectors if `vectors`."""
    x = require_matrices(specs[0], function)
    values = contiguous_layout(dt.REAL_OF.get(x.dtype, x.dtype), x.shape[:-1], x)
    rows = contiguous_layout(x.dtype, x.shape, x)
    outs = (values, transpose_layout(rows)) if vectors else (values,)
    if x.size == 0:
        return empty_program(*outs)
    stack, flat = stack_layout(rows), reshape_dense(values, (values.size,))
    # The primitive makes conjugated eigenvectors. So it gets the conjugated matrix, whose eigenvectors are conjugated.
    conjugate = call_for(OPERATORS["conj"], (x,), x.device, None, rows).kernel if x.dtype in dt.COMPLEX_FLOATS else None
    copy, solve, allocate = conjugate or copier(x, rows), engine.eigh(stack, vectors), engine.allocator(rows)

    def kernel(stream: int, *data: Data) -> None:
        work, owner = (data[1], None) if vectors else allocate(stream)
        copy(stream, engine.view(work, 0, rows), data[-1])
        solve(stream, engine.view(data[0], 0, flat), engine.view(work, 0, stack))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


@differentiable(zero)
def identity(engine: Engine, specs: tuple[Operand, ...], function: str) -> Program:
    """The program of identity matrices with the shape and the dtype of the operand."""
    x = require_matrices(specs[0], function)
    out = contiguous_layout(x.dtype, x.shape, x)
    if out.size == 0:
        return empty_program(out)
    fill = identity_writer(engine, out)
    return Program((out,), lambda stream, out, x: fill(stream, out))


@differentiable(derivative.inv)
def inv(engine: Engine, specs: tuple[Operand, ...]) -> Program:
    """The program of inverse matrices."""
    x = require_matrices(specs[0], "inv")
    out = contiguous_layout(x.dtype, x.shape, x)
    if out.size == 0:
        return empty_program(out)
    stack, copy, allocate = stack_layout(out), copier(x, out), engine.allocator(out)
    invert = engine.inv(stack, identity_writer(engine, stack))

    def kernel(stream: int, out: Data, x: Data) -> None:
        work, owner = allocate(stream)
        copy(stream, work, x)
        invert(stream, engine.view(out, 0, stack), engine.view(work, 0, stack))
        del owner  # kept until the kernels were launched

    return Program((out,), kernel)


@differentiable(derivative.qr)
def qr(engine: Engine, specs: tuple[Operand, ...], complete: bool) -> Program:
    """The program of the QR decomposition: orthonormal columns and a triangular matrix."""
    x = require_matrices(specs[0], "qr", square=False)
    *batch, rows, columns = x.shape
    kept = rows if complete else min(rows, columns)
    q_rows, r = (
        contiguous_layout(x.dtype, (*batch, kept, rows), x),
        contiguous_layout(x.dtype, (*batch, kept, columns), x),
    )
    outs = transpose_layout(q_rows), r
    if x.size == 0:
        if q_rows.size == 0:
            return empty_program(*outs)
        fill = identity_writer(engine, q_rows)
        return Program(outs, lambda stream, q, r, x: fill(stream, engine.view(q, 0, q_rows)))
    work = contiguous_layout(x.dtype, (*batch, columns, rows), x)
    copy, allocate = copier_into(engine, x, work, turned=True), engine.allocator(work)
    part = layout_of(r.dtype, r.shape, transpose_layout(work).strides, x.device)
    factor, copy_r = engine.qr(stack_layout(work), stack_layout(q_rows)), copier(part, r)
    triangle = engine.triangle(stack_layout(r))

    def kernel(stream: int, q: Data, r: Data, x: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, x)
        factor(stream, engine.view(q, 0, stack_layout(q_rows)), engine.view(made, 0, stack_layout(work)))
        copy_r(stream, r, engine.view(made, 0, part))
        triangle(stream, engine.view(r, 0, stack_layout(outs[1])))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


@differentiable(derivative.slogdet)
def slogdet(engine: Engine, specs: tuple[Operand, ...], function: str) -> Program:
    """The program of the signs of determinants and the logarithms of their absolute values."""
    x = require_matrices(specs[0], function)
    sign = contiguous_layout(x.dtype, x.shape[:-2], x)
    outs = sign, contiguous_layout(dt.REAL_OF.get(x.dtype, x.dtype), sign.shape, x)
    if sign.size == 0:
        return empty_program(*outs)
    if x.size == 0:
        fills = [call_for(IDENTITY, (int,), x.device, out.dtype, out).kernel for out in outs]

        def constant(stream: int, sign: Data, logabsdet: Data, x: Data) -> None:
            fills[0](stream, sign, 1)
            fills[1](stream, logabsdet, 0)

        return Program(outs, constant)
    work = contiguous_layout(x.dtype, x.shape, x)
    copy, allocate, find = copier(x, work), engine.allocator(work), engine.slogdet(stack_layout(work))
    flat = [reshape_dense(out, (out.size,)) for out in outs]

    def kernel(stream: int, *data: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, data[-1])
        results = (engine.view(each, 0, shape) for each, shape in zip(data[:-1], flat, strict=True))
        find(stream, *results, engine.view(made, 0, stack_layout(work)))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


@differentiable(derivative.solve_first, derivative.solve_second)
def solve(engine: Engine, specs: tuple[Operand, ...]) -> Program:
    """The program of the solutions of systems of linear equations."""
    x1 = require_matrices(specs[0], "solve", "x1")
    x2 = require_array(specs[1], "solve", "x2")
    vector, size = x2.ndim == 1, x1.shape[-1]
    if not vector:
        require_matrices(x2, "solve", "x2", square=False)
    if x2.shape[0 if vector else -2] != size:
        raise ValueError(f"solve: x2 has shape {x2.shape}, for x1 of shape {x1.shape}; accepted: {size} rows")
    dtype, batch = promote((x1.dtype, x2.dtype), "solve"), x1.shape[:-2]
    if not vector:
        batch = broadcast_shapes(batch, x2.shape[:-2], function="solve")
    require_matrices(layout_of(x2.dtype, (size, size), None, x2.device), "solve", "x2")
    count = 1 if vector else x2.shape[-1]
    rows = contiguous_layout(dtype, (*batch, count, size), x1)
    out = layout_of(dtype, (*batch, size), None, x1.device) if vector else transpose_layout(rows)
    if out.size == 0:
        return empty_program(out)
    # A single matrix for all right-hand sides is decomposed only once.
    once = prod(x1.shape[:-2]) == 1
    work = contiguous_layout(dtype, x1.shape if once else (*batch, size, size), x1)
    sides = reshape_dense(rows, (1, rows.size // size, size)) if once else stack_layout(rows)
    # The primitive solves with the transpose of the matrix that it gets.
    copies, allocate = (copier_into(engine, x1, work, turned=True), copier(x2, out)), engine.allocator(work)
    find, layout = engine.solve(stack_layout(work), sides), out

    def kernel(stream: int, out: Data, x1: Data, x2: Data) -> None:
        made, owner = allocate(stream)
        copies[0](stream, made, x1)
        copies[1](stream, engine.view(out, 0, layout), x2)
        find(stream, engine.view(made, 0, stack_layout(work)), engine.view(out, 0, sides))
        del owner  # kept until the kernels were launched

    return Program((out,), kernel)


@differentiable(derivative.svd)
def svd(engine: Engine, specs: tuple[Operand, ...], function: str, full: bool | None) -> Program:
    """The program of the singular value decomposition.

    `full` is True for square matrices of vectors, False for as many vectors as singular values, None for no vectors.
    """
    x = require_matrices(specs[0], function, square=False)
    *batch, rows, columns = x.shape
    # The primitive takes no tall matrices. It gets the transpose, whose left and right singular vectors are swapped.
    tall, low, high = rows > columns, min(rows, columns), max(rows, columns)
    s = contiguous_layout(dt.REAL_OF.get(x.dtype, x.dtype), (*batch, low), x)
    short = contiguous_layout(x.dtype, (*batch, low, low), x)
    long = contiguous_layout(x.dtype, (*batch, high if full else low, high), x)
    outs: tuple[Layout, ...] = (transpose_layout(long), s, transpose_layout(short)) if tall else (short, s, long)
    if full is None:
        outs = (s,)
    if x.size == 0:
        return _empty_svd(engine, outs, long, tall)
    work = contiguous_layout(x.dtype, (*batch, low, high), x)
    vectors = full is not None
    copy, allocate = copier_into(engine, x, work, turned=tall), engine.allocator(work)
    find = engine.svd(stack_layout(work), vectors, bool(full))
    shapes = (stack_layout(short), reshape_dense(s, (prod(batch), low)), stack_layout(long))

    def kernel(stream: int, *data: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, data[-1])
        results = data[:-1][::-1] if tall else data[:-1]
        given = shapes if vectors else shapes[1:2]
        views = (engine.view(each, 0, shape) for each, shape in zip(results, given, strict=True))
        find(stream, *views, engine.view(made, 0, stack_layout(work)))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


def _empty_svd(engine: Engine, outs: tuple[Layout, ...], long: Layout, tall: bool) -> Program:
    """The program for matrices without elements: the longer vectors, if there are any, form identity matrices."""
    if len(outs) == 1 or long.size == 0:
        return empty_program(*outs)
    fill, place = identity_writer(engine, long), 0 if tall else 2
    return Program(outs, lambda stream, *data: fill(stream, engine.view(data[place], 0, long)))
