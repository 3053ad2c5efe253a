"""Reductions of rows of few elements that lie one after the other: a thread has several rows."""

from __future__ import annotations

from math import gcd, prod

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.reduce.parameters import ReducePlan, ReducePolicy, bits_of, ceil_div, tail_of

# The longest rows; the most accesses of a thread, by the bytes of an element; and the most bytes of its results: wider
# ones are stored far apart. On an H200 100 MB in rows of 3 bfloat16 take 34 instead of 40 us (sum), 35 instead of 56
# (var); in rows of 5 float64 33 instead of 49. With results of 64 bytes, argmax in rows of 3 bfloat16 takes 101 instead
# of 70, and with 5 accesses the sum in rows of 5 float32 33 instead of 31.
_LENGTH = 16
_ACCESSES = {1: 5, 2: 5, 4: 3, 8: 5}
_RESULT_BYTES = 16


def plan_short(coalesced: CoalescedReduction, x: Layout, result: int, policy: ReducePolicy) -> ReducePlan | None:
    """The plan of threads that have several whole rows of `x`; None if others are as fast.

    `result`: the bytes of an element of the result.
    """
    item, length = x.dtype.itemsize, coalesced.reduced[-1]
    pack = MAX_PACK_BYTES // item
    common = gcd(length, pack)
    follow = (coalesced.in_kept[0], coalesced.in_reduced[0], coalesced.out_kept) == ((length,), (1,), (1,))
    if not follow or x.align < MAX_PACK_BYTES or length > _LENGTH or common == pack:
        return None
    if length // common > _ACCESSES[item] or pack // common * result > _RESULT_BYTES:
        return None
    outputs, bits = prod(coalesced.kept), bits_of(coalesced)
    blocks = ceil_div(outputs, policy.block * (pack // common))
    if blocks < policy.blocks:
        return None
    tail = tail_of(coalesced, outputs, length, length, 1, bits)
    return ReducePlan(
        "short", length, 1, 0, 1, pack, 1, False, True, 1, False, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks, 0, tail, 0,
    )  # fmt: skip
