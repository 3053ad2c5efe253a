"""The tuning numbers of the reduce family, how kernels read elements, and a kernel's parameters except addresses."""

from __future__ import annotations

import struct
from math import prod
from typing import Literal, NamedTuple

from xpops.core.powers import power_of_two
from xpops.plan.elementwise import index_bits
from xpops.plan.reduce.coalesce import CoalescedReduction
from xpops.plan.strides.divmod import pack_divmod


class ReducePolicy(NamedTuple):
    """Tuning numbers of the reduce family.

    Attributes
    ----------
    block : int
        Threads of a block.
    resident : int
        Blocks that a multiprocessor is to hold.
    shifted_resident : int
        The same for kernels that walk down unaligned packs: shifting them takes registers.
    bytes_per_thread : int
        Bytes that a thread has in flight.
    elements_per_thread : int
        The most elements that a thread has in flight: each adds code.
    whole : int
        One thread loads a whole row or column at once if that takes at most so many accesses.
    large_operands : int
        With more large operands than this, a thread has fewer bytes of each in flight.
    narrow_groups, wide_groups : tuple of (int, int)
        The threads that share a short row, by the most accesses of such a row: for accesses of less than 8 bytes, and
        for wider ones. A warp or a block walks longer rows.
    tile_bytes : int
        The bytes of the rows that a block copies to shared memory: more, if threads were idle otherwise.
    multiprocessors : int
        Those of the GPU.
    """

    block: int
    resident: int
    shifted_resident: int
    bytes_per_thread: int
    elements_per_thread: int
    whole: int
    large_operands: int
    narrow_groups: tuple[tuple[int, int], ...]
    wide_groups: tuple[tuple[int, int], ...]
    tile_bytes: int
    multiprocessors: int = 1

    @property
    def blocks(self) -> int:
        """The blocks that keep the GPU busy. If a kernel has less than half as many, several may share an output."""
        return self.resident * self.multiprocessors


class ReducePlan(NamedTuple):
    """One kernel of the reduce family.

    Attributes
    ----------
    kernel : {"rows", "columns", "tiles", "short"}
        ``reduce_rows``, ``reduce_columns``, ``reduce_tiles`` or ``reduce_short``.
    group : int
        The threads that share a row; for ``reduce_columns`` the packs of columns of a block; for ``reduce_short`` the
        elements of a row, of which a thread has several.
    rows : int
        The rows that a group reduces at a time; for ``reduce_columns`` the threads that share a column; for
        ``reduce_tiles`` the bytes of the rows of a block.
    beside : int
        For ``reduce_columns``: the packs of neighbouring threads that read the same row. After them come the threads
        that read other rows of these packs, and after these the other packs of the block.
    fold : int
        For ``reduce_columns``: the rows of a step, which are whole packs together.
    pack, unroll : int
        Elements of an access, accesses that a thread has in flight.
    ragged : bool
        Whether rows may begin or end inside an aligned pack.
    aligned : bool
        Whether every pack is aligned.
    splits : int
        The blocks that share an output.
    whole : bool
        Whether a thread loads all elements of its outputs at once: `unroll` accesses for each.
    kept, reduced : int
        The number of kept and of reduced axes after coalescing.
    index_bits : {32, 64}
    block, blocks : int
        The threads of a block, and the grid.
    resident : int
        The blocks of a multiprocessor that the kernel's registers must allow; 0: any number.
    tail : bytes
        The bytes of the parameters after the slots and the ending.
    partials : int
        The states that blocks write to memory for the last block to combine.
    """

    kernel: Literal["rows", "columns", "tiles", "short"]
    group: int
    rows: int
    beside: int
    fold: int
    pack: int
    unroll: int
    ragged: bool
    aligned: bool
    splits: int
    whole: bool
    kept: int
    reduced: int
    index_bits: int
    block: int
    blocks: int
    resident: int
    tail: bytes
    partials: int


class Access(NamedTuple):
    """How a kernel reads elements.

    Attributes
    ----------
    item : int
        The bytes of the widest element.
    pack : int
        Elements of an access.
    ragged, aligned : bool
        As in `ReducePlan`.
    counted : bool
        Whether the kernel counts packs along rows, so that their stride is from pack to pack. Else it counts elements.
    """

    item: int
    pack: int
    ragged: bool = False
    aligned: bool = True
    counted: bool = True


def unroll_of(pack: int, item: int, policy: ReducePolicy) -> int:
    wanted = min(policy.bytes_per_thread // (pack * item), policy.elements_per_thread // pack)
    return max(1, min(8, power_of_two(wanted)))


def is_whole(steps: int, pack: int, item: int, policy: ReducePolicy) -> bool:
    """Whether a thread that has a row or column of `steps` accesses for itself loads it at once."""
    return steps <= policy.whole and steps * pack * item <= 2 * policy.bytes_per_thread


def chunk_of(steps: int, splits: int, unit: int) -> int:
    """The steps of a split: a multiple of `unit`, so that only the last split is not full."""
    return ceil_div(ceil_div(steps, splits), unit) * unit


def ceil_div(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def bits_of(coalesced: CoalescedReduction) -> int:
    shape = coalesced.kept + coalesced.reduced
    lines = [kept + reduced for kept, reduced in zip(coalesced.in_kept, coalesced.in_reduced, strict=True)]
    return index_bits(prod(shape), lines, shape)


def tail_of(
    coalesced: CoalescedReduction,
    outputs: int,
    length: int,
    chunk: int,
    splits: int,
    bits: int,
    last: int = 0,
    left: int = 0,
) -> bytes:
    """The bytes of ``ReduceParams`` after the ending."""
    tail = struct.pack("<QQQII" if bits == 32 else "<5Q", outputs, length, chunk, last, left)
    tail += pack_divmod(splits, bits)
    for divisor in (*(coalesced.kept[1:] or (1,)), *(coalesced.reduced[1:] or (1,))):
        tail += pack_divmod(divisor, bits)
    for line in (coalesced.out_kept, *coalesced.in_kept, *coalesced.in_reduced):
        tail += struct.pack(f"<{len(line)}{'i' if bits == 32 else 'q'}", *line)
    return tail
