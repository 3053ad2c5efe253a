"""The matmul plan: stacks of matrices, described as a kernel or a library takes them."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout, contiguous_strides
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod


class Product(NamedTuple):
    """The products of two stacks of matrices, with as few axes as possible.

    Strides are in elements; those of an axis of length 1 are 0. The result is C-contiguous.

    Attributes
    ----------
    rows, columns, inner : int
        Matrices of rows x inner and of inner x columns.
    x1 : tuple of int
        Strides of the first operand along rows and along the inner axis.
    x2 : tuple of int
        Strides of the second operand along columns and along the inner axis.
    batches : tuple of int
        The stack's lengths; none for a single product.
    strides : tuple of Strides
        The strides of both operands along the stack; 0 where an operand is repeated.
    """

    rows: int
    columns: int
    inner: int
    x1: tuple[int, int]
    x2: tuple[int, int]
    batches: tuple[int, ...]
    strides: tuple[Strides, Strides]


def plan_product(x1: Layout, x2: Layout) -> Product:
    """The products of `x1` (..., rows, inner) and `x2` (..., inner, columns), whose other axes are the same.

    No length is 0. If `x2` is one matrix for the whole stack, and the strides of `x1` allow it, the matrices of `x1`
    become one tall matrix.

    Examples
    --------
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> x1 = layout_of(float32, (5, 2, 3), None, CPU)
    >>> plan_product(x1, layout_of(float32, (5, 3, 4), (0, 4, 1), CPU))[:5]
    (10, 4, 3, (3, 1), (1, 4))
    """
    *stack, rows, inner = x1.shape
    columns = x2.shape[-1]
    place = tuple(rows * columns * stride for stride in contiguous_strides(tuple(stack)))
    batches, (_, strides1, strides2) = coalesce(tuple(stack), [place, x1.strides[:-2], x2.strides[:-2]])
    (step, along), (down, across) = x1.strides[-2:], x2.strides[-2:]
    if len(batches) == 1 and strides2 == (0,) and (rows == 1 or strides1[0] == rows * step):
        tall, line = rows * batches[0], strides1[0] // rows
        if leading_dimension(tall, inner, (line, along)) is not None:
            step, rows, batches, strides1, strides2 = line, tall, (), (), ()
    return Product(rows, columns, inner, (step, along), (across, down), batches, (strides1, strides2))


def leading_dimension(outer: int, inner: int, strides: tuple[int, int]) -> tuple[bool, int] | None:
    """The contiguous axis of a matrix of `outer` x `inner` elements, and the leading dimension along the other axis.

    (True, step) if elements are contiguous along `inner`; (False, step) if along `outer`. None if no library takes the
    matrix: neither axis is contiguous, or lines overlap.

    Examples
    --------
    >>> leading_dimension(4, 3, (3, 1)), leading_dimension(4, 3, (1, 4)), leading_dimension(4, 3, (6, 2))
    ((True, 3), (False, 4), None)
    """
    (over, along), lines = strides, (outer, inner)
    for by_line, step, unit, count, length in ((True, over, along, *lines), (False, along, over, inner, outer)):
        if (unit == 1 or length == 1) and (step >= length or count == 1):
            return by_line, max(step, length)
    return None


def matmul_tail(product: Product, tile: int) -> tuple[int, bytes]:
    """The blocks of a kernel of ``native/xpops/kernels/matmul.cuh``, and its parameters after the slots."""
    across, down = -(-product.columns // tile), -(-product.rows // tile)
    batches, strides = product.batches or (1,), [line or (0,) for line in product.strides]
    tail = struct.pack("<7q", product.rows, product.columns, product.inner, *product.x1, *product.x2)
    tail += pack_divmod(across, 32) + pack_divmod(down, 32)
    for divisor in batches[1:] or (1,):
        tail += pack_divmod(divisor, 64)
    for line in strides:
        tail += struct.pack(f"<{len(line)}q", *line)
    return across * down * prod(batches), tail
