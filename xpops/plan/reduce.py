"""The reduce plan: which kernel of the family reduces a layout, and its parameters but for addresses."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.coalesce import Strides, coalesce
from xpops.plan.divmod import pack_divmod
from xpops.plan.elementwise import MAX_PACK_BYTES, index_bits

WARP = 32


class ReducePolicy(NamedTuple):
    """Tuning numbers of the reduce family.

    Attributes
    ----------
    block : int
        Threads of a block.
    blocks : int
        The blocks that keep the GPU busy: fewer rows or columns than that are split.
    bytes_per_thread : int
        What a thread has under way at a time.
    elements_per_thread : int
        The most elements of a thread under way: each is code.
    """

    block: int = 256
    blocks: int = 528
    bytes_per_thread: int = 64
    elements_per_thread: int = 32


class ReducePlan(NamedTuple):
    """One kernel of the reduce family.

    Attributes
    ----------
    columns : bool
        Whether it is ``reduce_columns``, else ``reduce_rows``.
    group : int
        The threads that share a row, or the packs of columns of a block.
    rows : int
        The rows that a group reduces at a time, or the threads that share a column.
    pack, unroll : int
        Elements of an access, accesses of a thread under way.
    ragged : bool
        Whether rows begin or end between packs.
    splits : int
        The blocks that share an output.
    kept, reduced : int
        Axes left of either kind.
    index_bits : {32, 64}
    block, blocks : int
        The threads of a block, and the grid.
    tail : bytes
        What follows the slots and the ending.
    partials : int
        The states that blocks leave for the last one.
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


class _Walk(NamedTuple):
    """The axes of both kinds, coalesced, at least one of each; strides in elements."""

    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    in_kept: Strides
    out_kept: Strides
    in_reduced: Strides


