"""Scatter reductions by segments of sorted targets, on CUDA: plan, glue, kernels, launchers.

A segment is the sources of one place. Within it they are reduced in a fixed order.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.kernels.sort import sort
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.elementwise import INDEX_LIMIT
from xpops.plan.scatter import ScatterPolicy, Segments, plan_segments, widest_pack
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

_REDUCERS = {"sum": "SegmentSum", "mean": "SegmentSum", "prod": "Prod", "min": "Min", "max": "Max"}


class Reduction(NamedTuple):
    """The parameters of the kernels of one reduction by segments.

    Attributes
    ----------
    dtype, named : numpy.dtype
        The dtypes of elements and of the index.
    reduction : str
    include_self : bool
    segments : Segments
    pack : int
        The contiguous elements that a thread reduces at once.
    lanes : int
        The lanes of a warp that share a segment.
    index_bits : {32, 64}
    policy : ScatterPolicy
    """

    dtype: DType
    named: DType
    reduction: str
    include_self: bool
    segments: Segments
    pack: int
    lanes: int
    index_bits: int
    policy: ScatterPolicy

    @property
    def state(self) -> DType:
        """The dtype of the states that are reduced."""
        return dt.float32 if self.dtype in dt.HALVES else self.dtype

    @property
    def packs(self) -> int:
        """The packs of a row."""
        return self.segments.inner // self.pack

    @property
    def chunks(self) -> tuple[int, ...]:
        """The number of chunks of each level, at most two levels. A level with a single chunk is omitted."""
        counts: list[int] = []
        rows = self.segments.sources
        while rows >= 2 * self.policy.chunk and len(counts) < 2:
            rows //= self.policy.chunk
            counts.append(rows)
        return tuple(counts)

    def keys_source(self) -> str:
        """The glue of the kernel that writes the targets as sort keys."""
        keys = self.segments.keys
        types = f"{dt.INFO[self.named].c_type}, {dt.INFO[self.segments.key].c_type}"
        params = f"TargetKeysParams<{keys.rank}, uint{keys.index_bits}>"
        return self._glue(f"target_keys<{types}, {self.policy.unroll}, {self.policy.block}>", params)

    def bounds_source(self) -> str:
        """The glue of the kernel that finds the bounds of segments."""
        types = f"{dt.INFO[self.segments.key].c_type}, {dt.INFO[self.segments.position].c_type}"
        return self._glue(f"segment_bounds<{types}, {self.policy.block}>", "SegmentBoundsParams")

    def chunks_source(self, level: int) -> str:
        """The glue of the kernel that reduces chunks of sources (level 0) or chunks of chunks (level 1)."""
        call = f"segment_chunks<{self._types}, {self._numbers}, {level}, {self.policy.block}>"
        return self._glue(call, f"SegmentParams<uint{self.index_bits}>")

    @property
    def by_heads(self) -> bool:
        """Whether threads find segments by their first sources: if there are no more sources than targets."""
        return self.segments.sources <= self.segments.targets

    def reduce_source(self) -> str:
        """The glue of the kernel that reduces segments."""
        ends = self.by_heads, self.include_self, self.reduction == "mean"
        numbers = f"{self._numbers}, {len(self.chunks)}, {', '.join(map(truth, ends))}, {self.policy.block}"
        return self._glue(f"segment_reduce<{self._types}, {numbers}>", f"SegmentParams<uint{self.index_bits}>")

    def _glue(self, call: str, params: str) -> str:
        return scatter_glue("segments", call, params, self.policy.block)

    @property
    def _types(self) -> str:
        used = self.state, self.dtype, self.segments.key, self.segments.position
        state, *types = (dt.INFO[each].c_type for each in used)
        return ", ".join([f"{_REDUCERS[self.reduction]}<{state}>", *types])

    @property
    def _numbers(self) -> str:
        unroll = self.policy.unroll if self.lanes > 1 else 2 * self.policy.unroll
        return f"{self.pack}, {unroll}, {self.lanes}, {self.policy.chunk}"


def plan_reduction(
    out: Layout, axis: int, index: Layout, source: Layout, reduction: str, include_self: bool, policy: ScatterPolicy
) -> Reduction:
    """Plan a reduction by segments."""
    segments = plan_segments(out, axis, index)
    widest = widest_pack(out.dtype, min(out.align, source.align))
    pack = min(widest, segments.inner & -segments.inner)
    crowded = segments.sources >= policy.lanes // 2 * segments.targets
    lanes = policy.lanes if segments.inner // pack < policy.lanes // 2 and crowded else 1
    rows = segments.outer * max(segments.targets, segments.sources)
    bits = 32 if rows * (segments.inner // pack) < INDEX_LIMIT else 64
    return Reduction(out.dtype, index.dtype, reduction, include_self, segments, pack, lanes, bits, policy)


def reduce_sorted(
    runtime: Runtime,
    out: Layout,
    axis: int,
    index: Layout,
    source: Layout,
    reduction: str,
    include_self: bool,
    range_: bytes,
) -> Kernel:
    """The kernel ``(stream, out, index, source)``; `range_` are the bytes of a ``TargetRange``."""
    policy = tuning_of(runtime.context.capability).scatter
    call = plan_reduction(out, axis, index, source, reduction, include_self, policy)
    segments, keys = call.segments, call.segments.keys
    size, targets = segments.sources, segments.targets
    tail = struct.pack("<QQq", size, targets, keys.step) + range_ + keys.tail
    tiles = -(-size // (policy.block * policy.unroll))
    write_keys = runtime.launcher("scatter keys", call.keys_source(), tiles, policy.block, "QQ", tail)
    key_layout, order_layout = (
        layout_of(each, (size,), None, out.device) for each in (segments.key, segments.position)
    )
    order = sort(runtime, key_layout, key_layout, order_layout, False)
    bounded = 0 if call.by_heads else targets
    find, bounds_bytes = _finder(runtime, call) if bounded else (empty_kernel, 0)
    steps = [_step(runtime, call, call.chunks_source(level), count) for level, count in enumerate(call.chunks)]
    steps.append(_step(runtime, call, call.reduce_source(), bounded or size))
    state = segments.outer * segments.inner * call.state.itemsize
    chunks_bytes = [each * state for each in call.chunks]
    starts = [0]
    for nbytes in (bounds_bytes, key_layout.nbytes, key_layout.nbytes, order_layout.nbytes, *chunks_bytes):
        starts.append(starts[-1] + -(-nbytes // 256) * 256)
    allocate, missing = runtime.pool.allocator(starts[-1]), (0,) * (2 - len(call.chunks))

    def kernel(stream: int, out: int, index: int, source: int) -> None:
        scratch, owner = allocate(stream)
        bounds, unsorted, ordered, positions, *chunks = (scratch + start for start in starts[:-1])
        write_keys(stream, unsorted, index)
        order(stream, ordered, positions, unsorted)
        find(stream, bounds, ordered)
        for step in steps:
            step(stream, out, ordered, positions, bounds, source, *chunks, *missing)
        del owner  # the stream runs the next work on this memory after the kernels

    return kernel


def _finder(runtime: Runtime, call: Reduction) -> tuple[Kernel, int]:
    """The kernel ``(stream, bounds, keys)`` that finds the bounds of segments, and the bytes of the bounds."""
    size, targets = call.segments.sources, call.segments.targets
    nbytes, tail = 2 * targets * call.segments.position.itemsize, struct.pack("<QQ", size, targets)
    block = call.policy.block
    launch = runtime.launcher("scatter bounds", call.bounds_source(), -(-size // block), block, "QQ", tail)

    def find(stream: int, bounds: int, keys: int) -> None:
        runtime.zero(bounds, nbytes, stream)
        launch(stream, keys, bounds)

    return find, nbytes


def _step(runtime: Runtime, call: Reduction, source: str, rows: int) -> Kernel:
    """The kernel ``(stream, out, keys, positions, bounds, source, *chunks)`` of one step, for `rows` rows."""
    segments, block = call.segments, call.policy.block
    threads = segments.outer * rows * call.packs * call.lanes
    tail = struct.pack("<QQQ", threads, segments.sources, segments.targets)
    tail += pack_divmod(call.packs, call.index_bits) + pack_divmod(rows, call.index_bits)
    return runtime.launcher("scatter reduce", source, -(-threads // block), block, "7Q", tail)


def scatter_glue(family: str, call: str, params: str, block: int) -> str:
    """The glue of a kernel of ``kernels/<family>.cuh``."""
    return "\n".join(
        [
            f"#include <xpops/kernels/{family}.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(block), params, call),
        ]
    )
