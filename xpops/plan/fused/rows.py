"""Expressions with reductions along rows: whether one kernel computes them row by row, and the kernel's shape."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.powers import power_of_two
from xpops.ops.reduction import Reduction
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.fused.expression import Expression
from xpops.plan.staging import StagingPolicy, plan_staging

WARP = 32
# Rows of more packs than this are read in aligned packs, wherever they begin and end.
_RAGGED = 16
# The least elements of such a pack.
_NARROWEST = 4
# A thread computes with elements of at least so many bytes. Blocks that share a multiprocessor hold no more than that;
# a block that is alone needs more bytes in flight.
_WIDE = 4


class RowsPolicy(NamedTuple):
    """Tuning numbers of kernels that compute expressions row by row.

    Attributes
    ----------
    held_bytes : int
        The most bytes of operands that a thread holds in registers.
    narrow_held_bytes, warp_held_bytes : int
        The same with sums of columns, for operands of less than 4 bytes, and for rows of at most `warp_row`: more
        elements share what a row takes, and a warp waits for no other.
    steps : int
        The most packs of a row that a thread holds: each adds code, in every stage.
    warp_row : int
        The longest row that a warp walks.
    blocks : tuple of int
        The threads of a block that holds a longer row in registers, shortest first.
    resident : int
        The threads that must be resident on a multiprocessor if a block holds a row of numbers of at most 4 bytes; this
        limits the registers of a thread.
    ahead_bytes : int
        If the threads of a multiprocessor hold at most so many bytes of rows, with sums of columns, they copy the next
        rows to shared memory while they compute these. More are enough in flight, and copies take longer.
    warps_block, streaming_block : int
        The threads of a block: if at most a warp walks a row, and if rows do not fit in registers.
    shortest, fewest : int
        Shorter rows, or fewer rows, gain nothing from one kernel: several are as fast. Exceptions: short rows that are
        read in whole packs, or have at most `small` elements in all; few rows of at most `small_row` elements each.
        There launching several kernels takes longer. A row in shared memory counts once for each `small_row` elements.
    small, small_row : int
    """

    held_bytes: int
    narrow_held_bytes: int
    warp_held_bytes: int
    steps: int
    warp_row: int
    blocks: tuple[int, ...]
    resident: int
    ahead_bytes: int
    warps_block: int
    streaming_block: int
    shortest: int
    fewest: int
    small: int
    small_row: int


class Stage(NamedTuple):
    """One reduction along the last axis.

    Attributes
    ----------
    number : int
        The number of the expression's input that this stage computes.
    place : int
        The number of the value that it reduces.
    op : Reduction
    loop, dtype : numpy.dtype
        The dtype in which it computes, and the result's dtype.
    correction : float
        A variance is divided by the count minus this.
    """

    number: int
    place: int
    op: Reduction
    loop: DType
    dtype: DType
    correction: float


class Column(NamedTuple):
    """One reduction along all axes but the last.

    Attributes
    ----------
    number, place, op, loop
        See `Stage`.
    out : Layout
        The result.
    """

    number: int
    place: int
    op: Reduction
    loop: DType
    out: Layout


class RowsExpression(NamedTuple):
    """What one kernel computes row by row.

    Attributes
    ----------
    expression : Expression
        Its inputs are the arguments, and the results of the stages and of others. It has a result for each of `outs`.
    stages : tuple of Stage
        The reductions along rows.
    columns : tuple of Column
        The reductions along columns, which nothing else in this kernel needs.
    full : tuple of int
        The shape of what stages and columns reduce.
    outs : tuple of Layout
        Each has this shape, or one element for each row.
    inputs : tuple of int
        The numbers of the inputs that the kernel reads, which are not the results of stages.
    last : Expression
        What another kernel computes from the reductions along columns. These are its inputs.
    ends : tuple of Layout
        The results of `last`: one element for each column.
    """

    expression: Expression
    stages: tuple[Stage, ...]
    columns: tuple[Column, ...]
    full: tuple[int, ...]
    outs: tuple[Layout, ...]
    inputs: tuple[int, ...]
    last: Expression = Expression((), (), ())
    ends: tuple[Layout, ...] = ()


class RowsPlan(NamedTuple):
    """The kernel's shape.

    Attributes
    ----------
    group, block : int
        The threads of a block that share a row, a power of two, and the threads of a block.
    cluster : int
        The blocks that share a row.
    pack : int
        Elements of an access.
    steps : int
        The packs of a row that a thread holds; 0 if rows do not fit in registers.
    ragged : bool
        Whether rows may begin or end inside an aligned pack.
    staged, resident : int
        The packs of a row that a block keeps in shared memory, and the blocks that are resident on a multiprocessor
        then; 0 if there are none.
    """

    group: int
    block: int
    cluster: int
    pack: int
    steps: int
    ragged: bool
    staged: int = 0
    resident: int = 0


def fits(
    kernel: RowsExpression, shapes: tuple[tuple[int, ...], ...], policy: RowsPolicy, staging: StagingPolicy
) -> bool:
    """Whether one kernel can compute the expression, and several are not as fast.

    An element may depend only on elements at its own position and on reductions of its own row.

    Parameters
    ----------
    kernel : RowsExpression
    shapes : tuple of tuple of int
        The shape of every value.
    policy : RowsPolicy
    staging : StagingPolicy
    """
    expression, stages, full, outs = kernel.expression, kernel.stages, kernel.full, kernel.outs
    only_reduced = len(stages) == 1 and all(out.shape != full for out in outs)
    if not _is_faster(expression, full, only_reduced, policy, staging):
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


def _is_faster(
    expression: Expression, full: tuple[int, ...], only_reduced: bool, policy: RowsPolicy, staging: StagingPolicy
) -> bool:
    """Whether one kernel takes less time than several."""
    length, rows = full[-1], prod(full[:-1])
    if only_reduced:  # the alternative is one kernel of the reduce family
        return length >= policy.shortest and rows >= policy.fewest
    items = [each.dtype.itemsize for each in expression.inputs if isinstance(each, Layout) and each.shape == full]
    if length > policy.small_row and rows < policy.fewest:
        stages = plan_staging(-(-length * sum(items) // MAX_PACK_BYTES), MAX_PACK_BYTES, rows, staging) is not None
        if not stages or rows * -(-length // policy.small_row) < policy.fewest:
            return False
    whole = (length & -length) * min(items, default=1) >= MAX_PACK_BYTES
    return rows > 0 and length > 1 and (length >= policy.shortest or whole or rows * length <= policy.small)


def plan_rows(rows: int, length: int, pack: int, item: int, policy: RowsPolicy, staging: StagingPolicy) -> RowsPlan:
    """The kernel's shape for `rows` rows of `length` elements.

    Operands are read `pack` elements at a time; `item` is the bytes of one element of each operand, summed.

    Examples
    --------
    >>> from xpops.engine.cuda.tuning import staging_policy, tuning_of
    >>> policies = tuning_of(90).fused_rows, staging_policy(90, 132, 227 << 10)
    >>> plan_rows(1024, 768, 8, 2, *policies)
    RowsPlan(group=32, block=128, cluster=1, pack=8, steps=3, ragged=False, staged=0, resident=0)
    >>> plan_rows(1024, 65536, 4, 4, *policies)
    RowsPlan(group=256, block=256, cluster=8, pack=4, steps=0, ragged=False, staged=2048, resident=4)
    >>> plan_rows(1024, 20, 4, 4, *policies)
    RowsPlan(group=8, block=128, cluster=1, pack=4, steps=1, ragged=False, staged=0, resident=0)
    >>> plan_rows(1024, 333, 8, 2, *policies)
    RowsPlan(group=32, block=128, cluster=1, pack=4, steps=3, ragged=True, staged=0, resident=0)
    """
    ragged = length > _RAGGED * pack and length % pack > 0
    if ragged and length <= policy.warp_row:
        pack = _ragged_pack(length, pack)
        ragged = length % pack > 0
    if not ragged:
        pack = min(pack, length & -length)
        if length <= WARP // 2 * pack:
            return RowsPlan(power_of_two(length // pack), policy.warps_block, 1, pack, 1, False)
    packs = length // pack
    for group in (WARP, *policy.blocks) if length <= policy.warp_row else policy.blocks:
        steps = -(-packs // group)
        least = _WIDE if 2 * group <= policy.resident else 0
        if steps <= policy.steps and steps * pack * max(item, least) <= policy.held_bytes:
            return RowsPlan(group, policy.warps_block if group == WARP else group, 1, pack, steps, ragged)
    staged = plan_staging(packs, pack * item, rows, staging) if item else None
    if staged:
        return RowsPlan(staged.block, staged.block, staged.cluster, pack, 0, ragged, staged.packs, staged.resident)
    return RowsPlan(policy.streaming_block, policy.streaming_block, 1, pack, 0, ragged)


def _ragged_pack(length: int, pack: int) -> int:
    """The pack with which a warp holds a ragged row in the fewest elements of each thread."""
    packs = (pack >> shift for shift in range(pack.bit_length()) if pack >> shift >= _NARROWEST)
    return min(packs, key=lambda each: -(-(length // each) // WARP) * each, default=pack)
