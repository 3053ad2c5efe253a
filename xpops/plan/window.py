"""The plan of a window onto an array, for padding, rolling, and triangles of matrices."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.inner_index import Axis, inner_index
from xpops.plan.strides.divmod import pack_divmod


class WindowPolicy(NamedTuple):
    """Tuning numbers of windows.

    Attributes
    ----------
    block : int
        Threads of a block.
    copied_reads, copied_distance : int
        A window is that of a C-contiguous copy of the array if it would read each sector so often, since elements that
        share a sector are so many elements apart, or farther.
    """

    block: int
    copied_reads: int
    copied_distance: int


class WindowPlan(NamedTuple):
    """One kernel that writes a window onto an array, and its parameters except addresses and the fill value.

    Attributes
    ----------
    inner : int
        How many of the last axes count as one index. Each block has a table of its offsets
        (``native/xpops/kernels/short_window.cuh``). 0: there are no tables.
    pack, unroll : int
        Elements of a pack, packs of a thread.
    short : bool
        Whether rows of the result have fewer elements than a pack.
    rank : int
    index_bits : {32, 64}
    blocks : int
        The grid.
    tail : bytes
    """

    inner: int
    pack: int
    unroll: int
    short: bool
    rank: int
    index_bits: int
    blocks: int
    tail: bytes


Band = tuple[int, int]

SHORT_ROW = 128
"""Of most windows, rows of fewer elements are short: blocks have tables of the places of their elements."""


def plan_window(
    x: Layout, starts: tuple[int, ...], out: Layout, border: str, band: Band | None, block: int
) -> WindowPlan:
    """The plan of writing to a C-contiguous `out`: along each axis its element at c is that of `x` at ``c - start``.

    Beyond `x` are what `border` names: "fill", "roll", or one of NumPy's modes (``Border`` in
    ``native/xpops/kernels/window.cuh``). With a band, the last two axes are rows and columns, and other diagonals are
    not read.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> x, out = (layout_of(dt.int8, (8, n, 16), None, Device("cuda")) for n in (5, 7))
    >>> plan = plan_window(x, (0, 1, 0), out, "fill", None, 128)
    >>> plan.rank, plan.pack
    (2, 16)
    """
    item = out.dtype.itemsize
    repeats = border not in ("fill", "roll")
    pack = max(1, min(MAX_PACK_BYTES, out.align) // item)
    axes = _merge(out.shape, x.shape, x.strides, starts, 0 if band is None else 2, repeats)
    found = None
    if axes[-1].outer < _short_row(border, len(axes), pack):
        found = inner_index(axes, pack, item, 1 if band is None else 2)
    axes, inner, pack = found or (axes, 0, pack)
    shape, lengths, strides, begins = zip(*axes, strict=True)
    unroll = _unroll(pack, item, inner)
    reach = sum(abs(stride) * length for stride, length in zip(strides, lengths, strict=True))
    period = 2 * max(lengths) if repeats else 0
    bits = 32 if max(out.size, reach, period, *map(abs, begins)) < INDEX_LIMIT else 64
    form = "i" if bits == 32 else "q"
    tail = struct.pack("<Q", out.size)
    for divisor in shape[1:] or (1,):
        tail += pack_divmod(divisor, bits)
    for line in (strides, begins, lengths):
        tail += struct.pack(f"<{len(line)}{form}", *line)
    tail += struct.pack(f"<2{form}", *(band or (0, 0)))
    size = math.prod(shape[len(shape) - inner :])
    tail += pack_divmod(size, bits) + struct.pack(f"<{form}", math.gcd(size, pack).bit_length() - 1)
    short = len(axes) > 1 and shape[-1] < pack
    return WindowPlan(inner, pack, unroll, short, len(axes), bits, -(-out.size // (block * pack * unroll)), tail)


def _short_row(border: str, rank: int, pack: int) -> int:
    """The length of rows for which tables gain nothing (on an H200)."""
    if rank < 2 or (border == "roll" and rank == 2):
        return 0
    return pack if border == "roll" or (border == "fill" and pack < 4) else SHORT_ROW


def _unroll(pack: int, item: int, inner: int) -> int:
    """The packs of a thread. With tables a block of 128 threads writes 8 KiB or more: filling them takes time."""
    if not inner:
        return max(1, 4 // pack)
    return 8 if pack == MAX_PACK_BYTES else 4 * MAX_PACK_BYTES // (pack * item)


def _merge(
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
    strides: tuple[int, ...],
    starts: tuple[int, ...],
    apart: int,
    repeats: bool,
) -> list[Axis]:
    """The fewest axes.

    An axis merges into the one before it if the window is the whole axis, and both have one stride; but not the last
    `apart` axes. If elements are repeated beyond the array, the window must be the whole of both axes.
    """
    merged: list[Axis] = []
    for axis, (outer, length, stride, start) in enumerate(zip(shape, lengths, strides, starts, strict=True)):
        last = merged[-1] if merged and axis < len(shape) - apart else None
        this = Axis(outer, length, stride, start)
        if last and repeats and not last.whole:
            last = None
        if last and this.whole and (last.stride == stride * length or last.length == 1):
            merged[-1] = Axis(last.outer * outer, last.length * length, stride, last.start * length)
        else:
            merged.append(this)
    return merged or [Axis(1, 1, 1, 0)]
