"""The reduce plan: which kernel of the family reduces a layout, and its parameters except addresses."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES, index_bits
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod

WARP = 32


class ReducePolicy(NamedTuple):
    """Tuning numbers of the reduce family.

    Attributes
    ----------
    block : int
        Threads of a block.
    blocks : int
        The blocks that keep the GPU busy. If a kernel has less than half as many, several may share an output.
    bytes_per_thread : int
        Bytes that a thread has in flight.
    elements_per_thread : int
        The most elements that a thread has in flight: each adds code.
    large_operands : int
        With more large operands than this, a thread has fewer bytes of each in flight.
    narrow_groups, wide_groups : tuple of (int, int)
        The threads that share a short row, by the most accesses of such a row: for accesses of less than 8 bytes, and
        for wider ones. A warp or a block walks longer rows.
    """

    block: int
    blocks: int
    bytes_per_thread: int
    elements_per_thread: int
    large_operands: int
    narrow_groups: tuple[tuple[int, int], ...]
    wide_groups: tuple[tuple[int, int], ...]


class ReducePlan(NamedTuple):
    """One kernel of the reduce family.

    Attributes
    ----------
    columns : bool
        Whether it is ``reduce_columns``, else ``reduce_rows``.
    group : int
        The threads that share a row; for ``reduce_columns`` the packs of columns of a block.
    rows : int
        The rows that a group reduces at a time; for ``reduce_columns`` the threads that share a column.
    pack, unroll : int
        Elements of an access, accesses that a thread has in flight.
    ragged : bool
        Whether rows may begin or end inside an aligned pack.
    splits : int
        The blocks that share an output.
    kept, reduced : int
        The number of kept and of reduced axes after coalescing.
    index_bits : {32, 64}
    block, blocks : int
        The threads of a block, and the grid.
    tail : bytes
        The bytes of the parameters after the slots and the ending.
    partials : int
        The states that blocks write to memory for the last block to combine.
    """

    columns: bool
    group: int
    rows: int
    pack: int
    unroll: int
    ragged: bool
    splits: int
    kept: int
    reduced: int
    index_bits: int
    block: int
    blocks: int
    tail: bytes
    partials: int


class CoalescedReduction(NamedTuple):
    """The kept and the reduced axes, coalesced, at least one of each, and the strides of the result and of each line.

    A line holds the strides of one input, or of several that share them.
    """

    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    out_kept: Strides
    in_kept: tuple[Strides, ...]
    in_reduced: tuple[Strides, ...]

    @property
    def columns(self) -> bool:
        """Whether the smallest stride of the first line is along a kept axis."""
        along_kept = _last_stride(self.in_kept[0], self.kept)
        return along_kept < _last_stride(self.in_reduced[0], self.reduced)


class Access(NamedTuple):
    """How a kernel reads elements.

    Attributes
    ----------
    item : int
        The bytes of the widest element.
    pack : int
        Elements of an access.
    ragged : bool
        Whether rows may begin or end inside an aligned pack.
    counted : bool
        Whether the kernel counts packs along rows, so that their stride is from pack to pack. Else it counts elements.
    """

    item: int
    pack: int
    ragged: bool = False
    counted: bool = True


def plan_reduce(x: Layout, axes: tuple[int, ...], out: Strides, policy: ReducePolicy, inputs: int = 1) -> ReducePlan:
    """The plan of reducing `axes` of `x`, which is not empty.

    Parameters
    ----------
    out : tuple of int
        The result's strides along every axis of `x`; 0 along `axes`.
    inputs : {1, 2}
        The number of inputs. If 2, both have the layout `x`, alignment included.
    """
    coalesced = coalesce_reduction(x.shape, axes, out, [x.strides])
    policy = policy._replace(bytes_per_thread=policy.bytes_per_thread // inputs)
    if coalesced.columns:
        return plan_columns(coalesced, Access(x.dtype.itemsize, column_pack(x, coalesced, x.dtype.itemsize)), policy)
    pack, ragged = row_pack(x, coalesced, x.dtype.itemsize, inputs == 1 or x.align >= MAX_PACK_BYTES)
    return plan_rows(coalesced, Access(x.dtype.itemsize, pack, ragged), policy)


def coalesce_reduction(
    shape: tuple[int, ...], axes: tuple[int, ...], out: Strides, lines: list[Strides]
) -> CoalescedReduction:
    """The axes of a reduction of inputs with these lines of strides. The first line decides the order of the axes."""
    keep = [axis for axis in range(len(shape)) if axis not in axes]
    kept, (first, out_kept, *others) = coalesce(
        tuple(shape[axis] for axis in keep),
        [tuple(line[axis] for axis in keep) for line in (lines[0], out, *lines[1:])],
    )
    reduced, in_reduced = coalesce(
        tuple(shape[axis] for axis in axes), [tuple(line[axis] for axis in axes) for line in lines]
    )
    return CoalescedReduction(
        kept or (1,),
        reduced or (1,),
        out_kept or (0,),
        tuple(line or (0,) for line in (first, *others)),
        tuple(line or (0,) for line in in_reduced),
    )


def _last_stride(strides: Strides, shape: tuple[int, ...]) -> float:
    """The stride along the last axis; infinite if the stride is 0 or the length is 1."""
    return abs(strides[-1]) if shape[-1] > 1 and strides[-1] else float("inf")


def plan_rows(coalesced: CoalescedReduction, access: Access, policy: ReducePolicy) -> ReducePlan:
    """The plan of groups of threads that walk rows."""
    item, pack, ragged, counted = access
    outputs, inner = prod(coalesced.kept), coalesced.reduced[-1]
    packs = max(1, inner // pack) * prod(coalesced.reduced[:-1])
    unroll = _unroll(pack, item, policy)
    group, unroll = _group(packs, unroll, pack * item, outputs * WARP >= policy.blocks * policy.block, policy)
    rows = 2 if group == 1 and packs <= 4 else 1
    groups = policy.block // group * rows
    blocks = _ceil_div(outputs, groups)
    splits = 1
    if blocks < policy.blocks // 2 and packs > 2 * policy.block * unroll:
        splits = min(_ceil_div(policy.blocks, outputs), packs // (policy.block * unroll))
    if splits > 1:
        group, rows, blocks = policy.block, 1, outputs * splits
    steps = coalesced._replace(reduced=(*coalesced.reduced[:-1], max(1, inner // pack)))
    if counted:
        steps = steps._replace(in_reduced=tuple((*line[:-1], line[-1] * pack) for line in coalesced.in_reduced))
    bits = _bits(coalesced)
    length = inner if ragged else packs
    chunk = _chunk(packs, splits, policy.block * unroll)
    tail = _tail(steps, outputs, length, chunk, splits, bits)
    return ReducePlan(
        False, group, rows, pack, unroll, ragged, splits, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks, tail, outputs * splits if splits > 1 else 0,
    )  # fmt: skip


def _group(packs: int, unroll: int, width: int, many: bool, policy: ReducePolicy) -> tuple[int, int]:
    """The threads that share a row of `packs` accesses of `width` bytes, and the accesses that each has in flight.

    `many`: one warp for each row fills the GPU."""
    is_narrow = width < MAX_PACK_BYTES // 2
    for most, threads in policy.narrow_groups if is_narrow else policy.wide_groups:
        if packs <= most:
            return threads, min(unroll, 2) if is_narrow else min(unroll, 2, packs)
    warps = many and packs <= 2 * policy.block
    return (WARP if warps else policy.block), unroll


def row_pack(x: Layout, coalesced: CoalescedReduction, item: int, alike: bool) -> tuple[int, bool]:
    """Elements of an access along the rows of `x`, and whether rows may begin or end inside an aligned pack.

    The strides of `x` are the first line. `alike`: aligned packs begin at the same elements in every input.
    """
    inner, widest = coalesced.reduced[-1], MAX_PACK_BYTES // item
    if coalesced.in_reduced[0][-1] != 1 or widest == 1:
        return 1, False
    strides = (*coalesced.in_kept[0], *coalesced.in_reduced[0][:-1])
    pack = min(widest, max(1, x.align // item))
    while pack > 1 and (inner % pack or any(stride % pack for stride in strides)):
        pack //= 2
    if alike and pack < widest and may_be_ragged(coalesced, item):
        return widest, True
    return pack, False


def may_be_ragged(coalesced: CoalescedReduction, item: int) -> bool:
    """Whether rows have one reduced axis and are long enough for aligned packs with single elements at both ends."""
    return len(coalesced.reduced) == 1 and coalesced.reduced[0] >= 16 * (MAX_PACK_BYTES // item)


def column_pack(x: Layout, coalesced: CoalescedReduction, item: int) -> int:
    """Elements of an access across the columns of `x`, whose strides are the first line."""
    inner, pack = coalesced.kept[-1], 1
    if coalesced.in_kept[0][-1] == 1:
        pack = max(1, min(MAX_PACK_BYTES // item, x.align // item))
        while inner % pack or any(stride % pack for stride in (*coalesced.in_kept[0][:-1], *coalesced.in_reduced[0])):
            pack //= 2
    return pack


def plan_columns(coalesced: CoalescedReduction, access: Access, policy: ReducePolicy) -> ReducePlan:
    """The plan of threads that walk down packs of columns."""
    item, pack, *_ = access
    length = prod(coalesced.reduced)
    unroll = min(_unroll(pack, item, policy), _power_of_two(length))
    outputs = prod(coalesced.kept)
    packs = outputs // pack
    rows = min(_power_of_two(max(1, length // unroll) // 2 + 1), 8)  # each has a whole batch of accesses
    columns = min(_power_of_two(packs), policy.block // rows)
    rows = policy.block // columns
    blocks, splits = _ceil_div(packs, columns), 1
    if blocks < policy.blocks // 2 and length > 2 * rows * unroll:
        splits = min(_ceil_div(policy.blocks, blocks), length // (rows * unroll))
    bits = _bits(coalesced)
    chunk = _chunk(length, splits, rows * unroll)
    tail = _tail(coalesced, outputs, length, chunk, splits, bits)
    return ReducePlan(
        True, columns, rows, pack, unroll, False, splits, len(coalesced.kept), len(coalesced.reduced), bits,
        policy.block, blocks * splits, tail, blocks * splits * columns * pack if splits > 1 else 0,
    )  # fmt: skip


def _unroll(pack: int, item: int, policy: ReducePolicy) -> int:
    wanted = min(policy.bytes_per_thread // (pack * item), policy.elements_per_thread // pack)
    return max(1, min(8, _power_of_two(wanted)))


def _chunk(steps: int, splits: int, unit: int) -> int:
    """The steps of a split: a multiple of `unit`, so that only the last split is not full."""
    return _ceil_div(_ceil_div(steps, splits), unit) * unit


def _ceil_div(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _power_of_two(count: int) -> int:
    """The smallest power of two that is at least `count`."""
    return 1 << max(0, count - 1).bit_length()


def _bits(coalesced: CoalescedReduction) -> int:
    shape = coalesced.kept + coalesced.reduced
    lines = [kept + reduced for kept, reduced in zip(coalesced.in_kept, coalesced.in_reduced, strict=True)]
    return index_bits(prod(shape), lines, shape)


def _tail(coalesced: CoalescedReduction, outputs: int, length: int, chunk: int, splits: int, bits: int) -> bytes:
    """The bytes of ``ReduceParams`` after the ending."""
    tail = struct.pack("<QQQ", outputs, length, chunk) + pack_divmod(splits, bits)
    for divisor in (*(coalesced.kept[1:] or (1,)), *(coalesced.reduced[1:] or (1,))):
        tail += pack_divmod(divisor, bits)
    for line in (coalesced.out_kept, *coalesced.in_kept, *coalesced.in_reduced):
        tail += struct.pack(f"<{len(line)}{'i' if bits == 32 else 'q'}", *line)
    return tail
