"""The plan of searching a sorted array: with or without a tree, and the levels of the tree."""

from __future__ import annotations

from typing import NamedTuple


class SearchPolicy(NamedTuple):
    """Tuning numbers of binary searches.

    Attributes
    ----------
    block, blocks : int
        Threads of a block, and the blocks that must fit on a multiprocessor at a time; this limits their registers.
    bytes : int
        Bytes of the values that a thread searches for at a time, if there are enough searches for all threads.
    fan_bits : int
        The binary logarithm of the entries of a node.
    top_bytes : int
        Bytes of a block's shared memory for the uppermost level.
    whole_bytes : int
        Bytes of shared memory for an array that fits whole, if every block has at least as many searches as elements to
        load.
    least : int
        With fewer searches, blocks do not use shared memory: loading it would be most of the work.
    share : int
        With less than one search for this many elements, no tree is built: building reads an element of each group.
    builders : int
        The most blocks for each multiprocessor that build a tree.
    """

    block: int
    blocks: int
    bytes: int
    fan_bits: int
    top_bytes: int
    whole_bytes: int
    least: int
    share: int
    builders: int


class SearchPlan(NamedTuple):
    """The kernel that searches, and its tree.

    Attributes
    ----------
    top : int
        The most entries of the uppermost level, which shared memory holds; 0 if searches bisect the
        array in global memory.
    levels : int
        The levels above the array; 0 if there is no tree.
    entries : int
        The entries that all levels together have memory for.
    unroll, blocks : int
        Searches of a thread at a time, and the grid.
    """

    top: int
    levels: int
    entries: int
    unroll: int
    blocks: int


def plan_search(length: int, searches: int, itemsize: int, multiprocessors: int, policy: SearchPolicy) -> SearchPlan:
    """The plan of `searches` in a sorted array of `length` values; compared values have `itemsize` bytes.

    Examples
    --------
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> plan_search(2**20, 2**26, 4, 132, tuning_of(90).search)
    SearchPlan(top=4096, levels=3, entries=149528, unroll=4, blocks=528)
    >>> plan_search(2**20, 100, 4, 132, tuning_of(90).search)
    SearchPlan(top=0, levels=0, entries=0, unroll=1, blocks=1)
    """
    unroll = (
        max(1, policy.bytes // max(4, itemsize)) if searches > policy.block * policy.blocks * multiprocessors else 1
    )
    blocks = min(-(-searches // (policy.block * unroll)), policy.blocks * multiprocessors)
    top, whole = policy.top_bytes // max(4, itemsize), policy.whole_bytes // max(4, itemsize)
    if top < length <= whole and searches >= blocks * length:
        top = whole
    if searches < policy.least or (length > top and searches < length // policy.share):
        return SearchPlan(0, 0, 0, unroll, blocks)
    levels = tree_levels(length, top, policy.fan_bits)
    return SearchPlan(top, len(levels), sum(levels), unroll, blocks)


def tree_levels(length: int, top: int, fan_bits: int) -> list[int]:
    """The entries that each level above an array has memory for, from the lowest level up.

    A level has one entry for each complete group of the level below; the uppermost one has at most `top`. Its memory
    is whole nodes: the full ones and one more.

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
