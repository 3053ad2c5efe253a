"""Gather and scatter elements by integer indices, on CUDA."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel, Program
from xpops.plan.elementwise import index_bits
from xpops.plan.gather import GatherPlan, GatherPolicy, gathered_shape, gathered_strides, in_strips, plan_gather
from xpops.plan.result import taken_strides
from xpops.plan.selection import row_step
from xpops.plan.staged_gather import StagedGatherPlan, plan_staged_gather
from xpops.plan.strides.coalesce import Strides
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

_WORDS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint2", 16: "uint4"}


def word_of(width: int) -> str:
    """The C++ type in which kernels copy elements of `width` bytes."""
    return _WORDS[width]


def gather(
    runtime: Runtime,
    x: Layout,
    axes: tuple[int, ...],
    indices: tuple[Layout, ...],
    position: int,
    names: tuple[str, ...],
) -> Program:
    """See `xpops.engine.protocol.Engine.gather`."""
    shape, dense = gathered_shape(x, axes, indices[0].shape, position), None
    if axes == (position,) and indices[0].ndim == 1:
        dense = taken_strides(x, position, indices[0].size)
    out = layout_of(x.dtype, shape, dense, runtime.context.device)
    array, lines = gathered_strides(x, axes, indices, position)
    return Program((out,), _gathering(runtime, x, axes, indices, names, out, array, lines, position))


def take_along(runtime: Runtime, x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take_along`."""
    out = layout_of(x.dtype, indices.shape, None, runtime.context.device)
    array = (*x.strides[:axis], 0, *x.strides[axis + 1 :])
    names = ("take_along_axis: indices",)
    return Program((out,), _gathering(runtime, x, (axis,), (indices,), names, out, array, (indices.strides,), axis))


def scatter(
    runtime: Runtime,
    x: Layout,
    axes: tuple[int, ...],
    indices: tuple[Layout, ...],
    position: int,
    value: Layout,
    names: tuple[str, ...],
) -> Kernel:
    """See `xpops.engine.protocol.Engine.scatter`."""
    array, lines = gathered_strides(x, axes, indices, position)
    return _moving(runtime, x, axes, indices, names, value, value.shape, [array, value.strides, *lines], True)


def _gathering(
    runtime: Runtime,
    x: Layout,
    axes: tuple[int, ...],
    indices: tuple[Layout, ...],
    names: tuple[str, ...],
    out: Layout,
    array: Strides,
    lines: tuple[Strides, ...],
    position: int,
) -> Kernel:
    """The kernel ``(stream, out, x, *indices)``."""
    shape, strides = out.shape, [array, out.strides, *lines]
    if len(axes) == 1 and out.size:
        span = range(position, position + out.ndim - x.ndim + 1)
        if len(span) == 1:
            # An axis of one element comes first: then its index moves all other axes as one row.
            order = sorted(range(out.ndim), key=lambda place: (out.shape[place] > 1, -out.strides[place]))
            shape = tuple(shape[place] for place in order)
            strides = [tuple(line[place] for place in order) for line in strides]
            span = range(order.index(position), order.index(position) + 1)
        staged = _gathering_staged(runtime, x, axes[0], indices[0], names[0], shape, strides, span)
        if staged is not None:
            return staged
        shape, strides = in_strips(shape, span, strides, x.dtype.itemsize)
    move = _moving(runtime, x, axes, indices, names, out, shape, strides, False)
    return lambda stream, out, x, *indices: move(stream, x, out, *indices)


def _gathering_staged(
    runtime: Runtime,
    x: Layout,
    axis: int,
    indices: Layout,
    name: str,
    shape: tuple[int, ...],
    strides: list[Strides],
    span: range,
) -> Kernel | None:
    """`_gathering` along one axis from shared memory into new memory; None if that is not faster."""
    policy, align = tuning_of(runtime.context.capability).gather, x.align
    length, step, multiprocessors = x.shape[axis], x.strides[axis], runtime.context.multiprocessors
    plan = plan_staged_gather(shape, span, strides, length, step, x.dtype.itemsize, align, policy, multiprocessors)
    if plan is None:
        return None
    tail = _report_parameters(runtime, (length,), (runtime.faults.of_index(name, length),)) + plan.tail
    source = staged_glue(plan, indices.dtype, policy)
    launch = runtime.launcher("gather", source, plan.blocks, policy.staged_block, "QQQ", tail)
    return _judging(runtime, lambda stream, out, x, indices: launch(stream, x, out, indices))


def _judging(runtime: Runtime, kernel: Callable[..., None]) -> Callable[..., None]:
    """`kernel`; in debug mode it raises the error of an index out of range itself."""
    if not config.debug:
        return kernel

    def judged(*values: int) -> None:
        kernel(*values)
        runtime.faults.check()

    return judged


