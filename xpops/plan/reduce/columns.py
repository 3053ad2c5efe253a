"""Reductions across contiguous memory: threads that walk down packs of columns."""

from __future__ import annotations

from math import prod

from xpops.core.layouts import Layout
from xpops.core.powers import power_of_two
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.parameters import (
    Access,
    ReducePlan,
    ReducePolicy,
    bits_of,
    ceil_div,
    chunk_of,
    is_whole,
    tail_of,
    unroll_of,
)

# Columns of at most so many bytes: a thread then has too little to do with one of them. For longer columns the shifts
# of unaligned packs take longer than narrow accesses do, if these have at least so many bytes (an estimate).
_SHORT, _NARROW = 8, 4
# Neighbouring threads read segments of so many bytes, as many as are in a cache line: packs of columns that are side by
# side, and if these are few, several rows.
_SEGMENT = 128


def plan_columns(coalesced: CoalescedReduction, access: Access, policy: ReducePolicy) -> ReducePlan:
    """The plan of threads that walk down packs of columns."""
    item, pack = access.item, access.pack
    if not access.aligned:
        policy = policy._replace(resident=policy.shifted_resident)
    length = prod(coalesced.reduced)
    unroll = min(unroll_of(pack, item, policy), power_of_two(length))
    last, bits = coalesced.kept[-1] - pack, bits_of(coalesced)
    coalesced = coalesced._replace(kept=(*coalesced.kept[:-1], ceil_div(coalesced.kept[-1], pack)))
    packs = prod(coalesced.kept)
    beside, span = _packs_beside(coalesced, pack * item)
    apart = max(abs(coalesced.in_reduced[0][-1]) * item, span)
    least = ceil_div(_SEGMENT, apart), min(beside, ceil_div(_SEGMENT * beside, max(span, beside * pack * item)))
    rows, columns = _tile(packs, ceil_div(length, unroll), least, policy)
    if rows == 1 or span >= _SEGMENT or columns < beside:
        beside = columns
    if columns % beside:
        columns -= columns % beside
        rows = policy.block // columns
    whole = rows == 1 and is_whole(length, pack, item, policy)
    unroll = length if whole else unroll
    blocks, splits = ceil_div(packs, columns), 1
    if 2 * blocks <= policy.blocks and length > 2 * rows * unroll:
        splits = min(policy.blocks // blocks, length // (rows * unroll))
    chunk = chunk_of(length, splits, rows * unroll)
    tail = tail_of(coalesced, packs, length, chunk, splits, bits, last)
    partials = blocks * splits * columns * pack if splits > 1 else 0
    return ReducePlan(
        "columns", columns, rows, beside, 1, pack, unroll, False, access.aligned, splits, whole, len(coalesced.kept),
        len(coalesced.reduced), bits, columns * rows, blocks * splits, policy.resident, tail, partials,
    )  # fmt: skip


def _packs_beside(coalesced: CoalescedReduction, width: int) -> tuple[int, int]:
    """The packs of `width` bytes that follow each other in memory, with gaps as wide as packs or less, and their span.

    The last kept axis is counted in packs.
    """
    (*outer, last), (*steps, step) = coalesced.kept, coalesced.in_kept[0]
    count, span = last, last * width * max(1, abs(step))
    for length, stride in zip(reversed(outer), reversed(steps), strict=True):
        apart = abs(stride) * coalesced.item
        if not 0 < apart <= 2 * span:
            break
        count, span = count * length, span + apart * (length - 1)
    return count, span


def _tile(packs: int, batches: int, least: tuple[int, int], policy: ReducePolicy) -> tuple[int, int]:
    """The threads that share a column, and the packs side by side: no more threads share one than keep the GPU busy.

    `batches` are the accesses of a column that a thread would have in flight together. `least` are the rows that are in
    a segment, and the packs that are or fill it: at least so many threads share a column or are side by side. Blocks
    side by side have equally many packs: with 16 of 17 packs in one, the other would be idle.
    """
    wanted = power_of_two(min(batches, max(least[0], ceil_div(policy.blocks * policy.block, packs))))
    columns = max(policy.block // wanted, power_of_two(least[1]))
    columns = min(columns, power_of_two(packs), policy.block)
    if columns < policy.block:
        columns = ceil_div(packs, ceil_div(packs, columns))
    return policy.block // columns, columns


def column_access(x: Layout, coalesced: CoalescedReduction, result: int) -> Access:
    """Aligned packs of columns of `x`, whose strides are the first line. A result has `result` bytes.

    Packs of short columns may begin anywhere, and so may packs that would be narrow if they were aligned. If most of
    the traffic is results, a thread writes one access of them: several would write parts of sectors.
    """
    item = coalesced.item
    pack, widest = aligned_pack(x, coalesced), MAX_PACK_BYTES // item
    bytes_ = prod(coalesced.reduced) * item
    if bytes_ <= result:
        widest = min(widest, max(1, MAX_PACK_BYTES // result))
        pack = min(pack, widest)
    is_better = bytes_ <= _SHORT or pack * item < _NARROW
    if is_better and coalesced.in_kept[0][-1] == 1 and pack < widest <= coalesced.kept[-1]:
        return Access(item, widest, aligned=False)
    return Access(item, pack)


def aligned_pack(x: Layout, coalesced: CoalescedReduction) -> int:
    """The most elements of an access that is always aligned."""
    inner, item, pack = coalesced.kept[-1], coalesced.item, 1
    if coalesced.in_kept[0][-1] == 1:
        pack = max(1, min(MAX_PACK_BYTES // item, x.align // item))
        while inner % pack or any(stride % pack for stride in (*coalesced.in_kept[0][:-1], *coalesced.in_reduced[0])):
            pack //= 2
    return pack
