"""The plan of gathering, and of assigning by indices: each index moves a whole row of words."""

from __future__ import annotations

import struct
from math import prod
from typing import Any, NamedTuple

from xpops.core.layouts import Layout, contiguous_strides
from xpops.plan.elementwise import MAX_PACK_BYTES, index_bits
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod

# The least width of a strip, in bytes.
_STRIP = 128


class GatherPolicy(NamedTuple):
    """Tuning numbers of the gather family.

    Attributes
    ----------
    block : int
        Threads of a block.
    unroll, bytes, most : int
        The words that a thread moves at once: `unroll`, or more narrow words, up to these bytes and `most` words.
    long_row : int
        In rows of at least this many words a thread moves several words of one row; otherwise words of several rows.
    scatter_block : int
        Threads of a block that scatters rows.
    waves : int
        The most blocks for each multiprocessor, if the host learns the number of rows only at the launch. The least
        number if there is a choice, and blocks gather from shared memory.
    slab, staged_block, staged_unroll : int
        The bytes of shared memory of a block that gathers from there, its threads, and the words of a thread at once.
    """

    block: int
    unroll: int
    bytes: int
    most: int
    long_row: int
    scatter_block: int
    waves: int
    slab: int
    staged_block: int
    staged_unroll: int


class GatherPlan(NamedTuple):
    """One kernel of the gather family, and its parameters except addresses.

    Attributes
    ----------
    word : int
        The bytes of a word.
    pieces, words : int
        Pieces of rows that a thread moves at once, and the words of each piece.
    is_single : bool
        Whether a row is one word.
    rank : int
        The number of axes along which rows are counted.
    index_bits, place_bits : {32, 64}
        Of the numbers of words moved, and of offsets in the indexed array.
    size : int
        The pieces of all rows.
    block, blocks : int
        The grid.
    per_word : int
        Elements of a word.
    tail : bytes
        The bytes of the parameters after the codes of the indexed axes: steps, divisors, strides.
    """

    word: int
    pieces: int
    words: int
    is_single: bool
    rank: int
    index_bits: int
    place_bits: int
    size: int
    block: int
    blocks: int
    per_word: int
    tail: bytes


def require_in_range(indices: Any, length: int, name: str) -> None:
    """Refuse an ndarray of indices if one of them is out of range for an axis of `length`.

    Raises
    ------
    IndexError
    """
    wrong = indices[(indices < -length) | (indices >= length)]
    if wrong.size:
        raise IndexError(f"{name} holds {wrong[0]}; accepted: {-length} to {length - 1}")


def gathered_shape(x: Layout, axes: tuple[int, ...], shape: tuple[int, ...], position: int) -> tuple[int, ...]:
    """The shape of the elements that indices of `shape` select along `axes` of `x`.

    It is `shape`, inserted at `position` of the other axes' lengths.
    """
    rest = [length for axis, length in enumerate(x.shape) if axis not in axes]
    return (*rest[:position], *shape, *rest[position:])


def gathered_strides(
    x: Layout, axes: tuple[int, ...], indices: tuple[Layout, ...], position: int
) -> tuple[Strides, tuple[Strides, ...]]:
    """The strides of `x` and of each index array, in the shape that `gathered_shape` returns.

    Those of `x` are 0 along the axes of the indices, whose values the kernel multiplies by the strides along `axes`.
    """
    rest = [stride for axis, stride in enumerate(x.strides) if axis not in axes]
    before, after = (0,) * position, (0,) * (len(rest) - position)
    array = (*rest[:position], *(0 for _ in indices[0].shape), *rest[position:])
    return array, tuple((*before, *each.strides, *after) for each in indices)


