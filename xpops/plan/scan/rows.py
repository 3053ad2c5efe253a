"""Scans along contiguous memory: groups of lanes that walk rows, or blocks that compute tiles of a row."""

from __future__ import annotations

from math import prod

from xpops.plan.scan.coalesce import CoalescedScan
from xpops.plan.scan.parameters import PUBLISHED, SECTOR, WARP, Grid, ScanPlan, ScanPolicy, make_plan


def plan_rows(
    coalesced: CoalescedScan, pack: int, packs: int, item: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    group, packs = _group(-(-coalesced.length // pack), -(-SECTOR // (pack * item)), packs)
    loop = coalesced.length > group * pack * packs
    numbers = (policy.rows_block, pack, packs, group, loop, coalesced.reverse, initial)
    blocks = -(-prod(coalesced.batches) * group // policy.rows_block)
    return make_plan("rows", coalesced, numbers, policy.rows_block, blocks, Grid())


def plan_tiles(
    coalesced: CoalescedScan, pack: int, packs: int, words: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    tiles = -(-coalesced.length // (policy.tile_block * pack * packs))
    count, single = prod(coalesced.batches) * tiles, tiles == 1
    numbers = (policy.tile_block, pack, packs, single, coalesced.reverse, initial)
    plan = make_plan("tiles", coalesced, numbers, policy.tile_block, count + (not single), Grid(tiles, (tiles, 1)))
    return plan if single else plan._replace(scratch=2 * count * words * PUBLISHED)


def _group(wanted: int, least: int, most: int) -> tuple[int, int]:
    """The lanes that share a row of `wanted` packs, and the packs of each lane: fewest idle packs, then most lanes.

    Examples
    --------
    >>> [_group(wanted, 2, 4) for wanted in (1, 5, 9, 33, 1000)]
    [(1, 1), (2, 3), (4, 3), (16, 3), (32, 4)]
    """
    if wanted >= WARP * most:
        return WARP, most
    lanes = [lanes for lanes in (32, 16, 8, 4, 2, 1) if lanes >= min(least, wanted) or lanes == 1]
    choices = [(lanes * -(-wanted // lanes), -lanes) for lanes in lanes if lanes * most >= wanted]
    total, negative = min(choices)
    return -negative, total // -negative
