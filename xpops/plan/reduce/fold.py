"""Reductions of few columns that make no packs: several rows together are whole packs."""

from __future__ import annotations

from math import gcd, prod

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.columns import aligned_pack
from xpops.plan.reduce.parameters import ReducePlan, ReducePolicy, bits_of, ceil_div, chunk_of, tail_of, unroll_of

# The most packs of a step. Each element of a step has a state, and these are exchanged: with 25 packs and more this
# takes longer than narrow packs do. On an H200 the sum of 7489828 rows of 7 float16 takes 28 instead of 40 us, and that
# of rows of 100 would take 37 instead of 34. For the same reason a thread is to have at least so many batches of packs.
_PACKS, _BATCHES = 8, 8
# Aligned packs within a row of at least so many bytes take less time than unaligned ones of several rows.
_WIDE = 8


def plan_folded(coalesced: CoalescedReduction, x: Layout, policy: ReducePolicy) -> ReducePlan | None:
    """The plan of threads that walk down packs of several rows of `x`; None if rows make packs, or are few or apart."""
    (*outer, inner), item, bits = coalesced.kept, coalesced.item, bits_of(coalesced)
    pack = MAX_PACK_BYTES // item
    fold = pack // gcd(inner, pack)
    width, packs = fold * inner, fold * inner // pack
    follow = (coalesced.in_kept[0][-1], coalesced.in_reduced[0]) == (1, (inner,))
    if not follow or fold == 1 or packs > _PACKS:
        return None
    aligned = x.align >= MAX_PACK_BYTES and not any(stride % pack for stride in coalesced.in_kept[0][:-1])
    if not aligned and aligned_pack(x, coalesced) * item >= _WIDE:
        return None
    if not aligned:
        policy = policy._replace(resident=policy.shifted_resident)
    (steps, left), rows = divmod(coalesced.reduced[0], fold), policy.block // packs
    unroll, blocks, splits = unroll_of(pack, item, policy), prod(outer), 1
    least = _BATCHES * rows * unroll
    if steps < least:
        return None
    if 2 * blocks <= policy.blocks and steps > 2 * least:
        splits = min(policy.blocks // blocks, steps // least)
    folded = coalesced._replace(kept=(*outer, packs), reduced=(steps,), in_reduced=((width,),))
    chunk = chunk_of(steps, splits, rows * unroll)
    splits = ceil_div(steps, chunk)
    tail = tail_of(folded, blocks * packs, steps, chunk, splits, bits, width - pack, left * inner)
    return ReducePlan(
        "columns", packs, rows, packs, fold, pack, unroll, False, aligned, splits, False, len(coalesced.kept), 1, bits,
        packs * rows, blocks * splits, policy.resident, tail, blocks * splits * inner if splits > 1 else 0,
    )  # fmt: skip
