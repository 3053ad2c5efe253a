"""Scans along contiguous memory: groups of lanes that walk rows, or blocks that compute tiles of a row."""

from __future__ import annotations

from math import prod

from xpops.plan.scan.coalesce import Access, CoalescedScan
from xpops.plan.scan.parameters import PUBLISHED, SECTOR, WARP, Grid, ScanPlan, ScanPolicy, make_plan


def plan_rows(
    coalesced: CoalescedScan, access: Access, packs: int, item: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    pack, ragged, stride = access
    length = coalesced.length + (pack - 1) * ragged
    across = _is_across(coalesced, item)
    group, packs = _group(-(-length // pack), 1 if across else -(-SECTOR // (pack * item)), packs, across)
    loop = length > group * pack * packs
    numbers = (policy.rows_block, pack, packs, group, loop, coalesced.reverse, initial, ragged, f"Stride::{stride}")
    blocks = -(-prod(coalesced.batches) * group // policy.rows_block)
    return make_plan("rows", coalesced, numbers, policy.rows_block, blocks, Grid(), policy.resident)


def plan_tiles(
    coalesced: CoalescedScan, access: Access, packs: int, words: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    pack, ragged, stride = access
    tiles = -(-(coalesced.length + (pack - 1) * ragged) // (policy.tile_block * pack * packs))
    count, single = prod(coalesced.batches) * tiles, tiles == 1
    numbers = (policy.tile_block, pack, packs, single, coalesced.reverse, initial, ragged, f"Stride::{stride}")
    blocks, grid = count + (not single), Grid(tiles, (tiles, 1))
    plan = make_plan("tiles", coalesced, numbers, policy.tile_block, blocks, grid, policy.resident)
    return plan if single else plan._replace(scratch=2 * count * words * PUBLISHED)


def _is_across(coalesced: CoalescedScan, item: int) -> bool:
    """Whether rows lie side by side in the result: at least a sector of elements of different rows is together."""
    (_, step), (_, strides) = coalesced.steps, coalesced.strides
    beside = [length for length, stride in zip(coalesced.batches, strides, strict=True) if abs(stride) < abs(step)]
    return bool(beside) and prod(beside) * item >= SECTOR


def _group(wanted: int, least: int, most: int, across: bool) -> tuple[int, int]:
    """The lanes that share a row of `wanted` packs, and the packs of each lane: fewest idle packs, then most lanes.

    Rows side by side (`across`) have the fewest lanes.

    Examples
    --------
    >>> [_group(wanted, 2, 4, False) for wanted in (1, 5, 9, 33, 1000)]
    [(1, 1), (2, 3), (4, 3), (16, 3), (32, 4)]
    >>> _group(30, 1, 16, True)
    (2, 15)
    """
    if wanted >= WARP * most:
        return WARP, most
    lanes = [lanes for lanes in (32, 16, 8, 4, 2, 1) if lanes >= min(least, wanted)]
    choices = [(0 if across else lanes * -(-wanted // lanes), -lanes) for lanes in lanes if lanes * most >= wanted]
    _, negative = max(choices) if across else min(choices)
    return -negative, -(-wanted // -negative)
