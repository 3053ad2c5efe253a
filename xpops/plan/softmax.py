"""The softmax plan: which kernel of the family computes it along one axis, and its parameters except addresses."""

from __future__ import annotations

import struct
from enum import StrEnum
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.strides.divmod import pack_divmod


class SoftmaxPolicy(NamedTuple):
    """Tuning numbers of the softmax family.

    Attributes
    ----------
    block, largest_block : int
        Threads of a block, and the most of them.
    shapes : tuple of (int, int)
        The threads of a block and the blocks of a cluster that hold longer lines, shortest first.
    held_bytes : int
        Bytes of float32 or float64 numbers that a thread holds.
    columns : int
        A block of columns has at least this many adjacent packs, if there are so many: accesses then cover cache lines.
    blocks : int
        If there are too few long lines, several blocks share a line: this many blocks for each multiprocessor.
    resident : int
        The blocks that must be resident on a multiprocessor, if a block has at most half of `largest_block` threads;
        this limits the registers of a thread. Otherwise one block must be resident.
    """

    block: int
    largest_block: int
    shapes: tuple[tuple[int, int], ...]
    held_bytes: int
    columns: int
    blocks: int
    resident: int


class Way(StrEnum):
    """The kernel of ``native/xpops/kernels/softmax.cuh``."""

    HELD = "held"
    LONG = "long_lines"
    SPLIT = "leave"


class SoftmaxPlan(NamedTuple):
    """One kernel of the family; for `Way.SPLIT` the first of two.

    Attributes
    ----------
    way : Way
    columns : bool
        Whether adjacent elements belong to different lines.
    block, group, cluster : int
        Threads of a block, the threads of a block that share a line, and the blocks of a cluster, which share it, too.
    pack, steps : int
        Elements of an access, accesses that a thread has in flight.
    index_bits : {32, 64}
    blocks : int
        The grid.
    states : int
        Numbers that blocks write to memory for the second kernel; 0 if there is none.
    full : bool
        Whether every thread holds part of a line, and none of its steps is out of range.
    resident : int
        The blocks that must be resident on a multiprocessor.
    tail : bytes
        The bytes of the parameters after the slots.
    """

    way: Way
    columns: bool
    block: int
    group: int
    cluster: int
    pack: int
    steps: int
    index_bits: int
    blocks: int
    states: int
    full: bool
    resident: int
    tail: bytes


def plan_softmax(x: Layout, axis: int, width: int, multiprocessors: int, policy: SoftmaxPolicy) -> SoftmaxPlan:
    """The plan for `x`, which is not empty and has no gaps in memory.

    Parameters
    ----------
    width : int
        Bytes of a number in the dtype of the computation.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> x = layout_of(float32, (64, 16384), None, Device("cuda"))
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> plan_softmax(x, 1, 4, 132, tuning_of(90).softmax)[:7]
    (<Way.HELD: 'held'>, False, 512, 512, 1, 4, 8)
    """
    length, inner = x.shape[axis], inner_size(x, axis)
    columns = inner > 1
    pack = _pack(x, inner if columns else length)
    steps, side = (length, inner // pack) if columns else (length // pack, 1)
    lines, most = x.size // (steps * pack), max(1, policy.held_bytes // (pack * width))
    block, count, cluster = _threads(steps, side, most, policy)
    if cluster:
        if columns or count == block:
            cluster = _fill(cluster, -(-lines * count // block), min(count, steps // count), multiprocessors, policy)
        way, held, splits = Way.HELD, -(-steps // (count * cluster)), cluster
    else:
        way, held, splits, cluster = Way.LONG, max(1, most // 2), 1, 1
        block = policy.block if columns else policy.largest_block // 2
        count = block // min(_power_of_two(side), 32)
        blocks, wanted = -(-lines * count // block), policy.blocks * multiprocessors
        if 2 * blocks < wanted:
            splits = max(1, min(-(-wanted // blocks), steps // (count * held)))
            way = Way.SPLIT if splits > 1 else way
    bits = 32 if x.size < INDEX_LIMIT else 64
    tail = struct.pack("<3I" if bits == 32 else "<3Q", lines, steps, -(-steps // splits))
    tail += pack_divmod(splits, bits) + pack_divmod(side, bits)
    blocks = -(-lines * count // block) * splits
    states = 3 * lines * splits * (pack if columns else 1) if way is Way.SPLIT else 0
    full = way is Way.HELD and lines * count % block == 0 and steps == count * cluster * held
    resident = policy.resident if 2 * block <= policy.largest_block else 1
    return SoftmaxPlan(way, columns, block, count, cluster, pack, held, bits, blocks, states, full, resident, tail)


def inner_size(x: Layout, axis: int) -> int:
    """The stride along `axis` of a layout without gaps; 1 if the axis has one element."""
    inside = [length for length, stride in zip(x.shape, x.strides, strict=True) if stride < x.strides[axis]]
    return prod(inside) if x.shape[axis] > 1 else 1


def _pack(x: Layout, closest: int) -> int:
    """Elements of an access, if runs of `closest` elements are contiguous."""
    widest = max(1, min(MAX_PACK_BYTES, x.align) // x.dtype.itemsize)
    return min(closest & -closest, 1 << widest.bit_length() - 1)


def _threads(steps: int, side: int, most: int, policy: SoftmaxPolicy) -> tuple[int, int, int]:
    """Threads of a block, threads of a block that share a line, and blocks of a cluster that share it: the fewest that
    hold all its steps. Zeros if none do.

    A thread of a short row takes half of the steps that it can hold, so that more threads share the row.
    """
    (largest, _), width = policy.shapes[0], min(policy.columns, _power_of_two(side))
    count = _power_of_two(-(-steps // most))
    if side == 1:
        spread = max(_power_of_two(-(-steps // max(1, most // 2))), min(_power_of_two(steps), 8))
        count = spread if spread <= largest else count
    if count * width <= largest:
        return max(policy.block, count * width), count, 1
    for block, cluster in policy.shapes:
        if block // width * cluster * most >= steps:
            return block, block // width, cluster
    return 0, 0, 0


def _fill(cluster: int, blocks: int, most: int, multiprocessors: int, policy: SoftmaxPolicy) -> int:
    """The blocks that share a line of `blocks` clusters, at most `most`: more than `cluster` if that leaves
    multiprocessors without a block.
    """
    most = min(most, policy.shapes[-1][1])
    while 2 * cluster <= most and 2 * cluster * blocks <= multiprocessors:
        cluster *= 2
    return cluster


def _power_of_two(count: int) -> int:
    """The smallest power of two that is at least `count`."""
    return 1 << max(0, count - 1).bit_length()
