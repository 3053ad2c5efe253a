"""The tuning numbers of the softmax family, and its plan."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from xpops.plan.elementwise import Mode


class SoftmaxPolicy(NamedTuple):
    """Tuning numbers of the softmax family.

    Attributes
    ----------
    block, largest_block : int
        Threads of a block, and the most of them.
    shapes : tuple of (int, int)
        The threads of a block and the blocks of a cluster that hold longer lines, shortest first. Rows are held by
        single blocks only.
    held_bytes, held_row : int
        Bytes of float32 or float64 numbers that a thread holds, and that the threads of a row hold.
    spread_steps : int
        The most steps that a thread takes of a row that more threads could share.
    lanes, lanes_steps : int
        The fewest threads that share a row, unless it has fewer steps; twice as many from so many steps on.
    column_pack, column_line : int
        The most elements of a pack of columns, and the bytes that a block of columns reads side by side, if there are
        so many; half as many bytes of half types. With narrow packs more of a column is in one thread, and less is
        exchanged.
    column_steps : int
        The steps of a column that a thread takes, if a block has as many threads; half as many if a pack has all
        neighbouring columns.
    ragged_bytes, ragged_packs, ragged_row : int
        Rows of elements of at most so many bytes, and of at least so many packs, are read in whole packs, whatever
        their length. So are rows of float32 of odd length, if they have at least `ragged_row` elements, or for the
        logarithm.
    tiled_row, tiled_steps : int
        Contiguous rows of at most `tiled_row` such elements go through shared memory, unless one access loads a row. A
        thread holds at most `tiled_steps` elements of a row.
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
    held_row: int
    spread_steps: int
    lanes: int
    lanes_steps: int
    column_pack: int
    column_line: int
    column_steps: int
    ragged_bytes: int
    ragged_packs: int
    ragged_row: int
    tiled_row: int
    tiled_steps: int
    blocks: int
    resident: int


class Way(StrEnum):
    """The kernel of ``native/xpops/kernels/softmax``."""

    HELD = "held"
    TILED = "tiled"
    STAGED = "staged"
    LONG = "long_lines"
    SPLIT = "leave"


class SoftmaxPlan(NamedTuple):
    """One kernel of the family; for `Way.SPLIT` the first of two.

    Attributes
    ----------
    way : Way
    mode : Mode
        How the operand is read.
    columns : bool
        Whether adjacent elements belong to different lines.
    ragged : bool
        Whether packs are aligned but rows are not.
    block, group, cluster : int
        Threads of a block, the threads of a block that share a line, and the blocks of a cluster, which share it, too.
    pack, steps : int
        Elements of an access, accesses that a thread has in flight.
    rank : int
        The number of axes after coalescing; 0 if the operand needs no coordinates.
    index_bits : {32, 64}
    blocks : int
        The grid.
    states : int
        Numbers that blocks write to memory for the next kernels; 0 if there are none.
    gathering : int
        The blocks of the kernel that combines the states of columns, a warp for each pack of them.
    full : bool
        Whether every thread holds part of a line, and none of its steps is out of range.
    resident : int
        The blocks that must be resident on a multiprocessor.
    shared : int
        The bytes of shared memory in which a block keeps its part of a row, or its rows.
    tail : bytes
        The bytes of the parameters after the slots.
    """

    way: Way
    mode: Mode
    columns: bool
    ragged: bool
    block: int
    group: int
    cluster: int
    pack: int
    steps: int
    rank: int
    index_bits: int
    blocks: int
    states: int
    gathering: int
    full: bool
    resident: int
    shared: int
    tail: bytes

    @property
    def kernels(self) -> dict[str, int]:
        """The kernels in their order, and their grids."""
        if self.way is not Way.SPLIT:
            return {str(self.way): self.blocks}
        gathered = {"gather_states": self.gathering} if self.columns else {}
        return {str(self.way): self.blocks, **gathered, "from_states": self.blocks}
