"""The plan of searching a sorted array: whether by a tree, and of how many levels."""

from __future__ import annotations

from typing import NamedTuple


class SearchPolicy(NamedTuple):
    """Tuning numbers of binary searches.

    Attributes
    ----------
    block, blocks : int
        Threads of a block, and the blocks that a multiprocessor shall hold at a time, which limits their registers.
    bytes : int
        The values that a thread searches for at a time, where there are enough for all threads.
    fan_bits : int
        The logarithm of how many neighbours a node has.
    top_bytes : int
        What the uppermost level may take of a block's shared memory.
    least : int
        Fewer searches do without shared memory, whose loading would be most of the work.
    share : int
        So many elements are searched without a tree if there is only one search for all of them: building reads each.
    """

    block: int = 256
    blocks: int = 4
    bytes: int = 16
    fan_bits: int = 3
    top_bytes: int = 16 << 10
    least: int = 1 << 14
    share: int = 32


class SearchPlan(NamedTuple):
    """How searches are done.

    Attributes
    ----------
    top : int
        The most entries that a block has room for in shared memory; 0 where searches halve the array in memory.
    levels : int
        The levels above the array; 0 if there is no tree.
    entries : int
        What these have room for together.
    unroll, blocks : int
        Searches of a thread at a time, and the grid.
    """

    top: int
    levels: int
    entries: int
    unroll: int
    blocks: int


def plan_search(length: int, searches: int, itemsize: int, multiprocessors: int, policy: SearchPolicy) -> SearchPlan:
    """The plan of `searches` in a sorted array of `length` values that are computed with in `itemsize` bytes.

    Examples
    --------
    >>> plan_search(2**20, 2**26, 4, 132, SearchPolicy())
    SearchPlan(top=4096, levels=3, entries=149528, unroll=4, blocks=528)
    >>> plan_search(2**20, 100, 4, 132, SearchPolicy())
    SearchPlan(top=0, levels=0, entries=0, unroll=1, blocks=1)
    """
    unroll = (
        max(1, policy.bytes // max(4, itemsize)) if searches > policy.block * policy.blocks * multiprocessors else 1
    )
    blocks = min(-(-searches // (policy.block * unroll)), policy.blocks * multiprocessors)
    top = policy.top_bytes // max(4, itemsize)
    if searches < policy.least or (length > top and searches < length // policy.share):
        return SearchPlan(0, 0, 0, unroll, blocks)
    levels = tree_levels(length, top, policy.fan_bits)
    return SearchPlan(top, len(levels), sum(levels), unroll, blocks)


def tree_levels(length: int, top: int, fan_bits: int) -> list[int]:
    """The entries that each level above an array has room for, upwards: whole nodes, one more than are full.

    Only those of complete groups count, of which the uppermost level has `top` at most.

    Examples
    --------
    >>> tree_levels(100, 16, 3)
    [16]
    >>> tree_levels(1000, 8, 3)
    [128, 16, 8]
    """
    levels = []
    while length > top:
        length >>= fan_bits
        levels.append(((length >> fan_bits) + 1) << fan_bits)
    return levels
