"""Reductions across contiguous memory: threads that walk down packs of columns."""

from __future__ import annotations

from math import prod

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.parameters import (
    Access,
    ReducePlan,
    ReducePolicy,
    bits_of,
    ceil_div,
    chunk_of,
    power_of_two,
    tail_of,
    unroll_of,
)


def plan_columns(coalesced: CoalescedReduction, access: Access, policy: ReducePolicy) -> ReducePlan:
    """The plan of threads that walk down packs of columns."""
    item, pack, ragged, _ = access
    length = prod(coalesced.reduced)
    unroll = min(unroll_of(pack, item, policy), power_of_two(length))
    last, bits = coalesced.kept[-1] - pack, bits_of(coalesced)
    coalesced = coalesced._replace(kept=(*coalesced.kept[:-1], ceil_div(coalesced.kept[-1], pack)))
    packs = prod(coalesced.kept)
    rows = min(power_of_two(max(1, length // unroll) // 2 + 1), 8)  # each has a whole batch of accesses
    columns = min(power_of_two(packs), policy.block // rows)
    rows = policy.block // columns
    blocks, splits = ceil_div(packs, columns), 1
    if blocks < policy.blocks // 2 and length > 2 * rows * unroll:
        splits = min(ceil_div(policy.blocks, blocks), length // (rows * unroll))
    chunk = chunk_of(length, splits, rows * unroll)
    tail = tail_of(coalesced, packs, length, chunk, splits, bits, last)
    return ReducePlan(
        True, columns, rows, pack, unroll, ragged, splits, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks * splits, tail, blocks * splits * columns * pack if splits > 1 else 0,
    )  # fmt: skip


def column_access(x: Layout, coalesced: CoalescedReduction) -> Access:
    """Whole packs of columns: aligned ones, or, if that is not always so, packs that begin at any element."""
    item = x.dtype.itemsize
    pack, widest = column_pack(x, coalesced, item), MAX_PACK_BYTES // item
    if pack < widest <= coalesced.kept[-1] and coalesced.in_kept[0][-1] == 1:
        return Access(item, widest, ragged=True)
    return Access(item, pack)


def column_pack(x: Layout, coalesced: CoalescedReduction, item: int) -> int:
    """Elements of an access across the columns of `x`, whose strides are the first line."""
    inner, pack = coalesced.kept[-1], 1
    if coalesced.in_kept[0][-1] == 1:
        pack = max(1, min(MAX_PACK_BYTES // item, x.align // item))
        while inner % pack or any(stride % pack for stride in (*coalesced.in_kept[0][:-1], *coalesced.in_reduced[0])):
            pack //= 2
    return pack
