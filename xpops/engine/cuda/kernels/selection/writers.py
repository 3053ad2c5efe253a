"""What writes the selected elements: functions (stream, counts, room, *results, *other operands).

`room` is the number of elements for which the results have memory. A writer of rows needs the number of selected rows
instead.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import dense_copier
from xpops.engine.cuda.kernels.gather import in_order, row_gatherer, row_scatterer, word_of
from xpops.engine.cuda.kernels.selection.tiles import Counts, Tiling, glue
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.elementwise import index_bits
from xpops.plan.strides.coalesce import SECTOR_BYTES, Strides
from xpops.plan.strides.divmod import pack_divmod
from xpops.plan.transpose.boxes import sector_reads

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# Fewer than one of so many scattered rows are gathered where they are.
_FEW_ROWS = 8


def elements_writer(runtime: Runtime, tiling: Tiling, width: int, align: int) -> Callable[..., None]:
    """The writer of the chosen elements, of `width` bytes, of a C-contiguous array."""
    sink = f"Elements<{word_of(width)}, {align // width or 1}>"
    launch = _selecting(runtime, tiling, select_glue(tiling, sink, "SelectParams<5>"), "QQQQQ", (1,))
    return lambda stream, counts, room, out, x: launch(stream, counts.flags, counts.offsets, out, x, room)


def indices_writer(runtime: Runtime, tiling: Tiling, shape: tuple[int, ...]) -> Callable[..., None]:
    """The writer of the indices of the chosen elements along each axis."""
    rank, bits = len(shape), 64 if len(shape) == 1 or tiling.offset == dt.uint64 else 32
    params = f"SelectParams<{3 + rank}, {rank}, uint{bits}>"
    source = select_glue(tiling, f"Indices<{rank}, uint{bits}>", params)
    launch = _selecting(runtime, tiling, source, "QQQ" + "Q" * rank, shape[1:] or (1,), bits)
    return lambda stream, counts, room, *results: launch(stream, counts.flags, counts.offsets, *results, room)


def rows_writer(runtime: Runtime, tiling: Tiling, x: Layout, axes: int) -> Callable[..., None]:
    """The writer of whole rows of `x`, counted along `axes` axes: it writes their indices first, then gathers them.

    If rows are scattered in memory, it gathers many of them from a C-contiguous copy: gathering reads a sector for each
    element, and copying reads and writes all.
    """
    write = indices_writer(runtime, tiling, (tiling.size,))
    gather, allocator = row_gatherer(runtime, x, axes), runtime.pool.allocator
    many = tiling.size + 1
    policy = tuning_of(runtime.context.capability).elementwise
    if x.size and sector_reads(x, policy, policy.box_distance) > 1:
        many, gather_copied = -(-tiling.size // _FEW_ROWS), _copied_rows(runtime, x, axes)

    def rows(stream: int, counts: Counts, count: int, out: int, x: int) -> None:
        indices, block = allocator(count * dt.int64.itemsize)(stream)
        write(stream, counts, count, indices)
        (gather if count < many else gather_copied)(stream, out, x, indices, count)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return rows


def _copied_rows(runtime: Runtime, x: Layout, axes: int) -> Callable[..., None]:
    """`row_gatherer` of a C-contiguous copy."""
    dense, copied = dense_copier(runtime, x)
    gather = row_gatherer(runtime, dense, axes)

    def gather_copied(stream: int, out: int, x: int, indices: int, count: int) -> None:
        x, block = copied(stream, x)
        gather(stream, out, x, indices, count)
        del block

    return gather_copied


def gathering_writer(runtime: Runtime, tiling: Tiling, x: Layout) -> Callable[..., None]:
    """The writer of the chosen elements of any `x`.

    If neighbours are far apart in memory, many elements are chosen from a C-contiguous copy: each would read a sector.
    """
    launch, tuning = _strided(runtime, tiling, "Gathered", x), tuning_of(runtime.context.capability)

    def write(stream: int, counts: Counts, room: int, out: int, x: int) -> None:
        launch(stream, counts.flags, counts.offsets, out, x, room)

    if sector_reads(x, tuning.elementwise, tuning.window.copied_distance) < tuning.window.copied_reads:
        return write
    many, write_copied = 2 * x.nbytes // SECTOR_BYTES, _copied_elements(runtime, tiling, x)
    return lambda stream, counts, room, out, x: (write if room < many else write_copied)(stream, counts, room, out, x)


def _copied_elements(runtime: Runtime, tiling: Tiling, x: Layout) -> Callable[..., None]:
    """`elements_writer` of a C-contiguous copy."""
    dense, copied = dense_copier(runtime, x)
    write = elements_writer(runtime, tiling, dense.dtype.itemsize, dense.align)

    def write_copied(stream: int, counts: Counts, room: int, out: int, x: int) -> None:
        x, block = copied(stream, x)
        write(stream, counts, room, out, x)
        del block

    return write_copied


def replacing_writer(runtime: Runtime, tiling: Tiling, x: Layout) -> Callable[..., None]:
    """The writer of values to the chosen elements of any `x`."""
    launch = _strided(runtime, tiling, "Replaced", x)
    return lambda stream, counts, room, x, value: launch(stream, counts.flags, counts.offsets, x, value, room)


def _strided(runtime: Runtime, tiling: Tiling, sink: str, x: Layout) -> Callable[..., None]:
    """The launch of a sink that reads or writes elements of any `x`."""
    shape, strides = in_order(x)
    bits = index_bits(x.size, [strides], shape)
    axes = f"{len(shape)}, uint{bits}>"
    source = select_glue(tiling, f"{sink}<{word_of(x.dtype.itemsize)}, {axes}", f"StridedParams<{axes}")
    return _selecting(runtime, tiling, source, "QQQQQ", shape[1:] or (1,), bits, strides)


def rows_replacing_writer(runtime: Runtime, tiling: Tiling, x: Layout, rows: int, row: int) -> Callable[..., None]:
    """The writer of rows of `row` elements to the chosen rows of any `x`: it writes their indices first."""
    write, scatter = indices_writer(runtime, tiling, (tiling.size,)), row_scatterer(runtime, x, row)
    allocate = runtime.pool.allocator(rows * dt.int64.itemsize)

    def replaced(stream: int, counts: Counts, count: int, x: int, value: int) -> None:
        indices, block = allocate(stream)
        write(stream, counts, count, indices)
        scatter(stream, x, value, indices, rows * row)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return replaced


def groups_writer(runtime: Runtime, tiling: Tiling) -> Callable[..., None]:
    """The writer of the number of each element's run, in the order of another array."""
    launch = _selecting(runtime, tiling, groups_glue(tiling), "QQQQ", (1,))
    return lambda stream, counts, room, out, x, order: launch(stream, counts.flags, counts.offsets, out, order)


def _selecting(
    runtime: Runtime,
    tiling: Tiling,
    source: str,
    slots: str,
    divisors: tuple[int, ...],
    bits: int = 32,
    strides: Strides = (),
) -> Callable[..., None]:
    tail = struct.pack("<Q", tiling.size) + b"".join(pack_divmod(divisor, bits) for divisor in divisors)
    tail += struct.pack(f"<{len(strides)}{'i' if bits == 32 else 'q'}", *strides)
    return runtime.launcher("select", source, tiling.tiles, tiling.policy.block, slots, tail)


def select_glue(tiling: Tiling, sink: str, params: str) -> str:
    """The glue of the kernel that writes the selected elements or their indices."""
    call = f"select<{sink}, {tiling.c_offset}, {tiling.policy.block}, {tiling.pack}, {tiling.unroll}>"
    return glue(call, params, tiling.policy.block)


def groups_glue(tiling: Tiling) -> str:
    """The glue of the kernel that writes the number of each element's run."""
    call = f"number_groups<{tiling.c_offset}, {tiling.policy.block}, {tiling.pack}, {tiling.unroll}>"
    return glue(call, "SelectParams<4>", tiling.policy.block)
