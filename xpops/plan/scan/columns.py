"""Scans across contiguous memory: tiles of adjacent columns, with look-back between tiles."""

from __future__ import annotations

from math import prod

from xpops.core.powers import power_of_two
from xpops.plan.scan.coalesce import Access, CoalescedScan
from xpops.plan.scan.parameters import PUBLISHED, SECTOR, WARP, Grid, ScanPlan, ScanPolicy, make_plan


def is_short(coalesced: CoalescedScan, pack: int, rows: int) -> bool:
    """Whether columns are so few and so short that most lanes of a warp of `scan_columns` would be idle."""
    lanes = coalesced.columns // pack
    return lanes < WARP and 2 * coalesced.length * lanes <= WARP * rows and coalesced.length <= WARP


def plan_columns(
    coalesced: CoalescedScan, access: Access, words: int, items: tuple[int, int], initial: bool, policy: ScanPolicy
) -> ScanPlan:
    """The plan, with packs of `access` or narrower ones."""
    # Wide states leave fewer registers for elements: those of a thread's columns, of their prefixes, of other tiles.
    count, most = policy.words // (4 if words == 1 else 8 * words), policy.column_rows * (1 if words > 2 else 2)
    # Packs that are shifted into place are as wide as possible.
    least = policy.column_rows // (2 if access.stride in ("kOne", "kReversed") else 1)
    pack = max(1, min(access.pack, count, 4 * policy.words // (least * items[0])))
    wanted, packs = -(-coalesced.columns // pack), max(1, policy.words // -(-pack * items[0] // 4))
    rows = min(packs, most, power_of_two(coalesced.length))
    lanes = min((32, 16, 8, 4, 2, 1), key=lambda lanes: _work(coalesced.length, wanted, lanes, pack * min(items), rows))
    lanes = min(lanes, power_of_two(wanted))
    floor = WARP // lanes * rows
    down = min(policy.column_warps, power_of_two(-(-coalesced.length // floor)))
    wide = _wide(wanted, lanes, min(packs // rows, count // pack if down > 1 else packs))
    strips, across, batches = (
        -(-wanted // (lanes * wide)),
        max(1, policy.column_warps // 2 // down),
        prod(coalesced.batches),
    )
    if down > 1:
        across = 2 if across > 1 and strips % 2 == 0 else 1
        strips //= across
    item, radix = sum(items), 0
    tiles = -(-coalesced.length // (floor * down))
    if tiles > 1:
        radix = look_back_radix(tiles, floor * down * item, words, batches * coalesced.columns, policy)
    numbers = (across, down, lanes, pack, wide, rows, radix, initial, f"Stride::{access.stride}")
    grid = Grid(tiles, (strips, batches), state_bytes(tiles, radix, words) * coalesced.columns)
    blocks = batches * strips * tiles if down > 1 else -(-batches * strips // across)
    return make_plan("columns", coalesced, numbers, WARP * across * down, blocks, grid, policy.column_resident)


def _wide(wanted: int, lanes: int, most: int) -> int:
    """The packs of a thread side by side, for `wanted` packs: as many as fit, but few lanes may be idle for it."""
    choices = [
        wide for wide in (4, 2) if wide <= most and -(-wanted // (lanes * wide)) * lanes * wide * 8 <= wanted * 9
    ]
    return max(choices, default=1)


def _work(length: int, packs: int, lanes: int, width: int, rows: int) -> tuple[float, int]:
    """The lanes' work with `lanes` of them side by side, idle ones included; of equal choices the widest is best.

    Lanes side by side also access the rest of a sector at either end, half a sector each on average.
    """
    floor = WARP // lanes * rows
    busy = -(-packs // lanes) * lanes * -(-length // floor) * floor
    return busy * (1 + SECTOR / (min(lanes, packs) * width)), -lanes


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
