"""Scans across contiguous memory: tiles of adjacent columns, with look-back between tiles."""

from __future__ import annotations

from math import prod

from xpops.plan.scan.coalesce import CoalescedScan
from xpops.plan.scan.parameters import PUBLISHED, SECTOR, WARP, Grid, ScanPlan, ScanPolicy, make_plan


def is_short(coalesced: CoalescedScan, pack: int, rows: int) -> bool:
    """Whether columns are so few and so short that most lanes of a warp of `scan_columns` would be idle."""
    lanes = coalesced.columns // pack
    return lanes < WARP and 2 * coalesced.length * lanes <= WARP * rows and coalesced.length <= WARP


def plan_columns(
    coalesced: CoalescedScan, pack: int, words: int, items: tuple[int, int], initial: bool, policy: ScanPolicy
) -> ScanPlan:
    item = sum(items)
    wanted = -(-coalesced.columns // pack)
    rows = min(policy.words // (pack * words), 2 * policy.column_rows, power_of_two(coalesced.length))
    lanes = min((32, 16, 8, 4, 2, 1), key=lambda lanes: _work(coalesced.length, wanted, lanes, pack * min(items), rows))
    lanes = min(lanes, power_of_two(wanted))
    floor = WARP // lanes * rows
    down = min(policy.column_warps, power_of_two(-(-coalesced.length // floor)))
    strips, most = -(-wanted // lanes), max(1, policy.column_warps // 2 // down)
    across = min((2**n for n in range(most.bit_length())), key=lambda warps: (-(-strips // warps) * warps, -warps))
    tiles, strips = -(-coalesced.length // (floor * down)), -(-wanted // (lanes * across))
    radix = 0
    if tiles > 1:
        radix = look_back_radix(tiles, floor * down * item, words, prod(coalesced.batches) * coalesced.columns, policy)
    numbers = (across, down, lanes, pack, rows, radix, initial)
    grid = Grid(tiles, (strips, prod(coalesced.batches)), state_bytes(tiles, radix, words) * coalesced.columns)
    blocks = prod(coalesced.batches) * strips * tiles
    return make_plan("columns", coalesced, numbers, WARP * across * down, blocks, grid, policy.column_resident)


def _work(length: int, packs: int, lanes: int, width: int, rows: int) -> tuple[float, int]:
    """The lanes' work with `lanes` of them side by side, idle ones included; of equal choices the widest is best.

    Lanes side by side also access the rest of a sector at either end, half a sector each on average.
    """
    floor = WARP // lanes * rows
    busy = -(-packs // lanes) * lanes * -(-length // floor) * floor
    return busy * (1 + SECTOR / (min(lanes, packs) * width)), -lanes


def power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def look_back_radix(tiles: int, tile_bytes: int, words: int, columns: int, policy: ScanPolicy) -> int:
    """The radix of the fastest look-back: a larger radix shortens the chain of waiting tiles, but reads more states."""

    def microseconds(radix: int) -> float:
        chain = (tiles / radix**2 + (2 if radix > 1 else 0)) * policy.hop
        traffic = tiles * columns * (tile_bytes + (radix + 2) * words * PUBLISHED) / policy.speed
        return max(chain, traffic)

    return min((1, 2, 4, 8, 16, 32), key=microseconds)


def state_bytes(tiles: int, radix: int, words: int) -> int:
    """The bytes of the published states of one column."""
    if radix == 0:
        return 0
    levels = (1, radix, radix * radix) if radix > 1 else (1,)
    return sum(-(-tiles // level) for level in levels) * words * PUBLISHED
