"""Which expressions one kernel computes row by row, reductions along the rows included; and its shape."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.ops.reduction import Reduction
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.expression import Expression

# Shorter rows, and fewer, are reduced as well by kernels of their own: unless they are read in whole packs, or so small
# (elements in all, of a row) that starting several kernels takes longer.
SHORTEST, FEWEST = 64, 256
SMALL, SMALL_ROW = 2**18, 2**15
WARP = 32
# Bytes of operands that a thread holds in registers.
HELD_BYTES = 128
# Packs of a thread in a row: each is code, in every stage.
MOST_STEPS = 16
# The longest row that a warp walks, and the threads of a block whose rows are not held.
WARP_ROW, STREAMING_BLOCK = 1024, 512
WARPS_BLOCK = 128


class Stage(NamedTuple):
    """One reduction along the last axis.

    Attributes
    ----------
    number : int
        That of the input of the expression which it makes.
    place : int
        That of the value which is reduced.
    op : Reduction
    loop, dtype : numpy.dtype
        What it computes in, and the result's dtype.
    correction : float
        What a variance's divisor is less than the count.
    """

    number: int
    place: int
    op: Reduction
    loop: DType
    dtype: DType
    correction: float


class RowsPlan(NamedTuple):
    """The kernel's shape.

    Attributes
    ----------
    group, block : int
        The threads that share a row, a power of two, and those of a block.
    pack : int
        Elements of an access.
    steps : int
        The packs of a row that a thread holds; 0 where it holds none.
    """

    group: int
    block: int
    pack: int
    steps: int


def fits(
    expression: Expression,
    shapes: tuple[tuple[int, ...], ...],
    stages: tuple[Stage, ...],
    full: tuple[int, ...],
    outs: tuple[Layout, ...],
) -> bool:
    """Whether one kernel computes it: every element of a row from operands in its place, and from the row's reductions.

    Parameters
    ----------
    expression : Expression
        Its inputs are arguments, and what the stages make.
    shapes : tuple of tuple of int
        Of every value.
    stages : tuple of Stage
    full : tuple of int
        The shape of what is reduced.
    outs : tuple of Layout
    """
    if not _worthwhile(expression, full, len(stages) == 1 and all(out.shape != full for out in outs)):
        return False
    count, made, row = len(expression.inputs), {stage.number for stage in stages}, (*full[:-1], 1)
    if any(shapes[stage.place] != full for stage in stages):
        return False
    of_row = [number in made for number in range(count)]
    for node in expression.nodes:
        used = [each for each in node.operands if isinstance(each, int)]
        rows = [each for each in used if of_row[each]]
        of_row.append(bool(used) and len(rows) == len(used))
        if len({shapes[each] for each in rows}) > 1:
            return False
        if rows and len(rows) < len(used) and any(shapes[each] != row for each in rows):
            return False
    if any(of_row[stage.place] for stage in stages):
        return False
    for number, out in zip(expression.results, outs, strict=True):
        if not out.contiguous:
            return False
        if not (of_row[number] and out.shape in (row, full[:-1])) and (of_row[number] or out.shape != full):
            return False
    return True


def _worthwhile(expression: Expression, full: tuple[int, ...], only_reduced: bool) -> bool:
    """Whether one kernel takes less time than several."""
    length, rows = full[-1], prod(full[:-1])
    if only_reduced:  # which is one kernel of the reduce family
        return length >= SHORTEST and rows >= FEWEST
    if rows < FEWEST and length > SMALL_ROW:
        return False
    items = [each.dtype.itemsize for each in expression.inputs if isinstance(each, Layout) and each.shape == full]
    whole = (length & -length) * min(items, default=1) >= MAX_PACK_BYTES
    return rows > 0 and length > 1 and (length >= SHORTEST or whole or rows * length <= SMALL)


def plan_rows(length: int, pack: int, item: int) -> RowsPlan:
    """The kernel's shape for rows of `length`, whose operands are read `pack` elements at a time, and have `item` bytes
    together.

    Examples
    --------
    >>> plan_rows(16384, 4, 4), plan_rows(768, 8, 2)
    (RowsPlan(group=512, block=512, pack=4, steps=8), RowsPlan(group=32, block=128, pack=8, steps=3))
    >>> plan_rows(20, 4, 4)
    RowsPlan(group=8, block=128, pack=4, steps=1)
    """
    pack = min(pack, length & -length)
    if length <= WARP // 2 * pack:
        return RowsPlan(1 << (length // pack - 1).bit_length(), WARPS_BLOCK, pack, 1)
    for group in (WARP, 128, 256, 512, 1024) if length <= WARP_ROW else (128, 256, 512, 1024):
        steps = -(-length // (group * pack))
        if steps <= MOST_STEPS and steps * pack * item <= HELD_BYTES:
            return RowsPlan(group, WARPS_BLOCK if group == WARP else group, pack, steps)
    return RowsPlan(STREAMING_BLOCK, STREAMING_BLOCK, pack, 0)
