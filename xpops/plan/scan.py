"""The scan plan: which kernel of the family scans a layout along an axis, and its parameters except addresses."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.result import result_layout
from xpops.plan.signature import Signature
from xpops.plan.strides.coalesce import Strides, coalesce
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
        The most 32-bit words of states that a thread holds.
    column_warps : int
        Warps of a block that computes a tile of tall columns.
    column_rows : int
        The rows of a thread of such a block; packs are narrowed to make room for them. A thread has up to twice as many
        where packs are narrow anyway.
    resident : int
        Threads that must fit on a multiprocessor at a time; this limits their registers.
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
    resident: int
    hop: float
    speed: float


class ScanPlan(NamedTuple):
    """One kernel of the scan family.

    Attributes
    ----------
    kernel : {"tiles", "rows", "columns"}
        As ``native/xpops/kernels/scan/scan.cuh`` describes them.
    numbers : tuple
        Its template arguments after the types: integers and truth values.
    rank : int
        Axes of batches after coalescing.
    block, blocks : int
        The threads of a block, and the grid.
    in_shift, out_shift : int
        From the array's first element to the first element of the scan, in elements.
    scratch : int
        Bytes of zeros that the kernel needs.
    tail : bytes
        The bytes of the parameters after the slots.
    """

    kernel: str
    numbers: tuple[int, ...]
    rank: int
    block: int
    blocks: int
    in_shift: int
    out_shift: int
    scratch: int
    tail: bytes


class CoalescedScan(NamedTuple):
    """A scan as the kernels compute it: along one axis, for adjacent columns, for batches along all other axes.

    Steps, strides and shifts are pairs (operand, result), in elements.
    """

    length: int
    steps: tuple[int, int]
    columns: int
    column_steps: tuple[int, int]
    batches: tuple[int, ...]
    strides: tuple[Strides, Strides]
    shifts: tuple[int, int]
    reverse: bool


class _Grid(NamedTuple):
    """The tiles along the axis, the divisors that number blocks, and the bytes of states that each batch publishes."""

    tiles: int = 1
    divisors: tuple[int, int] = (1, 1)
    states: int = 0


def scan_result(x: Layout, axis: int, dtype: DType, initial: bool) -> Layout:
    """The layout of a scan's result: dense, with the axes in the order of `x`; with `initial` one longer along `axis`.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> x = layout_of(np.dtype("int8"), (2, 3), (1, 2), CPU)
    >>> scan_result(x, 0, np.dtype("int64"), True)
    Layout(int64, (3, 3), (1, 3), 'cpu', align=16)
    """
    shape = tuple(length + (initial and place == axis) for place, length in enumerate(x.shape))
    like = layout_of(x.dtype, shape, x.strides, x.device)
    return result_layout(Signature((), dtype, shape), (like,), x.device)


def plan_scan(
    x: Layout, out: Layout, axis: int, reverse: bool, initial: bool, state_bytes: int, policy: ScanPolicy
) -> ScanPlan:
    """The plan of scanning `x`, which is not empty, along `axis` into `out`.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> x = layout_of(float32, (4096, 4096), None, Device("cuda"))
    >>> from xpops.engine.cuda.tuning import scan_policy
    >>> [plan_scan(x, x, axis, False, False, 4, scan_policy(90, 132)).kernel for axis in (0, 1)]
    ['columns', 'tiles']
    """
    coalesced = _coalesce_scan(x, out, axis, reverse, initial)
    words, traffic = -(-state_bytes // 4), x.dtype.itemsize + out.dtype.itemsize
    pack = _pack(coalesced, x, out)
    if coalesced.columns > 1 and not _is_short(coalesced, pack, policy.column_rows):
        pack = min(pack, max(1, policy.words // (policy.column_rows * words)))
        return _plan_columns(coalesced, pack, words, traffic, initial, policy)
    if coalesced.columns > 1:
        coalesced = _columns_as_batches(coalesced)
        pack = _pack(coalesced, x, out)
    held = min(policy.words // words, policy.packs * pack)
    packs = max(1, min(policy.bytes // traffic, held) // pack)
    if prod(coalesced.batches) >= policy.rows or coalesced.length <= 2 * WARP * pack * packs:
        return _plan_rows(coalesced, pack, packs, min(x.dtype.itemsize, out.dtype.itemsize), initial, policy)
    return _plan_tiles(coalesced, pack, max(1, min(policy.tile_bytes // traffic, held) // pack), words, initial, policy)


def _coalesce_scan(x: Layout, out: Layout, axis: int, reverse: bool, initial: bool) -> CoalescedScan:
    length, in_step, out_step = x.shape[axis], x.strides[axis], out.strides[axis]
    in_shift, out_shift = 0, out_step if initial else 0
    if reverse and in_step == out_step == 1:
        pass  # the kernel itself walks backwards, pack by pack
    elif reverse:
        in_shift, out_shift = in_shift + (length - 1) * in_step, out_shift + (length - 1) * out_step
        in_step, out_step, reverse = -in_step, -out_step, False
    others = [place for place in range(x.ndim) if place != axis]
    shape, (out_strides, in_strides) = coalesce(
        tuple(x.shape[place] for place in others),
        [tuple(layout.strides[place] for place in others) for layout in (out, x)],
    )
    coalesced = CoalescedScan(
        length, (in_step, out_step), 1, (0, 0), shape, (in_strides, out_strides), (in_shift, out_shift), reverse
    )
    if shape and abs(out_strides[-1]) < abs(out_step):
        return coalesced._replace(
            columns=shape[-1],
            column_steps=(in_strides[-1], out_strides[-1]),
            batches=shape[:-1],
            strides=(in_strides[:-1], out_strides[:-1]),
        )
    return coalesced


def _columns_as_batches(coalesced: CoalescedScan) -> CoalescedScan:
    strides = ((*line, step) for line, step in zip(coalesced.strides, coalesced.column_steps, strict=True))
    inputs, outputs = strides
    return coalesced._replace(
        columns=1, column_steps=(0, 0), batches=(*coalesced.batches, coalesced.columns), strides=(inputs, outputs)
    )


def _pack(coalesced: CoalescedScan, x: Layout, out: Layout) -> int:
    """The widest pack that is always aligned; 1 if neighbouring elements are not adjacent in memory."""
    along = coalesced.column_steps if coalesced.columns > 1 else coalesced.steps
    if along != (1, 1):
        return 1
    pack = MAX_PACK_BYTES // max(x.dtype.itemsize, out.dtype.itemsize)
    for layout, shift, strides, step in zip(
        (x, out), coalesced.shifts, coalesced.strides, coalesced.steps, strict=True
    ):
        item = layout.dtype.itemsize
        pack = min(pack, max(1, layout.align // item), max(1, alignment(shift * item) // item) if shift else pack)
        steps = [*strides, *((step, coalesced.columns) if coalesced.columns > 1 else ())]
        while any(each % pack for each in steps):
            pack //= 2
    return pack


def _is_short(coalesced: CoalescedScan, pack: int, rows: int) -> bool:
    """Whether columns are so few and so short that most lanes of a warp of `scan_columns` would be idle."""
    lanes = coalesced.columns // pack
    return lanes < WARP and 2 * coalesced.length * lanes <= WARP * rows and coalesced.length <= WARP


def _plan_rows(
    coalesced: CoalescedScan, pack: int, packs: int, item: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    group, packs = _group(-(-coalesced.length // pack), -(-SECTOR // (pack * item)), packs)
    loop = coalesced.length > group * pack * packs
    numbers = (policy.rows_block, pack, packs, group, loop, coalesced.reverse, initial)
    blocks = -(-prod(coalesced.batches) * group // policy.rows_block)
    return _plan("rows", coalesced, numbers, policy.rows_block, blocks, _Grid())


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


def _plan_tiles(
    coalesced: CoalescedScan, pack: int, packs: int, words: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    tiles = -(-coalesced.length // (policy.tile_block * pack * packs))
    count, single = prod(coalesced.batches) * tiles, tiles == 1
    numbers = (policy.tile_block, pack, packs, single, coalesced.reverse, initial)
    plan = _plan("tiles", coalesced, numbers, policy.tile_block, count + (not single), _Grid(tiles, (tiles, 1)))
    return plan if single else plan._replace(scratch=2 * count * words * PUBLISHED)


def _plan_columns(
    coalesced: CoalescedScan, pack: int, words: int, item: int, initial: bool, policy: ScanPolicy
) -> ScanPlan:
    wanted = -(-coalesced.columns // pack)
    rows = min(policy.words // (pack * words), 2 * policy.column_rows, _power_of_two(coalesced.length))
    lanes = min(
        (32, 16, 8, 4, 2, 1),
        key=lambda lanes: (-(-wanted // lanes) * lanes if lanes * pack * item >= 2 * SECTOR else wanted + WARP, -lanes),
    )
    lanes = min(lanes, _power_of_two(wanted))
    floor = WARP // lanes * rows
    down = min(policy.column_warps, _power_of_two(-(-coalesced.length // floor)))
    across = max(1, min(policy.column_warps // 2 // down, _power_of_two(-(-wanted // lanes))))
    tiles, strips = -(-coalesced.length // (floor * down)), -(-wanted // (lanes * across))
    radix = 0
    if tiles > 1:
        radix = _radix(tiles, floor * down * item, words, prod(coalesced.batches) * coalesced.columns, policy)
    numbers = (across, down, lanes, pack, rows, radix, initial)
    grid = _Grid(tiles, (strips, prod(coalesced.batches)), _state_bytes(tiles, radix, words) * coalesced.columns)
    return _plan("columns", coalesced, numbers, WARP * across * down, prod(coalesced.batches) * strips * tiles, grid)


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _radix(tiles: int, tile_bytes: int, words: int, columns: int, policy: ScanPolicy) -> int:
    """The radix of the fastest look-back: a larger radix shortens the chain of waiting tiles, but reads more states."""

    def microseconds(radix: int) -> float:
        chain = (tiles / radix**2 + (2 if radix > 1 else 0)) * policy.hop
        traffic = tiles * columns * (tile_bytes + (radix + 2) * words * PUBLISHED) / policy.speed
        return max(chain, traffic)

    return min((1, 4, 8, 16, 32), key=microseconds)


def _state_bytes(tiles: int, radix: int, words: int) -> int:
    """The bytes of the published states of one column."""
    if radix == 0:
        return 0
    levels = (1, radix, radix * radix) if radix > 1 else (1,)
    return sum(-(-tiles // level) for level in levels) * words * PUBLISHED


def _plan(
    kernel: str, coalesced: CoalescedScan, numbers: tuple[int, ...], block: int, blocks: int, grid: _Grid
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
    return ScanPlan(kernel, numbers, len(batches), block, blocks, *coalesced.shifts, scratch, tail)
