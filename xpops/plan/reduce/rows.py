"""Reductions along contiguous memory: groups of threads that walk rows."""

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
    is_whole,
    tail_of,
    unroll_of,
)

WARP = 32
# Packs of fewer bytes take longer than unaligned ones of as many or more, which are shifted (an estimate).
_NARROW = 8
# Rows of few elements with gaps are shared by as many threads as rows that are as long in memory, up to this length:
# otherwise each thread reads cache lines of its own (an estimate).
_FEW = 64
# Blocks have half the threads if these would have so few accesses of a row otherwise. On an H200 the minima of 7005
# rows of 3221 float32 take 25.5 instead of 29.4 us.
_HALVED = range(3, 7)


def plan_rows(coalesced: CoalescedReduction, access: Access, policy: ReducePolicy) -> ReducePlan:
    """The plan of groups of threads that walk rows."""
    item, pack, ragged, aligned, counted = access
    outputs, inner = prod(coalesced.kept), coalesced.reduced[-1]
    packs = max(1, inner // pack) * prod(coalesced.reduced[:-1])
    unroll = unroll_of(pack, item, policy)
    if outputs >= 2 * policy.blocks and ceil_div(packs, policy.block) in _HALVED:
        policy = policy._replace(block=policy.block // 2)
    apart = abs(coalesced.in_reduced[0][-1]) if item <= 4 else 1
    reach = max(packs, min(packs * apart, _FEW))
    group, unroll = _group(reach, unroll, pack * item, outputs * WARP >= policy.blocks * policy.block, policy)
    rows = 2 if group == 1 and packs <= 4 else 1
    whole = group == 1 and is_whole(packs, pack, item, policy)
    unroll = packs if whole else unroll
    groups = policy.block // group * rows
    blocks = ceil_div(outputs, groups)
    splits = 1
    if blocks < policy.blocks // 2 and packs > 2 * policy.block * unroll:
        splits = min(ceil_div(policy.blocks, outputs), packs // (policy.block * unroll))
    if splits > 1:
        group, rows, blocks = policy.block, 1, outputs * splits
    steps = coalesced._replace(reduced=(*coalesced.reduced[:-1], max(1, inner // pack)))
    if counted:
        steps = steps._replace(in_reduced=tuple((*line[:-1], line[-1] * pack) for line in coalesced.in_reduced))
    bits = bits_of(coalesced)
    length = inner if ragged else packs
    chunk = chunk_of(packs, splits, policy.block * unroll)
    tail = tail_of(steps, outputs, length, chunk, splits, bits)
    return ReducePlan(
        "rows", group, rows, 0, 1, pack, unroll, ragged, aligned, splits, whole, len(coalesced.kept),
        len(coalesced.reduced), bits, policy.block, blocks, 0, tail, outputs * splits if splits > 1 else 0,
    )  # fmt: skip


def _group(packs: int, unroll: int, width: int, many: bool, policy: ReducePolicy) -> tuple[int, int]:
    """The threads that share a row of `packs` accesses of `width` bytes, and the accesses that each has in flight.

    `many`: one warp for each row fills the GPU."""
    is_narrow = width < MAX_PACK_BYTES // 2
    for most, threads in policy.narrow_groups if is_narrow else policy.wide_groups:
        if packs <= most:
            return threads, min(unroll, 2) if is_narrow else min(unroll, 2, packs)
    warps = many and packs <= 2 * policy.block
    return (WARP if warps else policy.block), unroll


def row_access(x: Layout, coalesced: CoalescedReduction, alike: bool) -> Access:
    """Aligned packs along the rows of `x`, whose strides are the first line.

    `alike`: aligned packs begin at the same elements in every input.
    """
    item, inner, widest = coalesced.item, coalesced.reduced[-1], MAX_PACK_BYTES // coalesced.item
    if coalesced.in_reduced[0][-1] != 1 or widest == 1:
        return Access(item, 1)
    strides = (*coalesced.in_kept[0], *coalesced.in_reduced[0][:-1])
    pack = min(widest, max(1, x.align // item))
    while pack > 1 and (inner % pack or any(stride % pack for stride in strides)):
        pack //= 2
    if alike and pack < widest and may_be_ragged(coalesced, item):
        return Access(item, widest, ragged=True)
    return Access(item, pack)


def unaligned_access(coalesced: CoalescedReduction, access: Access) -> Access:
    """Packs along rows that may begin anywhere, in place of narrow aligned ones."""
    inner, pack = coalesced.reduced[-1], access.pack
    if coalesced.in_reduced[0][-1] == 1 and access.pack * access.item < _NARROW:
        while 2 * pack * access.item <= MAX_PACK_BYTES and inner % (2 * pack) == 0:
            pack *= 2
    if pack == access.pack or pack * access.item < _NARROW:
        return access
    return access._replace(pack=pack, aligned=False)


def may_be_ragged(coalesced: CoalescedReduction, item: int) -> bool:
    """Whether rows have one reduced axis and are long enough for aligned packs with single elements at both ends."""
    return len(coalesced.reduced) == 1 and coalesced.reduced[0] >= 16 * (MAX_PACK_BYTES // item)
