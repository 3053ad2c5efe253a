"""Reductions of rows of few elements that lie one after the other: a thread has several rows."""

from __future__ import annotations

from math import gcd, prod

from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.parameters import ReducePlan, ReducePolicy, bits_of, ceil_div, tail_of

# The longest rows, and the most accesses of a thread.
LENGTH = 16
ACCESSES = 8


def plan_short(coalesced: CoalescedReduction, item: int, align: int, policy: ReducePolicy) -> ReducePlan | None:
    """The plan of threads that have several whole rows; None if others are as fast. `align` is that of the array."""
    length, pack = coalesced.reduced[-1], MAX_PACK_BYTES // item
    follow = (coalesced.in_kept[0], coalesced.in_reduced[0], coalesced.out_kept) == ((length,), (1,), (1,))
    common = gcd(length, pack)
    if not follow or align < MAX_PACK_BYTES or common == pack or length > LENGTH or length // common > ACCESSES:
        return None
    outputs, bits = prod(coalesced.kept), bits_of(coalesced)
    blocks = ceil_div(outputs, policy.block * (pack // common))
    if blocks < policy.blocks:
        return None
    tail = tail_of(coalesced, outputs, length, length, 1, bits)
    return ReducePlan(
        "short", length, 1, pack, 1, False, 1, False, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks, 0, tail, 0,
    )  # fmt: skip
