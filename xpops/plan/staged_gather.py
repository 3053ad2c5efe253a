"""The plan of gathering along one axis from shared memory."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.plan.elementwise import MAX_PACK_BYTES, index_bits
from xpops.plan.gather import GatherPolicy, widest_word
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod

# What memory delivers at once, in bytes.
SECTOR = 64
# The most words of a pack. A thread holds as many indices, and their number limits the threads of a multiprocessor:
# take_along_axis of float16 and uint8 takes 15% longer with 8.
MAX_PACK = 4
# The most blocks of a grid.
_MOST_BLOCKS = 2**31 - 1
# From this width on, in bytes, what an index moves is read from memory as fast.
WIDE = 8


class StagedGatherPlan(NamedTuple):
    """One kernel that gathers from shared memory, and its parameters except addresses and those of the report.

    Attributes
    ----------
    word : int
        The bytes of a word.
    slab : int
        The words of shared memory.
    rank : int
        The batch axes.
    runs : str
        How a part of the array lies in memory: an enumerator of ``Runs``.
    pack, unroll : int
        Words of a pack of the result, packs of a thread.
    index_bits : {32, 64}
    blocks : int
        The grid.
    tail : bytes
    """

    word: int
    slab: int
    rank: int
    runs: str
    pack: int
    unroll: int
    index_bits: int
    blocks: int
    tail: bytes


class _Axes(NamedTuple):
    """Lengths, and the strides of the array, the result and the indices: of batch axes, and of the three of a part.

    The array's stride along the indexed axis is that from place to place.
    """

    batch: tuple[int, ...]
    part: tuple[int, int, int]
    strides: list[Strides]


def plan_staged_gather(
    shape: tuple[int, ...],
    span: range,
    strides: list[Strides],
    length: int,
    step: int,
    itemsize: int,
    align: int,
    policy: GatherPolicy,
    multiprocessors: int,
) -> StagedGatherPlan | None:
    """The plan of gathering from an array that is read as a whole.

    None if its axis does not fit into shared memory, if few places of it are read, if an index moves wide words, or if
    there are many parts with less to do than a block has threads.

    Parameters
    ----------
    shape : tuple of int
        Of the result; no length is 0.
    span : range
        The axes of the result along which the indices replace the indexed axis.
    strides : list of tuple of int
        Of the array, of the result and of the indices, in `shape`; those of the array are 0 in `span`.
    length, step : int
        The length of the indexed axis, and the array's stride along it.
    itemsize, align : int
        The bytes of an element, and the alignment of the array and the result.
    """
    axes = _axes_of(shape, span, strides, step)
    if axes is None:
        return None
    outer, along, inner = axes.part
    moves = inner if axes.strides[2][-1] == 0 and axes.strides[0][-1] == axes.strides[1][-1] == 1 else 1
    if 2 * along < length or (moves > 1 and moves * itemsize >= WIDE):
        return None
    steps = [number for line in axes.strides[:2] for number in line[:-1]]
    count = widest_word(moves, steps, itemsize, align) if moves > 1 else 1
    lines = [(*(number // count for number in line[:-1]), line[-1]) for line in axes.strides[:2]]
    axes = _Axes(axes.batch, (outer, along, inner // count), [*lines, axes.strides[2]])
    slab = policy.slab // (itemsize * count)
    full = prod((*axes.batch, *axes.part)) // (policy.staged_block * MAX_PACK)  # parts with a pack for each thread
    wanted = min(policy.waves * multiprocessors, max(multiprocessors, full))
    sector = SECTOR // (itemsize * count)
    spread = -(-axes.part[2] * axes.part[0] * prod(axes.batch) // wanted)
    wide = _width(axes.part[2], min(slab // length, max(sector, spread)), sector)
    if not wide:
        return None
    part = _part(axes, length, wide, slab, wanted)
    plan = _packed(axes, part, length, itemsize * count, align, slab, policy)
    is_small = prod(part.lengths) < policy.staged_block and plan.blocks > 2 * policy.waves * multiprocessors
    return None if is_small or plan.blocks > _MOST_BLOCKS else plan


def _axes_of(shape: tuple[int, ...], span: range, strides: list[Strides], step: int) -> _Axes | None:
    """Merge axes. None if the indices have several axes.

    The outer axis of a part is the one along which the array's elements are closest, so that blocks read whole sectors.
    """
    order = [strides[1], strides[0], strides[2]]  # `coalesce` sorts by the first
    sides = [
        coalesce(shape[part], [line[part] for line in order])
        for part in (slice(span.start), slice(span.start, span.stop), slice(span.stop, None))
    ]
    if len(sides[1][0]) > 1:
        return None
    sides[0] = _with_closest_last(*sides[0])
    batch, part, lines = [], [], [[[], []] for _ in order]  # type: ignore[var-annotated]
    for lengths, found in sides:
        batch += lengths[:-1]
        part.append(lengths[-1] if lengths else 1)
        for line, each in zip(lines, found, strict=True):
            line[0] += each[:-1]
            line[1].append(each[-1] if lengths else 0)
    if not batch:
        batch = [1]
        for line in lines:
            line[0].append(0)
    lines[1][1][1] = step
    out, array, indices = ((*before, *last) for before, last in lines)
    return _Axes(tuple(batch), (part[0], part[1], part[2]), [array, out, indices])


def _with_closest_last(lengths: tuple[int, ...], lines: list[Strides]) -> tuple[tuple[int, ...], list[Strides]]:
    """The axes, that of the smallest stride of the array (the second line) last. Strides of 0 do not count."""
    axes = list(range(len(lengths)))
    if axes:
        closest = min(reversed(axes), key=lambda axis: abs(lines[1][axis]) or float("inf"))
        axes = [*(axis for axis in axes if axis != closest), closest]
    return tuple(lengths[axis] for axis in axes), [tuple(line[axis] for axis in axes) for line in lines]


def _width(inner: int, most: int, sector: int) -> int:
    """The words along the inner axis of a part, at most `most`: whole sectors, if possible, or all; else 0."""
    if inner <= most:
        return inner
    unit = sector if sector <= most else sector // 2 or 1
    widest = most - most % unit
    if not widest:
        return 0
    even = -(-inner // -(-inner // widest))  # of parts of one width
    return even + -even % unit


class _Part(NamedTuple):
    """A part of the result, and of the array in shared memory, the slab.

    Attributes
    ----------
    lengths : tuple of int
        Of the result's part.
    order : tuple of int
        The axes in the order in which the array's part is read, which may be strided in memory.
    steps : tuple of int
        Along the axes, in the slab.
    runs : str
        See `StagedGatherPlan`.
    run : int
        The words of a run.
    """

    lengths: tuple[int, int, int]
    order: tuple[int, int, int]
    steps: tuple[int, int, int]
    runs: str
    run: int


def _part(axes: _Axes, length: int, wide: int, slab: int, wanted: int) -> _Part:
    """A part that is `wide` along the inner axis. If possible there are `wanted` parts at least."""
    outer, along, inner = axes.part
    others = prod(axes.batch) * -(-inner // wide)
    rows = 1 if wide < inner else max(1, min(outer, slab // (length * wide), outer * others // wanted))
    others *= -(-outer // rows)
    chunks = max(1, min(-(-wanted // others), along // (2 * length)), along * rows * wide >> 30)
    if chunks > 1:
        rows = 1  # a part has all lines of its rows
    lengths = rows, -(-along // chunks), wide
    runs, run = _runs(axes.strides[0][-3:], (rows, length, wide), inner)
    if runs != "kNone":
        return _Part(lengths, (0, 1, 2), (length * wide, wide, 1), runs, run)
    array = axes.strides[0][-3:]
    first, second, third = sorted(range(3), key=lambda axis: -abs(array[axis]))
    pitch, step = length * wide, wide
    # Odd steps, if they fit, where threads write down a column: to different banks.
    if third == 1 and wide % 2 == 0 and rows * length * (wide + 1) <= slab:
        pitch, step = length * (wide + 1), wide + 1
    if third == 0 and pitch % 2 == 0 and rows * (pitch + 1) <= slab:
        pitch += 1
    return _Part(lengths, (first, second, third), (pitch, step, 1), runs, 1)


def _runs(strides: Strides, lengths: tuple[int, int, int], inner: int) -> tuple[str, int]:
    """How a part of the array of these lengths lies in memory, and the words of a run. `inner` is its whole axis."""
    rows, length, wide = lengths
    if wide > 1 and strides[2] != 1:
        return "kNone", 1
    if wide < inner or (length > 1 and strides[1] != wide):
        return ("kInner", wide) if wide > 1 else ("kNone", 1)
    if rows > 1 and strides[0] != length * wide:
        return "kAlong", length * wide
    return "kAll", rows * length * wide


def _packed(
    axes: _Axes, part: _Part, length: int, item: int, align: int, slab: int, policy: GatherPolicy
) -> StagedGatherPlan:
    """The plan for parts of the array and the result."""
    limits = axes.part
    tiles = [-(-limit // size) for limit, size in zip(limits, part.lengths, strict=True)]
    reach = (*axes.batch, limits[0], max(length, limits[1]), limits[2])
    bits = index_bits(prod((*axes.batch, *limits)), axes.strides, reach)
    code = "i" if bits == 32 else "q"
    tail = struct.pack("<3Q", *limits)
    tail += b"".join(struct.pack(f"<{len(line)}{code}", *line) for line in axes.strides)
    tail += b"".join(pack_divmod(number, bits) for number in (*tiles, *(axes.batch[1:] or (1,))))
    lengths = part.lengths[0], length, part.lengths[2]
    tail += b"".join(pack_divmod(number, 32) for number in (*part.lengths, *(lengths[axis] for axis in part.order)))
    tail += struct.pack("<6I", *part.order, *part.steps)
    tail += pack_divmod(-(-part.run // (MAX_PACK_BYTES // item)), 32)
    pack = _pack(axes, part.lengths, item, align)
    blocks = prod(tiles) * prod(axes.batch)
    unroll = max(1, policy.staged_unroll // pack)
    return StagedGatherPlan(item, slab, len(axes.batch), part.runs, pack, unroll, bits, blocks, tail)


def _pack(axes: _Axes, lengths: tuple[int, int, int], item: int, align: int) -> int:
    """The most words of a pack, such that all packs are aligned: each within one line, or the part is contiguous."""
    (rows, along, wide), inner = lengths, axes.part[2]
    pack = min(MAX_PACK, max(1, min(align, MAX_PACK_BYTES) // item))
    *batch, outer_step, step, inner_step = axes.strides[1]
    if wide == inner and inner_step in (0, 1):
        is_line = inner > 1 or step in (0, 1)
        if is_line and (along == 1 or step in (0, wide)) and (rows == 1 or outer_step == along * wide):
            return pack
    while inner_step != 1 or any(number % pack for number in (wide, inner, *batch, outer_step, step)):
        if pack == 1:
            break
        pack //= 2
    return pack