def plan_reduce(x: Layout, axes: tuple[int, ...], out: Strides, policy: ReducePolicy, inputs: int = 1) -> ReducePlan:
    """The plan of reducing `axes` of `x`, which is not empty.

    Parameters
    ----------
    out : tuple of int
        The result's strides along every axis of `x`; 0 along `axes`.
    inputs : {1, 2}
        Two lie as `x` does, each at an address of that alignment.
    """
    walk = _walk(x, axes, out)
    policy = policy._replace(bytes_per_thread=policy.bytes_per_thread // inputs)
    along_reduced = _closeness(walk.in_reduced, walk.reduced)
    columns = _closeness(walk.in_kept, walk.kept) < along_reduced
    if columns:
        return _plan_columns(x, walk, policy)
    return _plan_rows(x, walk, policy, inputs == 1 or x.align >= MAX_PACK_BYTES)


def _walk(x: Layout, axes: tuple[int, ...], out: Strides) -> _Walk:
    keep = [axis for axis in range(x.ndim) if axis not in axes]
    kept, (in_kept, out_kept) = coalesce(
        tuple(x.shape[axis] for axis in keep),
        [tuple(x.strides[axis] for axis in keep), tuple(out[axis] for axis in keep)],
    )
    reduced, (in_reduced,) = coalesce(tuple(x.shape[axis] for axis in axes), [tuple(x.strides[axis] for axis in axes)])
    return _Walk(kept or (1,), reduced or (1,), in_kept or (0,), out_kept or (0,), in_reduced or (0,))


def _closeness(strides: Strides, shape: tuple[int, ...]) -> float:
    """The distance between neighbours along the last axis; infinite where there is but one element."""
    return abs(strides[-1]) if shape[-1] > 1 and strides[-1] else float("inf")


def _plan_rows(x: Layout, walk: _Walk, policy: ReducePolicy, alike: bool) -> ReducePlan:
    """`alike`: whether packs begin at the same elements in every input."""
    outputs, inner = prod(walk.kept), walk.reduced[-1]
    pack, ragged = _row_pack(x, walk, alike)
    packs = max(1, inner // pack) * prod(walk.reduced[:-1])
    unroll = _unroll(pack, x.dtype.itemsize, policy)
    group, unroll = _group(
        packs, unroll, pack * x.dtype.itemsize, outputs * WARP >= policy.blocks * policy.block, policy
    )
    rows = 2 if group == 1 and packs <= 4 else 1
    groups = policy.block // group * rows
    blocks = _ceil_div(outputs, groups)
    splits = 1
    if blocks < policy.blocks // 2 and packs > 2 * policy.block * unroll:
        splits = min(_ceil_div(policy.blocks, outputs), packs // (policy.block * unroll))
    if splits > 1:
        group, rows, blocks = policy.block, 1, outputs * splits
    steps = walk._replace(
        reduced=(*walk.reduced[:-1], max(1, inner // pack)),
        in_reduced=(*walk.in_reduced[:-1], walk.in_reduced[-1] * pack),
    )
    bits = _bits(x, walk)
    length = inner if ragged else packs
    chunk = _chunk(packs, splits, policy.block * unroll)
    tail = _tail(steps, outputs, length, chunk, splits, bits)
    return ReducePlan(
        False, group, rows, pack, unroll, ragged, splits, len(walk.kept), len(walk.reduced), bits, policy.block, blocks,
        tail, outputs * splits if splits > 1 else 0,
    )  # fmt: skip


def _group(packs: int, unroll: int, width: int, many: bool, policy: ReducePolicy) -> tuple[int, int]:
    """The threads that share a row of `packs` accesses of `width` bytes, and the accesses of each under way.

    Short rows were measured on one H200 in 2026-11: 3 to 255 float32, 1 to 32 threads, 1 to 4 accesses.
    """
    if packs > 64:
        warps = many and packs <= 2 * policy.block
        return (WARP if warps else policy.block), unroll
    if width < MAX_PACK_BYTES // 2:
        return (1 if packs <= 24 else 2 if packs <= 32 else 4), min(unroll, 2)
    return (1 if packs <= 4 else 4 if packs < 32 else 8), min(unroll, 2, packs)


def _row_pack(x: Layout, walk: _Walk, alike: bool) -> tuple[int, bool]:
    """Elements of an access, and whether rows begin or end between accesses."""
    item, inner = x.dtype.itemsize, walk.reduced[-1]
    widest = MAX_PACK_BYTES // item
    if walk.in_reduced[-1] != 1 or widest == 1:
        return 1, False
    strides = (*walk.in_kept, *walk.in_reduced[:-1])
    pack = min(widest, max(1, x.align // item))
    while pack > 1 and (inner % pack or any(stride % pack for stride in strides)):
        pack //= 2
    if alike and pack * 4 <= widest * 2 and len(walk.reduced) == 1 and inner >= 16 * widest:
        return widest, True
    return pack, False


def _plan_columns(x: Layout, walk: _Walk, policy: ReducePolicy) -> ReducePlan:
    item, inner = x.dtype.itemsize, walk.kept[-1]
    pack = 1
    if walk.in_kept[-1] == 1:
        pack = max(1, min(MAX_PACK_BYTES // item, x.align // item))
        while inner % pack or any(stride % pack for stride in (*walk.in_kept[:-1], *walk.in_reduced)):
            pack //= 2
    length = prod(walk.reduced)
    unroll = min(_unroll(pack, item, policy), _power_of_two(length))
    outputs = prod(walk.kept)
    packs = outputs // pack
    rows = min(_power_of_two(max(1, length // unroll) // 2 + 1), 8)  # each has whole batches of accesses
    columns = min(_power_of_two(packs), policy.block // rows)
    rows = policy.block // columns
    blocks, splits = _ceil_div(packs, columns), 1
    if blocks < policy.blocks // 2 and length > 2 * rows * unroll:
        splits = min(_ceil_div(policy.blocks, blocks), length // (rows * unroll))
    bits = _bits(x, walk)
    chunk = _chunk(length, splits, rows * unroll)
    tail = _tail(walk, outputs, length, chunk, splits, bits)
    return ReducePlan(
        True, columns, rows, pack, unroll, False, splits, len(walk.kept), len(walk.reduced), bits, policy.block,
        blocks * splits, tail, blocks * splits * columns * pack if splits > 1 else 0,
    )  # fmt: skip


def _unroll(pack: int, item: int, policy: ReducePolicy) -> int:
    wanted = min(policy.bytes_per_thread // (pack * item), policy.elements_per_thread // pack)
    return max(1, min(8, _power_of_two(wanted)))


def _chunk(steps: int, splits: int, unit: int) -> int:
    """The steps of a split: whole units, so that all but the last are full."""
    return _ceil_div(_ceil_div(steps, splits), unit) * unit


def _ceil_div(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _power_of_two(count: int) -> int:
    """The least power of two not under `count`."""
    return 1 << max(0, count - 1).bit_length()


def _bits(x: Layout, walk: _Walk) -> int:
    shape = walk.kept + walk.reduced
    return index_bits(max(x.size, prod(shape)), [walk.in_kept + walk.in_reduced], shape)


def _tail(walk: _Walk, outputs: int, length: int, chunk: int, splits: int, bits: int) -> bytes:
    """The bytes of ``ReduceParams`` after the ending."""
    tail = struct.pack("<QQQ", outputs, length, chunk) + pack_divmod(splits, bits)
    for divisor in (*(walk.kept[1:] or (1,)), *(walk.reduced[1:] or (1,))):
        tail += pack_divmod(divisor, bits)
    for line in (walk.in_kept, walk.out_kept, walk.in_reduced):
        tail += struct.pack(f"<{len(line)}{'i' if bits == 32 else 'q'}", *line)
    return tail