def plan_gather(
    shape: tuple[int, ...],
    array: Strides,
    other: Strides,
    indices: tuple[Strides, ...],
    steps: tuple[int, ...],
    lengths: tuple[int, ...],
    itemsize: int,
    align: int,
    policy: GatherPolicy,
) -> GatherPlan:
    """The plan of moving elements between an indexed array and another array.

    Parameters
    ----------
    shape : tuple of int
        The shape of the moved elements; no length is 0.
    array, other : tuple of int
        The strides of both arrays in `shape`, in elements. Those of the indexed array are as in `gathered_strides`.
    indices : tuple of tuple of int
        The strides of each index array in `shape`.
    steps, lengths : tuple of int
        The strides of the indexed array along its indexed axes, and their lengths.
    itemsize, align : int
        The bytes of an element, and the alignment of both arrays.

    Examples
    --------
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> plan = plan_gather((5, 64), (0, 1), (64, 1), ((1, 0),), (64,), (9,), 4, 16, tuning_of(90).gather)
    >>> plan.word, plan.pieces, plan.words, plan.size
    (16, 1, 2, 40)
    """
    merged, lines = coalesce(shape, [contiguous_strides(shape), array, other, *indices])
    lines = lines[1:]
    row, ends = 1, (0, 0)
    if merged and not any(line[-1] for line in lines[2:]):
        row, ends = merged[-1], (lines[0][-1], lines[1][-1])
        merged, lines = merged[:-1], [line[:-1] for line in lines]
    if not merged:
        merged, lines = (1,), [(0,)] * len(lines)
    of_arrays = [*lines[0], *lines[1], *steps]
    per_word = widest_word(row, of_arrays, itemsize, align) if row > 1 and ends == (1, 1) else 1
    row //= per_word
    lines[:2] = [tuple(stride // per_word for stride in line) for line in lines[:2]]
    unroll = max(policy.unroll, min(policy.bytes // (per_word * itemsize), policy.most))
    words = unroll if row >= policy.long_row else 1
    pieces = unroll // words
    per_row = -(-row // words)
    size = prod(merged) * per_row
    # The steps from place to place, and along a row of the indexed array, count for places only.
    along = (0, ends[1], *(0 for _ in indices))
    bits = index_bits(
        prod(merged) * row, [(*line, step) for line, step in zip(lines, along, strict=True)], (*merged, row)
    )
    steps = tuple(step // per_word for step in steps)
    place_bits = index_bits(max(lengths), [(*lines[0], *steps, ends[0])], (*merged, *lengths, row))
    place_bits = max(bits, place_bits)  # or the parameters would need padding
    code, place_code = ("i" if each == 32 else "q" for each in (bits, place_bits))
    tail = struct.pack(f"<{len(steps) + 1}{place_code}{code}{code.upper()}", *steps, *ends, row)
    for divisor in (per_row, *(merged[1:] or (1,))):
        tail += pack_divmod(divisor, bits)
    for line in lines:
        tail += struct.pack(f"<{len(line)}{code}", *line)
    blocks = min(-(-size // (policy.block * pieces)), 2**31 - 1)
    return GatherPlan(
        word=per_word * itemsize,
        pieces=pieces,
        words=words,
        is_single=row == 1,
        rank=len(merged),
        index_bits=bits,
        place_bits=place_bits,
        size=size,
        block=policy.block,
        blocks=blocks,
        per_word=per_word,
        tail=tail,
    )


def in_strips(
    shape: tuple[int, ...], span: range, strides: list[Strides], itemsize: int
) -> tuple[tuple[int, ...], list[Strides]]:
    """The same elements in another order: by strips of the last axis, each along the axes in `span`.

    Then the L2 cache holds the strip of the array from which neighbouring blocks gather. `strides` are those of the
    array, the other array and the indices, in `shape`. Nothing changes if an index moves a whole row, or if the last
    axis has no strips of one width.

    Examples
    --------
    >>> in_strips((5000, 96), range(0, 1), [(0, 1), (96, 1), (96, 1)], 4)
    ((3, 5000, 32), [(32, 0, 1), (32, 96, 1), (32, 96, 1)])
    """
    first, stop = span.start, span.stop
    array, other, indices = (line[stop:] for line in strides)
    inner, (other, array, indices) = coalesce(shape[stop:], [other, array, indices])
    widths = range(max(1, _STRIP // itemsize), max(1, 4 * _STRIP // itemsize))
    wide = next((n for n in widths if inner and inner[-1] % n == 0), 0)
    if not wide or not indices[-1]:
        return shape, strides
    lines = zip(strides, (array, other, indices), strict=True)
    return (*shape[:first], inner[-1] // wide, *shape[first:stop], *inner[:-1], wide), [
        (*line[:first], last[-1] * wide, *line[first:stop], *last) for line, last in lines
    ]


def widest_word(row: int, strides: list[int], itemsize: int, align: int) -> int:
    """The most elements of a word, such that the length of a row and all strides are multiples of it."""
    count = min(align, MAX_PACK_BYTES) // itemsize or 1
    while row % count or any(stride % count for stride in strides):
        count //= 2
    return count
