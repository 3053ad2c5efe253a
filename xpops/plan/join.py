"""The plan of joining: copy pieces of arrays, each a set of rows, to their places in a result."""

from __future__ import annotations

import struct
from typing import NamedTuple

from xpops.core.layouts import Layout, alignment, layout_of
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod

# All pieces are parameters of one kernel; a kernel may have 4 KB of them.
MAX_PIECES = 60


class Piece(NamedTuple):
    """A part of a result, and the view of an operand that is copied there.

    Attributes
    ----------
    source : int
        The number of the operand.
    offset : int
        From the operand's first element to the first one of `view`, in elements.
    view : Layout
        The part of the operand.
    place : int
        From the result's first element to the first one of `region`, in elements.
    region : Layout
        The part of the result, of the same shape as `view`.
    """

    source: int
    offset: int
    view: Layout
    place: int
    region: Layout


def piece_of(
    source: int, x: Layout, offset: int, shape: tuple[int, ...], strides: Strides, out: Layout, place: int, to: Strides
) -> Piece:
    """The piece that copies a view of operand `x`, of `shape` and `strides`, to `place` in `out`, with strides `to`."""
    align = min(x.align, alignment(abs(offset) * x.dtype.itemsize))
    view = layout_of(x.dtype, shape, strides, x.device, align)
    align = min(out.align, alignment(abs(place) * out.dtype.itemsize))
    return Piece(source, offset, view, place, layout_of(out.dtype, shape, to, out.device, align))


class _Rows(NamedTuple):
    rows: int
    length: int
    from_step: int
    to_step: int


class JoinPlan(NamedTuple):
    """One kernel that copies pieces, and its parameters except addresses.

    Attributes
    ----------
    word : int
        The bytes of a word.
    index_bits : {32, 64}
    blocks : int
        The grid.
    tail : bytes
    """

    word: int
    index_bits: int
    blocks: int
    tail: bytes


def plan_join(pieces: tuple[Piece, ...], out: Layout, tile: int) -> JoinPlan | None:
    """The plan of copying pieces by blocks that move `tile` words each.

    None if a piece is not a set of rows or has another dtype than `out`, or if the grid would be too large.

    Parameters
    ----------
    pieces : tuple of Piece
        At most `MAX_PIECES`, none of them empty.
    """
    found = [_rows(piece) for piece in pieces]
    rows = [each for each in found if each is not None]
    if len(rows) < len(found) or any(piece.view.dtype != out.dtype for piece in pieces):
        return None
    item = out.dtype.itemsize
    count = min(MAX_PACK_BYTES, out.align, *(piece.view.align for piece in pieces)) // item or 1
    while any(
        part % count
        for piece, row in zip(pieces, rows, strict=True)
        for part in (row.length, row.from_step * (row.rows > 1), row.to_step * (row.rows > 1), piece.place)
    ):
        count //= 2
    sizes = [row.rows * row.length // count for row in rows]
    reach = max(abs(step) * row.rows for row in rows for step in (row.from_step, row.to_step))
    bits = 32 if max(*sizes, reach, out.size) < INDEX_LIMIT else 64
    firsts, blocks = [], 0
    for size in sizes:
        firsts.append(blocks)
        blocks += -(-size // tile)
    if blocks >= 2**31:
        return None
    many = len(pieces)
    tail = struct.pack(f"<{many}Q", *(piece.place // count for piece in pieces))
    tail += struct.pack(f"<{many}q", *(row.from_step // count for row in rows))
    tail += struct.pack(f"<{many}q", *(row.to_step // count for row in rows))
    tail += struct.pack(f"<{many}Q{many}I", *sizes, *firsts) + bytes(4 * (many % 2) * (bits == 64))
    tail += b"".join(pack_divmod(row.length // count, bits) for row in rows)
    return JoinPlan(count * item, bits, blocks, tail)


def _rows(piece: Piece) -> _Rows | None:
    """A piece as rows of contiguous elements, or of single elements; None if it has more axes."""
    shape, (region, view) = coalesce(piece.view.shape, [piece.region.strides, piece.view.strides])
    length = 1
    if shape and region[-1] == view[-1] == 1:
        length, shape, region, view = shape[-1], shape[:-1], region[:-1], view[:-1]
    if len(shape) > 1:
        return None
    return _Rows(shape[0], length, view[0], region[0]) if shape else _Rows(1, length, 0, 0)
