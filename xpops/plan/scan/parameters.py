"""The tuning numbers of the scan family, and a kernel's parameters except addresses."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_RESIDENT_BLOCKS
from xpops.plan.scan.coalesce import CoalescedScan
from xpops.plan.strides.divmod import pack_divmod

WARP = 32
# Bytes of a memory transaction: lanes that read adjacent memory cover at least one.
SECTOR = 32
# Bytes that publish 32 bits of a state together with a flag.
PUBLISHED = 8


class ScanPolicy(NamedTuple):
    """Tuning numbers of the scan family.

    Attributes
    ----------
    rows_block, tile_block : int
        Threads of a block: where lanes walk down rows, and where a block computes a tile of a row.
    rows : int
        With at least this many rows a few lanes walk each row, whatever its length.
    bytes, tile_bytes : int
        Bytes of a row that a lane reads and writes at a time: where lanes walk rows, and where a block computes a tile.
    packs : int
        The most packs that a lane holds.
    words : int
        The most 32-bit words that a thread holds: of states where it walks rows, of elements where it walks columns.
    column_warps : int
        Warps of a block that computes a tile of tall columns.
    column_rows : int
        The rows of a thread of such a block; packs are narrowed to make room for them. A thread has up to twice as many
        where packs are narrow anyway.
    staged_block, staged_rows : int
        Threads of a block that stages a tile of few columns in shared memory, and the most rows of a thread of it.
        Threads scan short rows whole.
    staged_columns : int
        The most columns of such a tile.
    resident, column_resident : int
        Threads that must fit on a multiprocessor at a time; this limits their registers: where lanes or blocks walk
        rows, and where they walk columns.
    hop : float
        Microseconds until a block sees the state that another block published; a generous estimate.
    speed : float
        Bytes of memory traffic per microsecond.
    """

    rows_block: int
    tile_block: int
    rows: int
    bytes: int
    tile_bytes: int
    packs: int
    words: int
    column_warps: int
    column_rows: int
    staged_block: int
    staged_rows: int
    staged_columns: int
    resident: int
    column_resident: int
    hop: float
    speed: float


class ScanPlan(NamedTuple):
    """One kernel of the scan family.

    Attributes
    ----------
    kernel : {"tiles", "rows", "columns", "staged"}
        As ``native/xpops/kernels/scan/scan.cuh`` describes them.
    numbers : tuple
        Its template arguments after the types: integers, truth values, and enumerators as in C++.
    rank : int
        Axes of batches after coalescing.
    block, blocks : int
        The threads of a block, and the grid.
    resident : int
        The blocks that must fit on a multiprocessor at a time.
    in_shift, out_shift : int
        From the array's first element to the first element of the scan, in elements.
    scratch : int
        Bytes of zeros that the kernel needs.
    tail : bytes
        The bytes of the parameters after the slots.
    copied : Layout or None
        The layout to which the operand is copied first, if it is.
    """

    kernel: str
    numbers: tuple[int | str, ...]
    rank: int
    block: int
    blocks: int
    resident: int
    in_shift: int
    out_shift: int
    scratch: int
    tail: bytes
    copied: Layout | None = None

    @property
    def header(self) -> str:
        """The name of the kernel's header in ``native/xpops/kernels/scan/``."""
        return "rows" if self.kernel == "tiles" else self.kernel


class Grid(NamedTuple):
    """The tiles along the axis, the divisors that number blocks, and the bytes of states that each batch publishes."""

    tiles: int = 1
    divisors: tuple[int, int] = (1, 1)
    states: int = 0


def make_plan(
    kernel: str,
    coalesced: CoalescedScan,
    numbers: tuple[int | str, ...],
    block: int,
    blocks: int,
    grid: Grid,
    resident: int,
) -> ScanPlan:
    batches, strides = coalesced.batches or (1,), [line or (0,) for line in coalesced.strides]
    count = prod(batches)
    head = (
        coalesced.length,
        *coalesced.steps,
        coalesced.columns,
        *coalesced.column_steps,
        count,
        grid.tiles,
        grid.states,
    )
    tail = struct.pack("<9q", *head)
    for divisor in grid.divisors:
        tail += pack_divmod(divisor, 32)
    for divisor in batches[1:] or (1,):
        tail += pack_divmod(divisor, 64)
    for line in strides:
        tail += struct.pack(f"<{len(line)}q", *line)
    scratch = count * grid.states
    return ScanPlan(
        kernel,
        numbers,
        len(batches),
        block,
        blocks,
        min(resident // block, MAX_RESIDENT_BLOCKS),
        *coalesced.shifts,
        scratch,
        tail,
    )
