"""Reductions of short rows that lie one after the other: blocks copy them to shared memory."""

from __future__ import annotations

from collections import Counter
from math import gcd, prod

from xpops.core.layouts import contiguous_strides
from xpops.core.powers import power_of_two
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.parameters import Access, ReducePlan, ReducePolicy, bits_of, ceil_div, tail_of
from xpops.plan.strides.coalesce import SECTOR_BYTES

# The bytes in which all banks of shared memory have one word.
_BANKS = 128
# The elements of each of the threads that share a row: few, and many, if few threads wait for shared memory then.
_FEW, _MANY = 16, 32
# The lengths of rows that take less time if they are copied, by the bytes of an element. On an H200 the sum of 100 MB
# in rows of 100 takes 172 and 38 us for int8, 96 and 29 for float16, 31 and 28 for float32. On an H100 shorter rows,
# and rows of float64, gained nothing.
_LENGTHS = {1: range(65, 256), 2: range(65, 128), 4: range(17, 129)}


def plan_tiles(coalesced: CoalescedReduction, access: Access, policy: ReducePolicy) -> ReducePlan | None:
    """The plan of blocks that copy rows; None if others are as fast. `access` is that without copies."""
    strides, length, item = coalesced.in_kept[0], coalesced.reduced[-1], access.item
    pack = 1 if access.ragged else access.pack
    pitch = strides[-1]
    follow = strides == tuple(pitch * stride for stride in contiguous_strides(coalesced.kept))
    # Gaps between rows of less than a sector are read in any case.
    if not follow or coalesced.in_reduced[0] != (1,) or not length <= pitch < length + SECTOR_BYTES // item:
        return None
    if length not in _LENGTHS.get(item, ()) or pack * item >= MAX_PACK_BYTES:
        return None
    outputs, row = prod(coalesced.kept), pitch * item
    group, smaller = (power_of_two(ceil_div(length, share)) for share in (_FEW, _MANY))
    # At most two groups of a warp are to read their rows from the same banks.
    if gcd(row, _BANKS) > 2 * item * group:
        return None
    fits = policy.block // smaller * row <= 2 * policy.tile_bytes
    if fits and waits(smaller, row, item) <= max(2, waits(group, row, item)):
        group = smaller
    groups = policy.block // group
    rows = groups * max(1, policy.tile_bytes // (groups * row))
    blocks = ceil_div(outputs, rows)
    if blocks < policy.blocks:
        return None
    bits = bits_of(coalesced)
    tail = tail_of(coalesced, outputs, length, rows, 1, bits)
    memory = policy.tile_bytes if rows * row <= policy.tile_bytes else power_of_two(rows * row)
    return ReducePlan(
        "tiles", group, memory, 0, 1, 1, 1, False, True, 1, False, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks, 0, tail, 0,
    )  # fmt: skip


def waits(group: int, row: int, item: int) -> int:
    """The most words that a warp reads from one bank, if groups of threads read their first elements of rows.

    Examples
    --------
    >>> waits(8, 152, 2), waits(8, 255, 1), waits(16, 255, 1)
    (1, 4, 2)
    """
    words = {(lane // group * row + lane % group * item) // 4 for lane in range(32)}
    return max(Counter(word % (_BANKS // 4) for word in words).values())
