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
from xpops.dispatch.dense import require_array, reshaped
from xpops.dispatch.matrices import copier_into, dense_like, identities, matrices, nothing, stacked, transposed
from xpops.dispatch.primitives import copier
from xpops.engine.protocol import Data, Engine, Program
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.broadcast import broadcast_shapes
from xpops.plan.signature import Operand


def cholesky(engine: Engine, specs: tuple[Operand, ...], upper: bool) -> Program:
    """The program of the triangular factor of positive definite matrices."""
    x = matrices(specs[0], "cholesky")
    rows = dense_like(x.dtype, x.shape, x)
    # The primitive makes upper factors. The lower factor is the transpose of the upper factor of the transposed matrix.
    out = rows if upper else transposed(rows)
    if out.size == 0:
        return nothing(out)
    stack = stacked(rows)
    copy, factor, triangle = copier(x, out), engine.cholesky(stack), engine.triangle(stack)

    def kernel(stream: int, out: Data, x: Data) -> None:
        copy(stream, out, x)
        data = engine.view(out, 0, stack)
        factor(stream, data)
        triangle(stream, data)

    return Program((out,), kernel)


def eig(engine: Engine, specs: tuple[Operand, ...], function: str, vectors: bool) -> Program:
    """The program of the eigenvalues of square matrices, and of the eigenvectors if `vectors`."""
    x = matrices(specs[0], function)
    result = dt.COMPLEX_OF.get(x.dtype, x.dtype)
    values = dense_like(result, x.shape[:-1], x)
    outs = (values, transposed(dense_like(result, x.shape, x))) if vectors else (values,)
    if x.size == 0:
        return nothing(*outs)
    columns = dense_like(x.dtype, x.shape, x)
    copy, solve = copier_into(engine, x, columns, turned=True), engine.eig(stacked(columns), vectors)
    shapes = [reshaped(values, (values.size,)), stacked(dense_like(result, x.shape, x))]
    allocate = engine.allocator(columns)

    def kernel(stream: int, *data: Data) -> None:
        work, owner = allocate(stream)
        copy(stream, work, data[-1])
        results = [engine.view(each, 0, shape) for each, shape in zip(data[:-1], shapes, strict=False)]
        solve(stream, *results, engine.view(work, 0, stacked(columns)))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


def eigh(engine: Engine, specs: tuple[Operand, ...], function: str, vectors: bool) -> Program:
    """The program of the eigenvalues of Hermitian matrices, and of the eigenvectors if `vectors`."""
    x = matrices(specs[0], function)
    values = dense_like(dt.REAL_OF.get(x.dtype, x.dtype), x.shape[:-1], x)
    rows = dense_like(x.dtype, x.shape, x)
    outs = (values, transposed(rows)) if vectors else (values,)
    if x.size == 0:
        return nothing(*outs)
    stack, flat = stacked(rows), reshaped(values, (values.size,))
    # The primitive makes conjugated eigenvectors. So it gets the conjugated matrix, whose eigenvectors are conjugated.
    conjugate = call_for(OPERATORS["conj"], (x,), x.device, None, rows).kernel if x.dtype in dt.COMPLEX_FLOATS else None
    copy, solve, allocate = conjugate or copier(x, rows), engine.eigh(stack, vectors), engine.allocator(rows)

    def kernel(stream: int, *data: Data) -> None:
        work, owner = (data[1], None) if vectors else allocate(stream)
        copy(stream, engine.view(work, 0, rows), data[-1])
        solve(stream, engine.view(data[0], 0, flat), engine.view(work, 0, stack))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


def identity(engine: Engine, specs: tuple[Operand, ...], function: str) -> Program:
    """The program of identity matrices with the shape and the dtype of the operand."""
    x = matrices(specs[0], function)
    out = dense_like(x.dtype, x.shape, x)
    if out.size == 0:
        return nothing(out)
    fill = identities(engine, out)
    return Program((out,), lambda stream, out, x: fill(stream, out))


def inv(engine: Engine, specs: tuple[Operand, ...]) -> Program:
    """The program of inverse matrices."""
    x = matrices(specs[0], "inv")
    out = dense_like(x.dtype, x.shape, x)
    if out.size == 0:
        return nothing(out)
    stack, copy, allocate = stacked(out), copier(x, out), engine.allocator(out)
    invert = engine.inv(stack, identities(engine, stack))

    def kernel(stream: int, out: Data, x: Data) -> None:
        work, owner = allocate(stream)
        copy(stream, work, x)
        invert(stream, engine.view(out, 0, stack), engine.view(work, 0, stack))
        del owner  # kept until the kernels were launched

    return Program((out,), kernel)


def qr(engine: Engine, specs: tuple[Operand, ...], complete: bool) -> Program:
    """The program of the QR decomposition: orthonormal columns and a triangular matrix."""
    x = matrices(specs[0], "qr", square=False)
    *batch, rows, columns = x.shape
    kept = rows if complete else min(rows, columns)
    q_rows, r = dense_like(x.dtype, (*batch, kept, rows), x), dense_like(x.dtype, (*batch, kept, columns), x)
    outs = transposed(q_rows), r
    if x.size == 0:
        if q_rows.size == 0:
            return nothing(*outs)
        fill = identities(engine, q_rows)
        return Program(outs, lambda stream, q, r, x: fill(stream, engine.view(q, 0, q_rows)))
    work = dense_like(x.dtype, (*batch, columns, rows), x)
    copy, allocate = copier_into(engine, x, work, turned=True), engine.allocator(work)
    part = layout_of(r.dtype, r.shape, transposed(work).strides, x.device)
    factor, copy_r = engine.qr(stacked(work), stacked(q_rows)), copier(part, r)
    triangle = engine.triangle(stacked(r))

    def kernel(stream: int, q: Data, r: Data, x: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, x)
        factor(stream, engine.view(q, 0, stacked(q_rows)), engine.view(made, 0, stacked(work)))
        copy_r(stream, r, engine.view(made, 0, part))
        triangle(stream, engine.view(r, 0, stacked(outs[1])))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


