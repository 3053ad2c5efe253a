"""The reduce plan: which kernel of the family reduces a layout, and its parameters except addresses."""

from __future__ import annotations

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.reduce.coalesce import coalesce_reduction
from xpops.plan.reduce.columns import column_access, plan_columns
from xpops.plan.reduce.fold import plan_folded
from xpops.plan.reduce.parameters import ReducePlan, ReducePolicy
from xpops.plan.reduce.rows import plan_rows, row_access, unaligned_access
from xpops.plan.reduce.short import plan_short
from xpops.plan.reduce.tiles import plan_tiles
from xpops.plan.strides.coalesce import Strides


def plan_reduce(
    x: Layout, axes: tuple[int, ...], out: Strides, result: int, policy: ReducePolicy, inputs: int = 1
) -> ReducePlan:
    """The plan of reducing `axes` of `x`, which is not empty.

    Parameters
    ----------
    out : tuple of int
        The result's strides along every axis of `x`; 0 along `axes`.
    result : int
        The bytes of an element of the result.
    inputs : {1, 2}
        The number of inputs. If 2, both have the layout `x`, alignment included.
    """
    item = x.dtype.itemsize
    coalesced = coalesce_reduction(x.shape, axes, out, [x.strides], item)
    policy = policy._replace(bytes_per_thread=policy.bytes_per_thread // inputs)
    folded = plan_folded(coalesced, x, policy) if coalesced.columns and inputs == 1 else None
    if folded is not None:
        return folded
    if coalesced.columns:
        return plan_columns(coalesced, column_access(x, coalesced, result), policy)
    short = plan_short(coalesced, x, result, policy) if inputs == 1 else None
    if short is not None:
        return short
    access = row_access(x, coalesced, inputs == 1 or x.align >= MAX_PACK_BYTES)
    tiles = plan_tiles(coalesced, access, policy) if inputs == 1 else None
    if tiles is not None:
        return tiles
    return plan_rows(coalesced, access if access.ragged else unaligned_access(coalesced, access), policy)
