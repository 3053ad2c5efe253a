"""The plan of gathering along one axis from shared memory."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.plan.elementwise import index_bits
from xpops.plan.gather import GatherPolicy, widest_word
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod

# What memory delivers at once, in bytes.
SECTOR = 64


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
    index_bits : {32, 64}
    blocks : int
        The grid.
    tail : bytes
    """

    word: int
    slab: int
    rank: int
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

    None if its axis does not fit into shared memory, if few places of it are read, or if an index moves whole sectors.

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
    if 4 * along < length or moves * itemsize >= SECTOR // 2:
        return None
    steps = [number for line in axes.strides[:2] for number in line[:-1]]
    count = widest_word(moves, steps, itemsize, align) if moves > 1 else 1
    lines = [(*(number // count for number in line[:-1]), line[-1]) for line in axes.strides[:2]]
    axes = _Axes(axes.batch, (outer, along, inner // count), [*lines, axes.strides[2]])
    slab = policy.slab // (itemsize * count)
    wide = _width(axes.part[2], slab // length, SECTOR // (itemsize * count))
    return _parts(axes, length, wide, itemsize * count, slab, policy.waves * multiprocessors) if wide else None


def _axes_of(shape: tuple[int, ...], span: range, strides: list[Strides], step: int) -> _Axes | None:
    """Merge axes. None if the indices have several axes."""
    order = [strides[1], strides[0], strides[2]]  # `coalesce` sorts by the first
    sides = [
        coalesce(shape[part], [line[part] for line in order])
        for part in (slice(span.start), slice(span.start, span.stop), slice(span.stop, None))
    ]
    if len(sides[1][0]) > 1:
        return None
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


def _parts(axes: _Axes, length: int, wide: int, item: int, slab: int, wanted: int) -> StagedGatherPlan:
    """The plan for parts that are `wide` along the inner axis. `wanted` is the least number of blocks."""
    outer, along, inner = axes.part
    steps = axes.strides[0][-3:]
    order = sorted(range(3), key=lambda axis: -abs(steps[axis]))
    pitch, step = length * wide, wide
    if order[2] == 1 and wide % 2 == 0 and length * (wide + 1) <= slab:
        pitch, step = length * (wide + 1), wide + 1  # threads write down a column, to different banks
    others = prod(axes.batch) * -(-inner // wide)
    rows = 1 if wide < inner else max(1, min(outer, slab // pitch, outer * others // wanted))
    if order[2] == 0 and pitch % 2 == 0 and rows * (pitch + 1) <= slab:
        pitch += 1
    others *= -(-outer // rows)
    area = rows * wide
    chunks = max(1, min(-(-wanted // others), along // (2 * length)), along * area >> 30)
    columns = -(-along // chunks)
    part, limits = (rows, columns, wide), (outer, along, inner)
    tiles = [-(-limit // size) for limit, size in zip(limits, part, strict=True)]
    shape = (*axes.batch, *limits)
    lengths = (*axes.batch, outer, max(length, along), inner)
    bits = index_bits(prod(shape), axes.strides, lengths)
    code = "i" if bits == 32 else "q"
    tail = struct.pack("<3Q", *limits)
    tail += b"".join(struct.pack(f"<{len(line)}{code}", *line) for line in axes.strides)
    tail += b"".join(pack_divmod(number, bits) for number in (*tiles, *(axes.batch[1:] or (1,))))
    slab_lengths, slab_steps = (rows, length, wide), (pitch, step, 1)
    tail += b"".join(pack_divmod(number, 32) for number in (*part, *(slab_lengths[axis] for axis in order)))
    tail += struct.pack("<8I", *order, *(slab_steps[axis] for axis in order), pitch, step)
    return StagedGatherPlan(item, slab, len(axes.batch), bits, prod(tiles) * prod(axes.batch), tail)
