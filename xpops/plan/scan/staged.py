"""Scans of few adjacent columns, or of short rows: tiles that are one run of the result, through shared memory."""

from __future__ import annotations

from math import prod

from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.scan.coalesce import RAGGED_PACKS, CoalescedScan
from xpops.plan.scan.columns import look_back_radix, state_bytes
from xpops.plan.scan.parameters import Grid, ScanPlan, ScanPolicy, make_plan

# The most bytes of elements that a thread keeps in shared memory, so that a block's fit without the attribute for more.
_BYTES = 128
# The bytes of elements that a thread has in whole batches, unless one has more.
_TURN_BYTES = 64
# The rows of a thread of a tile. Few different numbers make few kernels.
_ROWS = (1, 3, 5, 7, 11, 15, 23, 31)
# The rows of a thread that has those of a batch are a multiple of this number, if they are more than twice it.
_WHOLE_ROWS = 4
# What a thread does besides its rows takes as long as so many rows.
_FIXED_ROWS = 4
# The most 32-bit words of a state, since shared memory holds two for each thread as well.
_WORDS = 4


def plan_staged(coalesced: CoalescedScan, words: int, items: tuple[int, int], policy: ScanPolicy) -> ScanPlan | None:
    """The plan; None if columns are too many, the result is not one run of memory, or the operand must be copied."""
    columns, length = coalesced.columns, coalesced.length
    most = min(policy.words // words, _BYTES // max(items))
    if words > _WORDS or columns > policy.staged_columns or coalesced.steps[1] != columns or coalesced.reverse:
        return None
    if columns > 1 and coalesced.column_steps[1] != 1:
        return None
    groups, rows = policy.staged_block // columns, min(most - 1, policy.staged_rows)
    batches, (inputs, outputs) = prod(coalesced.batches), coalesced.strides
    is_run = coalesced.steps[0] == columns and (columns == 1 or coalesced.column_steps[0] == 1)
    if length <= max(most, _most_shared(columns, groups, rows, max(items))):
        is_run = is_run and inputs == outputs
        if outputs not in ((), (length * columns,)) or not (is_run or _is_ordered(coalesced, (*inputs,), policy)):
            return None
        if length > most:
            rows = _shared_rows(length, groups, rows)
            numbers: tuple[int, ...] = (policy.staged_block, 1, rows, 1, 0, True, False, is_run)
            blocks = -(-batches // (groups // -(-length // rows)))
        else:
            least, rows = _whole_rows(length)
            turns = max(1, _TURN_BYTES // (rows * max(items)))
            numbers = (policy.staged_block, least, rows, turns, 0, False, length % 2 == 0, is_run)
            blocks = -(-batches // (groups * turns))
        grid = Grid(1, (columns, length * columns))
    elif columns > 1 and length >= 2 * groups:  # otherwise most threads of a tile would be idle
        if not (is_run or _is_ordered(coalesced, (), policy)):
            return None
        rows = _rows(length, groups, rows)
        tiles = -(-length // (groups * rows))
        radix = look_back_radix(tiles, groups * rows * sum(items), words, batches * columns, policy)
        numbers = (policy.staged_block, rows, rows, 1, radix, False, False, is_run)
        blocks, grid = batches * tiles, Grid(tiles, (columns, batches), state_bytes(tiles, radix, words) * columns)
    else:
        return None
    return make_plan("staged", coalesced, numbers, policy.staged_block, blocks, grid, policy.column_resident)


def _is_ordered(coalesced: CoalescedScan, batch: tuple[int, ...], policy: ScanPolicy) -> bool:
    """Whether the operand's axes are in the order of the result's, and a tile's offsets fit in 32 bits.

    `batch` has the strides of batches, if a tile has several. An operand with axes in another order is copied first.
    """
    steps = (*batch, coalesced.steps[0], *coalesced.column_steps[: coalesced.columns > 1])
    strides = [abs(step) for step in steps if step]
    offsets = policy.staged_block * _BYTES * max(strides, default=0)
    return strides == sorted(strides, reverse=True) and len(batch) <= 1 and offsets < 1 << 31


def _most_shared(columns: int, groups: int, rows: int, item: int) -> int:
    """The longest batch that threads share. Longer single columns are read in packs, as rows."""
    return min(groups * rows // 2, 2 * groups - 1) if columns > 1 else RAGGED_PACKS * MAX_PACK_BYTES // item - 1


def _whole_rows(length: int) -> tuple[int, int]:
    """The least and the most rows of a thread that has those of a batch. Few different numbers make few kernels."""
    rows = -(-length // _WHOLE_ROWS) * _WHOLE_ROWS
    return (rows - _WHOLE_ROWS + 1, rows) if length > 2 * _WHOLE_ROWS else (length, length)


def _shared_rows(length: int, groups: int, most: int) -> int:
    """The rows of a thread if several share a batch: an odd number, such that a tile has most elements for its time."""
    choices = [rows for rows in _ROWS if 1 < rows <= most and -(-length // rows) <= groups]
    return max(choices, key=lambda rows: groups // -(-length // rows) * length / (rows + _FIXED_ROWS))


def _rows(length: int, groups: int, most: int) -> int:
    """The rows of a thread: an odd number, few of them idle in the last tile."""
    tiles = -(-length // (groups * most))
    return min((rows for rows in _ROWS if rows <= most and rows * groups * tiles >= length), default=most)
