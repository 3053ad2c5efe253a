"""The softmax plan: which kernel of the family computes it along one axis, and its parameters except addresses."""

from __future__ import annotations

import struct
from math import prod
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.core.powers import power_of_two
from xpops.plan.elementwise import (
    MAX_PACK_BYTES,
    STRIDED,
    Mode,
    coalesce_operands,
    index_bits,
    mode_of,
    pack_tail,
)
from xpops.plan.softmax.parameters import SoftmaxPlan, SoftmaxPolicy, Way
from xpops.plan.staging import StagingPolicy, plan_staging
from xpops.plan.strides.divmod import pack_divmod

WARP = 32


def plan_softmax(
    x: Layout, axis: int, out: Layout, log: bool, width: int, policy: SoftmaxPolicy, staging: StagingPolicy
) -> SoftmaxPlan:
    """The plan for `x`, which is not empty, and `out`, which has its shape and no gaps in memory.

    Reading columns twice is as fast as a cluster that holds them in registers, for the logarithm, because a thread then
    has more to hold than its line, and for half types, because registers hold them as float32. A few columns of half
    types that are read by single elements are an exception.

    Parameters
    ----------
    log : bool
        Whether the kernel computes the logarithm.
    width : int
        Bytes of a number in the dtype of the computation.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> x = layout_of(float32, (64, 16384), None, Device("cuda"))
    >>> from xpops.engine.cuda.tuning import softmax_policy, staging_policy
    >>> plan = plan_softmax(x, 1, x, False, 4, softmax_policy(90), staging_policy(90, 132, 227 << 10))
    >>> str(plan.way), str(plan.mode), plan.block, plan.group, plan.cluster, plan.pack, plan.steps
    ('staged', 'kLinear', 256, 256, 2, 4, 1)
    """
    length, inner = x.shape[axis], inner_size(out, axis)
    columns = inner > 1
    held = policy.held_row // width
    access = _access(x, out, inner if columns else length, columns, log, held, policy)
    pack, width_of_pack = access.pack, access.pack * x.dtype.itemsize
    steps, side = (length, inner // pack) if columns else (length if access.tiled else _packs(length, access), 1)
    lines, most = x.size // (length * (pack if columns else 1)), max(1, policy.held_bytes // (pack * width))
    narrow = x.dtype.itemsize < width
    if not columns or log or (narrow and pack > 1):
        policy = policy._replace(shapes=tuple(shape for shape in policy.shapes if shape[1] == 1))
    if columns:
        line = policy.column_line // 2 if narrow else policy.column_line
        across = min(max(1, line // width_of_pack), power_of_two(side))
        share = _share_columns(lines, steps, side, across, most, narrow, policy, staging.multiprocessors)
    elif access.tiled:
        share = _share_tiled(steps, policy)
    else:
        share = _share_rows(lines, steps, width_of_pack, length <= held, most, policy, staging)
    bits, way, count = access.index_bits, share.way, share.group
    tail = access.tail + bytes(-len(access.tail) % 8)
    tail += struct.pack("<4I" if bits == 32 else "<4Q", lines, steps, length, -(-steps // share.splits))
    tail += pack_divmod(share.splits, bits) + pack_divmod(side, bits)
    shifts = log and access.mode is Mode.SHIFTED and pack * width == MAX_PACK_BYTES
    is_full = not access.ragged and lines * count % share.block == 0 and steps == count * share.cluster * share.steps
    return SoftmaxPlan(
        way=way,
        mode=access.mode,
        columns=columns,
        ragged=access.ragged,
        block=share.block,
        group=count,
        cluster=share.cluster,
        pack=pack,
        steps=share.steps,
        rank=access.rank,
        index_bits=bits,
        blocks=-(-lines * count // share.block) * share.splits,
        gathering=-(-lines // (share.block // WARP)),
        states=3 * lines * share.splits * (pack if columns else 1) if way is Way.SPLIT else 0,
        full=way is Way.HELD and is_full,
        resident=share.resident or _resident(share.block, way, columns and not log, width, shifts, policy),
        shared=_shared(share, steps, width_of_pack, x, out),
        tail=tail,
    )


class _Share(NamedTuple):
    """How threads share lines: see `SoftmaxPlan`. `splits` blocks share a line, in a cluster or not; `resident` is 0 if
    the registers decide.
    """

    way: Way
    block: int
    group: int
    cluster: int
    steps: int
    splits: int
    resident: int = 0


def _share_tiled(length: int, policy: SoftmaxPolicy) -> _Share:
    """How the threads of a block share the short rows that it keeps in shared memory."""
    count = power_of_two(-(-length // policy.tiled_steps))
    return _Share(Way.TILED, policy.block, count, 1, -(-length // count), 1)


def _shared(share: _Share, steps: int, width: int, x: Layout, out: Layout) -> int:
    """The bytes of shared memory of a block: its part of a row in packs of `width` bytes, or its short rows.

    Results of short rows overwrite the elements if both have the same width.
    """
    if share.way is Way.STAGED:
        return -(-steps // share.splits) * width
    items = {x.dtype.itemsize, out.dtype.itemsize}
    return share.block // share.group * steps * sum(items) if share.way is Way.TILED else 0


def _share_rows(
    lines: int, steps: int, width: int, is_short: bool, most: int, policy: SoftmaxPolicy, staging: StagingPolicy
) -> _Share:
    """How threads share rows of `steps` packs of `width` bytes. A short row fits in registers."""
    block, count, held = _threads(steps, 1, most, policy)
    staged = plan_staging(steps, width, lines, staging)
    if staged and (not is_short or (staged.cluster > 1 and count == block)):
        return _Share(Way.STAGED, staged.block, staged.block, staged.cluster, 1, staged.cluster, staged.resident)
    if held:
        return _Share(Way.HELD, block, count, 1, -(-steps // count), 1)
    return _read_twice(lines, steps, 1, policy.largest_block // 2, most, policy.blocks * staging.multiprocessors)


def _share_columns(
    lines: int,
    steps: int,
    side: int,
    across: int,
    most: int,
    narrow: bool,
    policy: SoftmaxPolicy,
    multiprocessors: int,
) -> _Share:
    """How threads share packs of columns, `across` of them side by side.

    If there are many columns of narrow numbers, it is faster to read them twice than to hold them in a large block or a
    cluster. If there are few, several blocks would share each column, and holding is faster.
    """
    twice = _read_twice(lines, steps, side, policy.block, most, policy.blocks * multiprocessors)
    if narrow and twice.way is Way.LONG:
        policy = policy._replace(shapes=policy.shapes[:1])
    block, count, cluster = _threads(steps, across, most, policy)
    if not cluster:
        return twice
    if cluster == 1:
        wanted = policy.column_steps if across > 1 else policy.column_steps // 2
        count = max(count, min(power_of_two(-(-steps // wanted)), max(1, block // across)))
    most = min(count, 2 * steps // (count * most))
    cluster = _fill(cluster, -(-lines * count // block), most, multiprocessors, policy)
    return _Share(Way.HELD, block, count, cluster, -(-steps // (count * cluster)), cluster)


def _read_twice(lines: int, steps: int, side: int, block: int, most: int, wanted: int) -> _Share:
    """How threads share lines that nothing can hold. `wanted` blocks should be resident."""
    held, count = max(1, most // 2), block // min(power_of_two(side), 32)
    blocks = -(-lines * count // block)
    splits = max(1, min(-(-wanted // blocks), steps // (count * held))) if 2 * blocks < wanted else 1
    return _Share(Way.SPLIT if splits > 1 else Way.LONG, block, count, 1, held, splits)


def follows(x: Layout, out: Layout) -> bool:
    """Whether elements that are neighbours in `out` are those of `x` that are closest in memory.

    If not, it is faster to copy `x` first: the kernel that copies transposes tiles.
    """
    _, _, (_, strides) = coalesce_operands(out, (x,))
    return not any(strides) or abs(strides[-1]) <= min(abs(stride) for stride in strides if stride)


def inner_size(x: Layout, axis: int) -> int:
    """The stride along `axis` of a layout without gaps; 1 if the axis has one element."""
    inside = [length for length, stride in zip(x.shape, x.strides, strict=True) if stride < x.strides[axis]]
    return prod(inside) if x.shape[axis] > 1 else 1


class _Access(NamedTuple):
    """How the operand is read: see `SoftmaxPlan`. `tail` has the bytes of ``ElementwiseParams`` after the slots.

    tiled: whether a pack may hold elements of several rows.
    """

    mode: Mode
    pack: int
    ragged: bool
    tiled: bool
    rank: int
    index_bits: int
    tail: bytes


def _access(
    x: Layout, out: Layout, closest: int, columns: bool, log: bool, held: int, policy: SoftmaxPolicy
) -> _Access:
    """The access, if runs of `closest` elements of the result belong together. Threads hold rows of `held` elements."""
    _, shape, (order, strides) = coalesce_operands(out, (x,))
    widest = MAX_PACK_BYTES // x.dtype.itemsize
    widest = min(widest, policy.column_pack) if columns else widest
    pack = min(closest & -closest, widest)
    ragged = not columns and pack < widest and closest >= policy.ragged_packs * widest
    is_odd = x.dtype.itemsize == 4 and pack == 1 and (log or closest >= policy.ragged_row)
    ragged = ragged and (x.dtype.itemsize <= policy.ragged_bytes or is_odd or closest > held)
    pack = widest if ragged else pack
    mode = mode_of(shape, strides, x, order, pack)
    if mode is Mode.GATHER:
        pack, ragged = 1, False
        mode = mode_of(shape, strides, x, order, pack)
    tiled = not columns and x.dtype.itemsize <= policy.ragged_bytes and pack != closest <= policy.tiled_row
    tiled = tiled and mode_of(shape, strides, x, order, 1) is Mode.LINEAR
    if tiled:
        pack, mode = widest, mode_of(shape, strides, x, order, widest)
    strided = mode in STRIDED
    bits = index_bits(out.size, [order, strides], shape)
    tail = pack_tail(out.size, shape[1:] if strided else (), [strides] if strided else [], bits)
    return _Access(mode, pack, ragged, tiled, len(shape) if strided else 0, bits, tail)


def _packs(length: int, access: _Access) -> int:
    """The most packs of a row."""
    return -(-(length + (access.pack - 1) * access.ragged) // access.pack)


def _threads(steps: int, across: int, most: int, policy: SoftmaxPolicy) -> tuple[int, int, int]:
    """Threads of a block, threads of a block that share a line, and blocks of a cluster that share it: the fewest that
    hold all its steps. Zeros if none do. `across` lines are side by side.

    A thread of a short row takes half of the steps that it can hold, or `spread_steps`, so that more threads share the
    row.
    """
    largest, _ = policy.shapes[0]
    count = power_of_two(-(-steps // most))
    if across == 1:
        lanes = min(power_of_two(steps), policy.lanes if steps < policy.lanes_steps else 2 * policy.lanes)
        spread = max(power_of_two(-(-steps // max(1, min(most // 2, policy.spread_steps)))), lanes)
        idle = spread >= 64 and -steps % spread > spread // 2
        count = count if spread > largest or idle else spread
    if count * across <= largest:
        return max(policy.block, count * across), count, 1
    for block, cluster in policy.shapes:
        if block // across * cluster * most >= steps:
            return block, block // across, cluster
    return 0, 0, 0


def _fill(cluster: int, blocks: int, most: int, multiprocessors: int, policy: SoftmaxPolicy) -> int:
    """The blocks that share a line of `blocks` clusters, at most `most`: more than `cluster` if that leaves
    multiprocessors without a block.
    """
    most = min(most, policy.shapes[-1][1])
    while 2 * cluster <= most and 2 * cluster * blocks <= multiprocessors:
        cluster *= 2
    return cluster


def _resident(block: int, way: Way, plain_columns: bool, width: int, shifts: bool, policy: SoftmaxPolicy) -> int:
    """The blocks that must be resident. They leave a thread enough registers to hold its part of a line.

    A thread that reads its part twice, or has a part of columns, holds less. Then small blocks for narrow numbers are
    all resident at once. Logarithms need more registers, and most if a thread `shifts` whole packs before.
    """
    if 2 * block > policy.largest_block or (way is Way.HELD and 2 * block == policy.largest_block and shifts):
        return 1
    if way is Way.HELD:
        return policy.largest_block // block if plain_columns else policy.resident
    return max(policy.resident, policy.resident * policy.largest_block * 2 // (block * width))