def _moving(
    runtime: Runtime,
    x: Layout,
    axes: tuple[int, ...],
    indices: tuple[Layout, ...],
    names: tuple[str, ...],
    other: Layout,
    shape: tuple[int, ...],
    strides: list[Strides],
    sets: bool,
) -> Kernel:
    """The kernel ``(stream, x, other, *indices)`` that copies elements of `x` at indices to `other`, or back if `sets`.

    `strides` are those of `x`, `other` and the indices in `shape`.
    """
    if other.size == 0:
        return empty_kernel
    steps = tuple(x.strides[axis] for axis in axes)
    align, policy = min(x.align, other.align), tuning_of(runtime.context.capability).gather
    array, beside, *lines = strides
    lengths = tuple(x.shape[axis] for axis in axes)
    plan = plan_gather(shape, array, beside, tuple(lines), steps, lengths, x.dtype.itemsize, align, policy)
    codes = tuple(runtime.faults.of_index(name, length) for name, length in zip(names, lengths, strict=True))
    source = gather_glue(plan, tuple(each.dtype for each in indices), sets)
    tail = _report_parameters(runtime, lengths, codes) + plan.tail
    launch = runtime.launcher("gather", source, plan.blocks, plan.block, "QQQ" + "Q" * len(indices), tail)
    size = plan.size

    def move(stream: int, x: int, other: int, *indices: int) -> None:
        launch(stream, x, other, size, *indices)

    return _judging(runtime, move)


def row_gatherer(runtime: Runtime, x: Layout, axes: int) -> Callable[..., None]:
    """The kernel ``(stream, out, x, indices, rows of out)`` that copies rows of `x` to a C-contiguous `out`.

    Rows are counted along the first `axes` axes of `x`, which has rows, all at one distance (`row_step`); `out` has at
    most as many. Indices are int64 and in range.
    """
    length, rest, policy = prod(x.shape[:axes]), x.shape[axes:], tuning_of(runtime.context.capability).gather
    shape, step = (length, *rest), row_step(x, axes)
    assert step is not None
    array, indices = (0, *x.strides[axes:]), (1, *(0 for _ in rest))
    target, itemsize = contiguous_strides(shape), x.dtype.itemsize
    plan = plan_gather(shape, array, target, (indices,), (step,), (length,), itemsize, x.align, policy)
    blocks = min(plan.blocks, policy.waves * runtime.context.multiprocessors)
    tail = struct.pack("<QQQ", 0, length, 0) + plan.tail
    launch = runtime.launcher("gather", gather_glue(plan, (dt.int64,), False), blocks, plan.block, "QQQQ", tail)
    pieces = plan.size // length
    return lambda stream, out, x, indices, rows: launch(stream, x, out, rows * pieces, indices)


def row_scatterer(runtime: Runtime, x: Layout, row: int) -> Callable[..., None]:
    """The kernel ``(stream, x, rows, indices, elements of rows)`` that writes rows of `row` elements to any `x`."""
    if x.size == 0:
        return empty_kernel
    shape, strides = in_order(x)
    bits = index_bits(x.size, [strides], shape)
    tail = pack_divmod(row, bits) + b"".join(pack_divmod(length, bits) for length in shape[1:] or (1,))
    tail += struct.pack(f"<{len(strides)}{'i' if bits == 32 else 'q'}", *strides)
    policy = tuning_of(runtime.context.capability).gather
    block = policy.scatter_block
    blocks = min(-(-x.size // block), policy.waves * runtime.context.multiprocessors)
    source = scatter_glue(x.dtype.itemsize, len(shape), bits, block)
    return runtime.launcher("masked_scatter", source, blocks, block, "QQQQ", tail)


def in_order(x: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of `x`, with neighbouring axes merged if one stride covers both; at least one axis."""
    merged: list[tuple[int, int]] = []
    for length, stride in zip(x.shape, x.strides, strict=True):
        if length == 1:
            continue
        if merged and merged[-1][1] == stride * length:
            length *= merged.pop()[0]
        merged.append((length, stride))
    shape, strides = zip(*merged or [(1, 0)], strict=True)
    return shape, strides


def _report_parameters(runtime: Runtime, lengths: tuple[int, ...], codes: tuple[int, ...]) -> bytes:
    """The kernel parameters for the check of indices: the report's address, the lengths of the axes, and the codes."""
    return struct.pack(f"<Q{2 * len(lengths)}Q", runtime.faults.address, *lengths, *codes)


def gather_glue(plan: GatherPlan, indices: tuple[DType, ...], sets: bool) -> str:
    """The glue of a kernel that copies words between an array and the elements at indices of another array."""
    types = ", ".join(dt.INFO[dtype].c_type for dtype in indices)
    sizes = f"{plan.pieces}, {plan.words}, {truth(plan.is_single)}, {plan.block}"
    call = f"gather<{word_of(plan.word)}, {truth(sets)}, {sizes}, {types}>"
    params = f"GatherParams<{len(indices)}, {plan.rank}, uint{plan.index_bits}, int{plan.place_bits}>"
    return _glue(call, params, plan.block)


def staged_glue(plan: StagedGatherPlan, indices: DType, policy: GatherPolicy) -> str:
    """The glue of a kernel that gathers from shared memory."""
    types = f"{word_of(plan.word)}, {dt.INFO[indices].c_type}"
    sizes = f"{plan.slab}, {policy.staged_block}, {plan.pack}, {plan.unroll}"
    call = f"gather_staged<{types}, Runs::{plan.runs}, {sizes}>"
    return _glue(call, f"StagedGatherParams<{plan.rank}, uint{plan.index_bits}>", policy.staged_block, "staged")


def scatter_glue(word: int, rank: int, bits: int, block: int) -> str:
    """The glue of a kernel that scatters rows of words of `word` bytes."""
    return _glue(f"scatter_rows<{word_of(word)}, {block}>", f"ScatterParams<{rank}, uint{bits}>", block)


def _glue(call: str, params: str, threads: int, header: str = "gather") -> str:
    return "\n".join(
        [
            f"#include <xpops/kernels/gather/{header}.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(threads), params, call),
        ]
    )
