"""Scans as the kernels compute them: adjacent columns and batches, and the packs that fit all strides."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core.layouts import Layout, alignment
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.strides.coalesce import Strides, coalesce

# Rows of at least so many packs may begin and end inside a pack.
RAGGED_PACKS = 16
# Columns of elements of so many bytes are faster one by one than shifted into packs.
_WIDE = 4


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


def coalesce_scan(x: Layout, out: Layout, axis: int, reverse: bool, initial: bool) -> CoalescedScan:
    """The scan of `x` along `axis` into `out`.

    Columns are the axis with the smallest stride in `out`, unless that is `axis`.
    """
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


def columns_as_batches(coalesced: CoalescedScan) -> CoalescedScan:
    """The same scan, in which each column is a batch."""
    strides = ((*line, step) for line, step in zip(coalesced.strides, coalesced.column_steps, strict=True))
    inputs, outputs = strides
    return coalesced._replace(
        columns=1, column_steps=(0, 0), batches=(*coalesced.batches, coalesced.columns), strides=(inputs, outputs)
    )


class Access(NamedTuple):
    """How a kernel reads and writes packs.

    Attributes
    ----------
    pack : int
        Elements of an access.
    ragged : bool
        Whether rows of the result may begin or end inside an aligned pack.
    stride : {"kPack", "kOne", "kReversed", "kAny"}
        How the elements of a pack lie in the operand: an enumerator of ``Stride``.
    """

    pack: int
    ragged: bool
    stride: str


def access_of(coalesced: CoalescedScan, x: Layout, out: Layout, least: int) -> Access:
    """The widest packs. Elements that are not adjacent in the result are accessed one by one.

    Only packs of the result need be aligned; along columns of wide elements, those of the operand, too. If aligned
    packs have fewer than `least` bytes, long rows begin inside a pack, unless the kernel walks backwards.
    """
    columns, items = coalesced.columns > 1, (x.dtype.itemsize, out.dtype.itemsize)
    in_along, out_along = coalesced.column_steps if columns else coalesced.steps
    widest = MAX_PACK_BYTES // max(items)
    if out_along != 1:
        return Access(1, False, "kPack")
    pack, ragged = _aligned_pack(coalesced, out, 1, widest), False
    aligned = _aligned_pack(coalesced, x, 0, pack) if in_along == 1 else 1
    if columns and items[0] >= _WIDE:  # of columns one by one the kernel knows that they are adjacent, if they are
        return Access(aligned, False, "kOne" if aligned == in_along == 1 else "kPack")
    narrow = pack < widest and pack * min(items) < least
    if narrow and not columns and coalesced.length >= RAGGED_PACKS * widest and not coalesced.reverse:
        pack, ragged = widest, True
    if not ragged and in_along == 1 and aligned == pack:
        return Access(pack, False, "kPack")
    return Access(pack, ragged, {1: "kOne", -1: "kReversed"}.get(in_along, "kAny"))


def _aligned_pack(coalesced: CoalescedScan, layout: Layout, place: int, widest: int) -> int:
    """The widest aligned pack of the operand (`place` 0) or the result (1)."""
    item, shift, step = layout.dtype.itemsize, coalesced.shifts[place], coalesced.steps[place]
    pack = min(widest, max(1, layout.align // item), max(1, alignment(shift * item) // item) if shift else widest)
    steps = [*coalesced.strides[place], *((step, coalesced.columns) if coalesced.columns > 1 else ())]
    while any(each % pack for each in steps):
        pack //= 2
    return pack
