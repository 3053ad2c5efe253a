"""Reductions of short rows that lie one after the other: blocks copy them to shared memory."""

from __future__ import annotations

from math import gcd, prod

from xpops.core.layouts import contiguous_strides
from xpops.core.powers import power_of_two
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.parameters import ReducePlan, ReducePolicy, bits_of, ceil_div, tail_of

# Gaps between rows of less than a sector are read in any case.
_SECTOR = 32
# The bytes in which all banks of shared memory have one word.
_BANKS = 128
# The most threads that share a row, and the elements of each.
_WARP, _SHARE = 32, 8


def plan_tiles(coalesced: CoalescedReduction, item: int, pack: int, policy: ReducePolicy) -> ReducePlan | None:
    """The plan of blocks that copy rows; None if others are as fast.

    `pack` are the elements of an access without copies, which never crosses the end of a row.
    """
    strides, length = coalesced.in_kept[0], coalesced.reduced[-1]
    pitch = strides[-1]
    follow = strides == tuple(pitch * stride for stride in contiguous_strides(coalesced.kept))
    if not follow or coalesced.in_reduced[0] != (1,) or not length <= pitch < length + _SECTOR // item:
        return None
    outputs, row = prod(coalesced.kept), pitch * item
    # Neighbouring groups read their rows from different banks, or from two halves of them.
    apart = gcd(row, _BANKS) // (2 * item)
    group = min(_WARP, max(power_of_two(ceil_div(length, _SHARE)), apart, 1))
    groups = policy.block // group
    rows = groups * max(1, policy.tile_bytes // (groups * row))
    blocks = ceil_div(outputs, rows)
    is_short = pack * item < MAX_PACK_BYTES and pack < length and length * item <= policy.tiled_row
    if not is_short or blocks < policy.blocks:
        return None
    bits = bits_of(coalesced)
    tail = tail_of(coalesced, outputs, length, rows, 1, bits)
    memory = policy.tile_bytes if rows * row <= policy.tile_bytes else power_of_two(rows * row)
    return ReducePlan(
        "tiles", group, memory, 1, 1, False, 1, False, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks, 0, tail, 0,
    )  # fmt: skip
