"""The plans of reducing elements into places given by indices: by atomic additions, or after sorting the places."""

from __future__ import annotations

import struct
from math import prod
from typing import Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES, index_bits
from xpops.plan.strides.coalesce import Strides, coalesce
from xpops.plan.strides.divmod import pack_divmod


class ScatterPolicy(NamedTuple):
    """Tuning numbers of the scatter family.

    Attributes
    ----------
    block : int
        Threads of a block.
    unroll : int
        Packs of the source that a thread has in flight.
    blocks : int
        Blocks for each multiprocessor if blocks first add in shared memory.
    shared : int
        Bytes of shared memory for these sums.
    least_slots : int
        Shared memory has sums for at least this many places, so that few different kernels are needed.
    crowded : int
        With at least this many sources for each place, a block first adds in shared memory, if the sums fit there.
    lanes : int
        Threads that share the sources of one place, if rows are short and places have many sources.
    chunk : int
        Consecutive sorted sources that are reduced to one state beforehand, if all have the same place.
    """

    block: int
    unroll: int
    blocks: int
    shared: int
    least_slots: int
    crowded: int
    lanes: int
    chunk: int


class Placement(NamedTuple):
    """The parameters from which a kernel computes the index and the place of each pack of a dense source.

    Attributes
    ----------
    pack : int
        Elements that share an index and are adjacent at their place, too.
    size : int
        The number of packs.
    rank : int
    index_bits : {32, 64}
    step : int
        Elements from one place along the indexed axis to the next.
    tail : bytes
        Divisors and strides.
    """

    pack: int
    size: int
    rank: int
    index_bits: int
    step: int
    tail: bytes


def plan_placement(shape: tuple[int, ...], out: Strides, index: Strides, step: int, widest: int) -> Placement:
    """The placement of elements in `shape`, none of whose lengths is 0.

    Parameters
    ----------
    out, index : tuple of int
        The strides of places, 0 along the indexed axis, and the strides of the index.
    step : int
        The stride of places along the indexed axis.
    widest : int
        The most elements of a pack.

    Examples
    --------
    >>> plan_placement((100, 64), (0, 1), (1, 0), 64, 4)[:4]
    (4, 1600, 2, 32)
    """
    merged, lines = coalesce(shape, [contiguous_strides(shape), out, index])
    lines = lines[1:]
    if not merged:
        merged, lines = (1,), [(0,), (0,)]
    pack = widest if (lines[0][-1], lines[1][-1]) == (1, 0) else 1
    while any(number % pack for number in (merged[-1], step, *lines[0][:-1])):
        pack //= 2
    if pack > 1:
        merged = (*merged[:-1], merged[-1] // pack)
        lines[0] = (*lines[0][:-1], pack)
    size = prod(merged)
    bits = index_bits(size, lines, merged)
    tail = b"".join(pack_divmod(length, bits) for length in merged[1:] or (1,))
    for line in lines:
        tail += struct.pack(f"<{len(line)}{'i' if bits == 32 else 'q'}", *line)
    return Placement(pack, size, len(merged), bits, step, tail)


class Segments(NamedTuple):
    """A reduction of `sources` rows of `inner` elements into `targets` rows, in each of `outer` groups.

    Attributes
    ----------
    outer, sources, inner, targets : int
    keys : Placement
        The placement of the rows.
    """

    outer: int
    sources: int
    inner: int
    targets: int
    keys: Placement

    @property
    def key(self) -> DType:
        """The dtype of a target's number. It also holds `targets`, the key of a row without a target."""
        return next(each for each, most in _KEYS if self.targets < most)

    @property
    def position(self) -> DType:
        """The dtype of a source row's number."""
        return dt.int32 if self.sources < INDEX_LIMIT else dt.int64


_KEYS = ((dt.uint16, 2**16), (dt.uint32, 2**32), (dt.uint64, 2**64))


def plan_segments(out: Layout, axis: int, index: Layout) -> Segments:
    """The segments of sources with the shape of `index`, which is not empty.

    If the index has stride 0 along all other axes, and their lengths in `out`, whole rows go to one target. Otherwise
    every element is a row.

    Examples
    --------
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.layouts import layout_of
    >>> out = layout_of(dt.float32, (2, 10, 4), None, CPU)
    >>> plan_segments(out, 1, layout_of(dt.int64, (2, 7, 4), (0, 1, 0), CPU))[:4]
    (2, 7, 4, 10)
    >>> plan_segments(out, 1, layout_of(dt.int64, (2, 7, 4), None, CPU))[:4]
    (1, 56, 1, 80)
    """
    others = [each for each in range(out.ndim) if each != axis]
    if all(index.strides[each] == 0 and index.shape[each] == out.shape[each] for each in others):
        keys = plan_placement((index.shape[axis],), (0,), (index.strides[axis],), 1, 1)
        return Segments(prod(out.shape[:axis]), index.shape[axis], prod(out.shape[axis + 1 :]), out.shape[axis], keys)
    return Segments(1, index.size, 1, out.size, plan_placement(index.shape, *target_strides(out, axis, index), 1))


def target_strides(out: Layout, axis: int, index: Layout) -> tuple[Strides, Strides, int]:
    """The strides of places in a C-contiguous `out`, of the index, and the stride of places along `axis`."""
    strides = contiguous_strides(out.shape)
    return (*strides[:axis], 0, *strides[axis + 1 :]), index.strides, strides[axis]


def widest_pack(dtype: DType, align: int) -> int:
    """The most elements of a pack."""
    return max(min(align, MAX_PACK_BYTES) // dtype.itemsize, 1)


def require_targets(indices: Any, length: int, name: str) -> None:
    """Refuse an ndarray of indices if one is negative, or out of range for an axis of `length`.

    Raises
    ------
    IndexError
    """
    wrong = indices[(indices < 0) | (indices >= length)]
    if wrong.size:
        raise IndexError(f"{name} holds {wrong[0]}; accepted: 0 to {length - 1}")
