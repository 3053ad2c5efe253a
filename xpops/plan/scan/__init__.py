"""The scan plan: which kernel of the family scans a layout along an axis, and its parameters except addresses."""

from __future__ import annotations

from math import prod

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.result import scan_result
from xpops.plan.scan.coalesce import access_of, coalesce_scan, columns_as_batches
from xpops.plan.scan.columns import is_short, plan_columns
from xpops.plan.scan.parameters import SECTOR, WARP, ScanPlan, ScanPolicy
from xpops.plan.scan.rows import plan_rows, plan_tiles
from xpops.plan.scan.staged import plan_staged

# Rows begin inside a pack if aligned packs have fewer bytes: few rows, many rows.
_RAGGED_BYTES = (MAX_PACK_BYTES, 8)


def plan_scan(
    x: Layout, out: Layout, axis: int, reverse: bool, initial: bool, state_bytes: int, policy: ScanPolicy
) -> ScanPlan:
    """The plan of scanning `x`, which is not empty, along `axis` into `out`.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> x = layout_of(float32, (4096, 4096), None, Device("cuda"))
    >>> from xpops.engine.cuda.tuning import scan_policy
    >>> [plan_scan(x, x, axis, False, False, 4, scan_policy(90, 132)).kernel for axis in (0, 1)]
    ['columns', 'rows']
    """
    coalesced = coalesce_scan(x, out, axis, reverse, initial)
    words, traffic = -(-state_bytes // 4), x.dtype.itemsize + out.dtype.itemsize
    many = prod(coalesced.batches) >= policy.rows
    access = access_of(coalesced, x, out, _RAGGED_BYTES[many])
    items = x.dtype.itemsize, out.dtype.itemsize
    is_narrow = 1 < coalesced.columns < SECTOR // min(items)
    if (is_narrow or access.pack * max(items) < MAX_PACK_BYTES) and not initial:
        dense = scan_result(out, axis, x.dtype, initial)
        for given, copied in ((x, None), (dense, dense)):
            staged = plan_staged(coalesce_scan(given, out, axis, reverse, initial), words, items, policy)
            if staged is not None:
                return staged._replace(copied=copied)
    if coalesced.columns > 1 and not is_short(coalesced, access.pack, policy.column_rows // 2):
        return plan_columns(coalesced, access, words, items, initial, policy)
    if coalesced.columns > 1:
        coalesced = columns_as_batches(coalesced)
        access = access_of(coalesced, x, out, _RAGGED_BYTES[True])
    pack = access.pack
    held = pack * min(policy.packs, policy.words // words, max(1, 4 * policy.words // (pack * x.dtype.itemsize)))
    packs = max(1, min(policy.bytes // traffic, held) // pack)
    if prod(coalesced.batches) >= policy.rows or coalesced.length <= 2 * WARP * pack * packs:
        return plan_rows(coalesced, access, packs, min(x.dtype.itemsize, out.dtype.itemsize), initial, policy)
    packs = max(1, min(policy.tile_bytes // traffic, held) // pack)
    return plan_tiles(coalesced, access, packs, words, initial, policy)