def slogdet(engine: Engine, specs: tuple[Operand, ...], function: str) -> Program:
    """The program of the signs of determinants and the logarithms of their absolute values."""
    x = matrices(specs[0], function)
    sign = dense_like(x.dtype, x.shape[:-2], x)
    outs = sign, dense_like(dt.REAL_OF.get(x.dtype, x.dtype), sign.shape, x)
    if sign.size == 0:
        return nothing(*outs)
    if x.size == 0:
        fills = [call_for(IDENTITY, (int,), x.device, out.dtype, out).kernel for out in outs]

        def constant(stream: int, sign: Data, logabsdet: Data, x: Data) -> None:
            fills[0](stream, sign, 1)
            fills[1](stream, logabsdet, 0)

        return Program(outs, constant)
    work = dense_like(x.dtype, x.shape, x)
    copy, allocate, find = copier(x, work), engine.allocator(work), engine.slogdet(stacked(work))
    flat = [reshaped(out, (out.size,)) for out in outs]

    def kernel(stream: int, *data: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, data[-1])
        results = (engine.view(each, 0, shape) for each, shape in zip(data[:-1], flat, strict=True))
        find(stream, *results, engine.view(made, 0, stacked(work)))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


def solve(engine: Engine, specs: tuple[Operand, ...]) -> Program:
    """The program of the solutions of systems of linear equations."""
    x1 = matrices(specs[0], "solve", "x1")
    x2 = require_array(specs[1], "solve", "x2")
    vector, size = x2.ndim == 1, x1.shape[-1]
    if not vector:
        matrices(x2, "solve", "x2", square=False)
    if x2.shape[0 if vector else -2] != size:
        raise ValueError(f"solve: x2 has shape {x2.shape}, for x1 of shape {x1.shape}; accepted: {size} rows")
    dtype, batch = promote((x1.dtype, x2.dtype), "solve"), x1.shape[:-2]
    if not vector:
        batch = broadcast_shapes(batch, x2.shape[:-2], function="solve")
    matrices(layout_of(x2.dtype, (size, size), None, x2.device), "solve", "x2")
    count = 1 if vector else x2.shape[-1]
    rows = dense_like(dtype, (*batch, count, size), x1)
    out = layout_of(dtype, (*batch, size), None, x1.device) if vector else transposed(rows)
    if out.size == 0:
        return nothing(out)
    # A single matrix for all right-hand sides is decomposed only once.
    once = prod(x1.shape[:-2]) == 1
    work = dense_like(dtype, x1.shape if once else (*batch, size, size), x1)
    sides = reshaped(rows, (1, rows.size // size, size)) if once else stacked(rows)
    # The primitive solves with the transpose of the matrix that it gets.
    copies, allocate = (copier_into(engine, x1, work, turned=True), copier(x2, out)), engine.allocator(work)
    find, layout = engine.solve(stacked(work), sides), out

    def kernel(stream: int, out: Data, x1: Data, x2: Data) -> None:
        made, owner = allocate(stream)
        copies[0](stream, made, x1)
        copies[1](stream, engine.view(out, 0, layout), x2)
        find(stream, engine.view(made, 0, stacked(work)), engine.view(out, 0, sides))
        del owner  # kept until the kernels were launched

    return Program((out,), kernel)


def svd(engine: Engine, specs: tuple[Operand, ...], function: str, full: bool | None) -> Program:
    """The program of the singular value decomposition.

    `full` is True for square matrices of vectors, False for as many vectors as singular values, None for no vectors.
    """
    x = matrices(specs[0], function, square=False)
    *batch, rows, columns = x.shape
    # The primitive takes no tall matrices. It gets the transpose, whose left and right singular vectors are swapped.
    tall, low, high = rows > columns, min(rows, columns), max(rows, columns)
    s = dense_like(dt.REAL_OF.get(x.dtype, x.dtype), (*batch, low), x)
    short = dense_like(x.dtype, (*batch, low, low), x)
    long = dense_like(x.dtype, (*batch, high if full else low, high), x)
    outs: tuple[Layout, ...] = (transposed(long), s, transposed(short)) if tall else (short, s, long)
    if full is None:
        outs = (s,)
    if x.size == 0:
        return _empty_svd(engine, outs, long, tall)
    work = dense_like(x.dtype, (*batch, low, high), x)
    vectors = full is not None
    copy, allocate = copier_into(engine, x, work, turned=tall), engine.allocator(work)
    find = engine.svd(stacked(work), vectors, bool(full))
    shapes = (stacked(short), reshaped(s, (prod(batch), low)), stacked(long))

    def kernel(stream: int, *data: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, data[-1])
        results = data[:-1][::-1] if tall else data[:-1]
        given = shapes if vectors else shapes[1:2]
        views = (engine.view(each, 0, shape) for each, shape in zip(results, given, strict=True))
        find(stream, *views, engine.view(made, 0, stacked(work)))
        del owner  # kept until the kernels were launched

    return Program(outs, kernel)


def _empty_svd(engine: Engine, outs: tuple[Layout, ...], long: Layout, tall: bool) -> Program:
    """The program for matrices without elements: the longer vectors, if there are any, form identity matrices."""
    if len(outs) == 1 or long.size == 0:
        return nothing(*outs)
    fill, place = identities(engine, long), 0 if tall else 2
    return Program(outs, lambda stream, *data: fill(stream, engine.view(data[place], 0, long)))
