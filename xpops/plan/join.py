"""The plan of joining arrays along an axis."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout, contiguous_strides
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.strides.coalesce import Strides, coalesce, farthest_offset
from xpops.plan.strides.divmod import pack_divmod

# Of kernel parameters, in bytes.
MAX_PARAMETERS = 4096


class JoinPlan(NamedTuple):
    """One kernel that joins arrays, and its parameters except addresses.

    Attributes
    ----------
    word : int
        The bytes of a word.
    pack, unroll : int
        Words of a pack, packs of a thread.
    pieces : range
        The numbers of the arrays.
    row_axes, column_axes : int
    dense : bool
        Whether the rows that the kernel writes follow each other in the result.
    index_bits : {32, 64}
    blocks : int
        The grid.
    tail : bytes
    """

    word: int
    pack: int
    unroll: int
    pieces: range
    row_axes: int
    column_axes: int
    dense: bool
    index_bits: int
    blocks: int
    tail: bytes


class InterleavePlan(NamedTuple):
    """One kernel that joins arrays word by word, and its parameters except addresses.

    Attributes
    ----------
    word : int
        The bytes of a word.
    pack : int
        Words that a thread loads of each array.
    pieces : int
        The number of arrays.
    blocks : int
        The grid.
    tail : bytes
    """

    word: int
    pack: int
    pieces: int
    blocks: int
    tail: bytes


class _Rows(NamedTuple):
    """Rows of the result, which hold `widths` columns of each array.

    Attributes
    ----------
    rows, columns : tuple of int
        Lengths of the axes that count rows, and of those that count columns, but for the first of the latter.
    strides : list of tuple of int
        Of each array, along the axes of rows, then those of columns.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    widths: list[int]
    strides: list[Strides]


def plan_join(parts: tuple[Layout, ...], axis: int, out: Layout, block: int, unroll: int) -> list[JoinPlan]:
    """The plans of joining `parts`, none of them empty, along `axis`, by blocks of `block` threads.

    There are several if one kernel has too few parameters for all arrays.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> parts = tuple(layout_of(dt.int8, (4, n), None, Device("cuda")) for n in (8, 24))
    >>> (plan,) = plan_join(parts, 1, layout_of(dt.int8, (4, 32), None, Device("cuda")), 128, 4)
    >>> plan.word, plan.pack, plan.pieces
    (8, 2, range(0, 2))
    """
    found = _rows_of(parts, axis, out)
    count = _elements_of_word(found, parts, out)
    reach = max(farthest_offset(part.shape, part.strides) for part in (*parts, out))
    bits = 32 if max(out.size, reach) < INDEX_LIMIT else 64
    item = out.dtype.itemsize * count
    widths = [width // count for width in found.widths]
    per_piece = 8 + bits // 8 * (1 + len(found.strides[0]))
    fixed = 32 + 3 * bits // 8 * (1 + len(found.strides[0]))
    most = (MAX_PARAMETERS - fixed) // per_piece
    rows, pitch = prod(found.rows), sum(widths)
    plans = []
    for first in range(0, len(parts), most):
        pieces = range(first, min(first + most, len(parts)))
        width, dense = sum(widths[first : pieces.stop]), rows == 1 or len(pieces) == len(parts)
        pack = min(MAX_PACK_BYTES, out.align) // item or 1 if dense else 1
        each = max(1, unroll // pack)
        place = sum(widths[:first])
        size = rows * width
        tail = struct.pack("<3Q", size, place, pitch) + pack_divmod(width, bits)
        for lengths in (found.rows[1:], found.columns):
            tail += b"".join(pack_divmod(length, bits) for length in lengths or (1,))
        code = "i" if bits == 32 else "q"
        stops = [sum(widths[first : number + 1]) for number in pieces]
        tail += struct.pack(f"<{len(pieces)}{code.upper()}", *stops)
        for number in pieces:
            strides = found.strides[number]
            tail += struct.pack(f"<{len(strides)}{code}", *_in_words(strides, count))
        blocks = -(-(size + place % pack) // (block * pack * each))
        sides = len(found.rows), 1 + len(found.columns)
        plans.append(JoinPlan(item, pack, each, pieces, *sides, dense, bits, blocks, tail))
    return plans


def plan_interleave(parts: tuple[Layout, ...], axis: int, out: Layout, block: int, most: int) -> InterleavePlan | None:
    """The plan of joining at most `most` arrays, if a row of the result has one word of each; else None.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> parts = (layout_of(dt.int16, (400, 1), None, Device("cuda")),) * 3
    >>> plan_interleave(parts, 1, layout_of(dt.int16, (400, 3), None, Device("cuda")), 128, 16)[:4]
    (2, 8, 3, 1)
    """
    found = _rows_of(parts, axis, out)
    count = _elements_of_word(found, parts, out)
    item = out.dtype.itemsize * count
    apart = any(line[0] != count for line in found.strides)
    if len(parts) > most or len(found.rows) > 1 or apart or {*found.widths} != {count} or found.rows[0] == 1:
        return None
    pack = min(MAX_PACK_BYTES, out.align) // item
    if pack < 2:
        return None
    size = found.rows[0]
    return InterleavePlan(item, pack, len(parts), -(-size // (block * pack)), struct.pack("<Q", size))


def _rows_of(parts: tuple[Layout, ...], axis: int, out: Layout) -> _Rows:
    """Merge axes that one stride connects in all arrays."""
    shape, dense = out.shape, contiguous_strides(out.shape)
    before = [dense[:axis], *(part.strides[:axis] for part in parts)]
    after = [dense[axis + 1 :], *(part.strides[axis + 1 :] for part in parts)]
    rows, (_, *row_strides) = coalesce(shape[:axis], before)
    columns, (_, *column_strides) = coalesce(shape[axis + 1 :], after)
    if not rows:
        rows, row_strides = (1,), [(0,) for _ in parts]
    widths = [part.shape[axis] * prod(columns) for part in parts]
    whole = bool(columns) and all(
        part.shape[axis] == 1 or part.strides[axis] == line[0] * columns[0]
        for part, line in zip(parts, column_strides, strict=True)
    )
    if whole:
        columns = columns[1:]
    else:
        column_strides = [(part.strides[axis], *line) for part, line in zip(parts, column_strides, strict=True)]
    strides = [(*row, *column) for row, column in zip(row_strides, column_strides, strict=True)]
    return _Rows(rows, columns, widths, strides)


def _elements_of_word(found: _Rows, parts: tuple[Layout, ...], out: Layout) -> int:
    """The most elements of a word, such that all widths and strides are multiples of it."""
    if found.columns or any(
        line[-1] != 1 and width > 1 for line, width in zip(found.strides, found.widths, strict=True)
    ):
        return 1
    count = min(MAX_PACK_BYTES, out.align, *(part.align for part in parts)) // out.dtype.itemsize or 1
    steps = [step for line in found.strides for step in line[:-1]]
    while any(number % count for number in (*found.widths, *steps)):
        count //= 2
    return count


def _in_words(strides: Strides, count: int) -> Strides:
    """Strides in words of `count` elements, which have stride 1 along the last axis if they are several."""
    return strides if count == 1 else (*(stride // count for stride in strides[:-1]), 1)
