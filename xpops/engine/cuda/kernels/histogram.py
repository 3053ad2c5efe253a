"""Counts of integers, and of numbers in bins, on CUDA."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.core.powers import power_of_two
from xpops.engine.cuda.kernels.elementwise import unary
from xpops.engine.cuda.runtime.blocks import Block
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.runtime.native import lookup_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.tuning.policies import HistogramPolicy
from xpops.engine.program import Kernel, Measure, Program
from xpops.ops.elementwise import IDENTITY
from xpops.plan.cache import BoundedDict
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.histogram import EqualBins, bins_for

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

_WORD, _LANES, _KEPT = 8, 32, 64
# The most bins that a pass counts into before the largest value is known.
_MOST_GUESSED = 2**20


def bincount(runtime: Runtime, x: Layout, minlength: int) -> Measure:
    """See `xpops.engine.protocol.Engine.bincount`.

    The first pass counts into a likely number of bins, which is that of the call before, and finds the largest value. A
    second pass follows only if that value has no bin.
    """
    device = runtime.context.device
    guess = minlength or tuning_of(runtime.context.capability).histogram.guess
    one = layout_of(dt.uint64, (), None, device)
    ways: BoundedDict[int, _Way] = BoundedDict(_KEPT)
    copies: BoundedDict[int, Kernel] = BoundedDict(_KEPT)

    def measure(stream: int, x_data: int) -> Program:
        nonlocal guess
        room = guess  # another thread may change the guess meanwhile
        way = ways.get(room)
        if way is None:
            way = ways[room] = _Way(runtime.pool.allocator((room + 1) * _WORD), _counter(runtime, x, room))
        bins, block = way.allocate(stream)
        largest = bins + room * _WORD
        runtime.zero(bins, (room + 1) * _WORD, stream)
        way.counter(stream, x_data, bins, largest)
        found = int(runtime.to_host(largest, one, stream))
        length = bins_for(found if x.size else -1, minlength, x.dtype)
        out = layout_of(dt.int64, (length,), None, device)
        guess = min(power_of_two(length), _MOST_GUESSED) if length else room

        def again(stream: int, out: int, x_data: int, scratch: Block = block) -> None:
            runtime.zero(out, length * _WORD, stream)
            _counter(runtime, x, length)(stream, x_data, out, largest)

        def copied(stream: int, out_data: int, x_data: int, scratch: Block = block) -> None:
            copy = copies.get(length)
            if copy is None:
                copy = copies[length] = unary(runtime, IDENTITY, out, out)
            copy(stream, out_data, bins)

        return Program((out,), again if length > room else copied)

    return measure


class _Way(NamedTuple):
    """For one number of bins: a function that allocates them and a word, and the kernel that counts into them."""

    allocate: Callable[[int], tuple[int, Block]]
    counter: Callable[..., None]


def _counter(runtime: Runtime, x: Layout, length: int) -> Callable[..., None]:
    """The kernel ``(stream, x, bins, largest)`` that counts into `length` bins, and finds the largest value."""
    if x.size == 0:
        return lambda *arguments: None
    tail = struct.pack("<QQ", x.size, length)
    policy = tuning_of(runtime.context.capability).histogram
    source, blocks = histogram_glue(x, length, policy), _blocks(runtime, x, policy)
    return runtime.launcher("bincount", source, blocks, policy.block, "QQQ", tail)


def histogram(runtime: Runtime, x: Layout, bins: EqualBins) -> Kernel:
    """See `xpops.engine.protocol.Engine.histogram`."""
    length, edges = bins.edges.size - 1, layout_of(bins.edges.dtype, bins.edges.shape, None, runtime.context.device)
    # By stream: a copy of the edges on the device. When the plan is dropped, the pool gets the memory back.
    kept: dict[int, tuple[int, Block]] = {}
    copy = unary(runtime, IDENTITY, edges, edges)
    if x.size:
        ends = float(bins.edges[0]), float(bins.edges[-1]), float(bins.width)
        margins = length / float(bins.width), bins.margin, 1.0 - bins.margin
        tail = struct.pack("<QQ6d", x.size, length, *ends, *margins)
        policy = tuning_of(runtime.context.capability).histogram
        source, blocks = value_histogram_glue(x, bins, policy), _blocks(runtime, x, policy)
        count = runtime.launcher("histogram", source, blocks, policy.block, "QQQ", tail)

    @lookup_of
    def find_edges(stream: int) -> int:
        found = kept.get(stream)
        if found is None:
            found = runtime.allocate(edges, stream)
            runtime.from_host(bins.edges, found[0], edges, stream)
            kept[stream] = found
        return found[0]

    def kernel(stream: int, counts: int, out: int, x_data: int) -> None:
        on_device = find_edges(stream)
        runtime.zero(counts, length * _WORD, stream)
        copy(stream, out, on_device)
        if x.size:
            count(stream, counts, on_device, x_data)

    return kernel


def _blocks(runtime: Runtime, x: Layout, policy: HistogramPolicy) -> int:
    tile = policy.block * policy.unroll * (MAX_PACK_BYTES // x.dtype.itemsize)
    return min(-(-x.size // tile), policy.blocks * runtime.context.multiprocessors)


def histogram_glue(x: Layout, length: int, policy: HistogramPolicy) -> str:
    """The glue of the kernel that counts into `length` bins. All lengths up to the same power of two share one kernel.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> x = layout_of(dt.int32, (8,), None, Device("cuda"))
    >>> histogram_glue(x, 1000, tuning_of(90).histogram).splitlines()[-2]
    '  histogram<int32, 4, 1024, 8, 256, 2>(params);'
    """
    call = f"histogram<{dt.INFO[x.dtype].c_type}, {_numbers(x, length, policy)}>"
    return _glue("histogram", call, "HistogramParams", policy.block)


def value_histogram_glue(x: Layout, bins: EqualBins, policy: HistogramPolicy) -> str:
    """The glue of the kernel that counts numbers in equal parts of an interval."""
    types = ", ".join(dt.INFO[each].c_type for each in (x.dtype, bins.edges.dtype, bins.quotient))
    call = f"value_histogram<{types}, {_numbers(x, bins.edges.size - 1, policy)}>"
    return _glue("value_histogram", call, "ValueHistogramParams", policy.block)


def _numbers(x: Layout, length: int, policy: HistogramPolicy) -> str:
    bins = max(policy.least_bins, power_of_two(length))
    bins, copies = (bins, min(policy.counters // bins, _LANES)) if bins <= policy.counters else (0, 1)
    return f"{x.align // x.dtype.itemsize or 1}, {bins}, {copies}, {policy.block}, {policy.unroll}"


def _glue(header: str, call: str, params: str, block: int) -> str:
    return "\n".join(
        [
            f"#include <xpops/kernels/{header}.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(block), params, call),
        ]
    )
