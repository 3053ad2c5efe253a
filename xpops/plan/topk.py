"""The plan of the first elements of sorted rows: a few launches. Each leaves shorter rows for the next."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core.powers import power_of_two
from xpops.plan.elementwise import MAX_PACK_BYTES, MAX_RESIDENT_BLOCKS

# The most elements of a part, so that places in it and sums of places fit 32 bits.
_LONGEST_PART = 1 << 30
# The room for further candidates beside the largest counts. With 12 bytes for each of them and of 4096 results, a block
# needs less than 64 KiB of shared memory, which all GPUs have.
_SPARE = 1024


class TopKPolicy(NamedTuple):
    """Tuning numbers of the first elements of sorted rows.

    Attributes
    ----------
    least_block, streaming_block, largest_block : int
        The threads of a block: at least; for rows that do not fit in its registers; for the parts of such rows that are
        too few to fill the GPU.
    packs, items : int
        The packs that a thread loads at once, and the most elements.
    resident : int
        The threads that must be resident on a multiprocessor.
    least_part : int
        The least elements of a part, if a row has several.
    least_capacity : int
        The least candidates of a block in shared memory, if it has so many elements at once.
    most : int
        The largest count.
    shortest : int
        Shorter rows are sorted whole.
    """

    least_block: int
    streaming_block: int
    largest_block: int
    packs: int
    items: int
    resident: int
    least_part: int
    least_capacity: int
    most: int
    shortest: int


class TopKStage(NamedTuple):
    """One launch: each of `parts` parts of a row of `length` elements gives its first `kept` elements.

    Attributes
    ----------
    rows, length, kept : int
    parts, part : int
        The parts of a row, and the elements of each part but the last.
    block, packs, groups : int
        The threads of a block, the packs that a thread loads at once, and the groups of its elements whose least
        elements give a bound.
    capacity, room : int
        The candidates that shared memory holds, and the elements that are sorted in the end.
    resident : int
        The blocks that must be resident on a multiprocessor.
    """

    rows: int
    length: int
    kept: int
    parts: int
    part: int
    block: int
    packs: int
    groups: int
    capacity: int
    room: int
    resident: int

    @property
    def results(self) -> int:
        """The results of a row: the last part may be shorter than `kept`."""
        last = self.length - (self.parts - 1) * self.part
        return (self.parts - 1) * self.kept + min(self.kept, last)


def plan_topk(
    rows: int, length: int, count: int, itemsize: int, multiprocessors: int, policy: TopKPolicy
) -> list[TopKStage]:
    """The launches that find the first `count` elements of each row, at most ``policy.most``.

    Examples
    --------
    >>> policy = TopKPolicy(128, 512, 1024, 4, 32, 1024, 8192, 1024, 4096, 256)
    >>> [(stage.parts, stage.block) for stage in plan_topk(1, 2**26, 100, 4, 132, policy)]
    [(132, 1024), (1, 1024)]
    """
    stages = [_plan_stage(rows, length, count, itemsize, multiprocessors, policy)]
    while stages[-1].parts > 1:
        stages.append(_plan_stage(rows, stages[-1].results, count, itemsize, multiprocessors, policy))
    return stages


def _plan_stage(
    rows: int, length: int, count: int, itemsize: int, multiprocessors: int, policy: TopKPolicy
) -> TopKStage:
    pack = MAX_PACK_BYTES // itemsize
    packs = min(policy.packs, policy.items // pack)
    items = packs * pack
    parts = 1
    if length > policy.least_part:
        filling = multiprocessors * max(1, policy.resident // policy.largest_block) // rows
        parts = max(1, min(filling, length // max(policy.least_part, 4 * count)), -(-length // _LONGEST_PART))
    part = -(-length // (parts * pack)) * pack
    parts = -(-length // part)
    streaming = policy.largest_block if parts > 1 or rows < multiprocessors else policy.streaming_block
    fitting = power_of_two(-(-part // items))
    block = max(policy.least_block, fitting if fitting <= policy.largest_block else streaming)
    room = power_of_two(count)
    groups = next((each for each in (1, packs) if each * block >= 2 * count), items)
    capacity = max(block, min(policy.least_capacity, block * items), room + min(room, _SPARE))
    resident = min(max(1, policy.resident // block), MAX_RESIDENT_BLOCKS)
    return TopKStage(rows, length, count, parts, part, block, packs, groups, capacity, room, resident)
