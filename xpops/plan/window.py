"""The plan of a window onto an array, for padding, rolling, and triangles of matrices."""

from __future__ import annotations

import struct
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.strides.divmod import pack_divmod


class WindowPlan(NamedTuple):
    """One kernel that writes a window onto an array, and its parameters except addresses and the fill value.

    Attributes
    ----------
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

    pack: int
    unroll: int
    short: bool
    rank: int
    index_bits: int
    blocks: int
    tail: bytes


Band = tuple[int, int]


def plan_window(
    x: Layout, starts: tuple[int, ...], out: Layout, band: Band | None, block: int, repeats: bool = False
) -> WindowPlan:
    """The plan of writing to a C-contiguous `out`: along each axis its element at c is that of `x` at ``c - start``.

    With a band, the last two axes are rows and columns, and other diagonals are not read. If `repeats`, the elements
    beyond `x` are its own.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> x, out = (layout_of(dt.int8, (8, n, 16), None, Device("cuda")) for n in (5, 7))
    >>> plan = plan_window(x, (0, 1, 0), out, None, 128)
    >>> plan.rank, plan.pack
    (2, 16)
    """
    axes = _merge(out.shape, x.shape, x.strides, starts, 0 if band is None else 2, repeats)
    shape, lengths, strides, begins = zip(*axes, strict=True)
    item = out.dtype.itemsize
    pack = max(1, min(MAX_PACK_BYTES, out.align) // item)
    unroll = max(1, 4 // pack)
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
    short = len(axes) > 1 and shape[-1] < pack
    return WindowPlan(pack, unroll, short, len(axes), bits, -(-out.size // (block * pack * unroll)), tail)


def _merge(
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
    strides: tuple[int, ...],
    starts: tuple[int, ...],
    apart: int,
    repeats: bool,
) -> list[tuple[int, int, int, int]]:
    """The fewest axes, each with the result's length, the array's length and stride, and the start.

    An axis merges into the one before it if the window is the whole axis, and both have one stride; but not the last
    `apart` axes. If elements are repeated beyond the array, the window must be the whole of both axes.
    """
    merged: list[tuple[int, int, int, int]] = []
    for axis, (outer, inner, stride, start) in enumerate(zip(shape, lengths, strides, starts, strict=True)):
        last = merged[-1] if merged and axis < len(shape) - apart else None
        if last and repeats and (last[0] != last[1] or last[3]):
            last = None
        if last and outer == inner and not start and (last[2] == stride * inner or last[1] == 1):
            merged[-1] = (last[0] * outer, last[1] * inner, stride, last[3] * inner)
        else:
            merged.append((outer, inner, stride, start))
    return merged or [(1, 1, 1, 0)]
