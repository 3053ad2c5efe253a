"""Selection on CUDA: flag and count the selected elements of every tile, send the total to the host, write them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import dense_copier, empty_kernel
from xpops.engine.cuda.kernels.gather import in_order, row_gatherer, row_scatterer, word_of
from xpops.engine.cuda.kernels.rooms import Rooms
from xpops.engine.cuda.kernels.tiles import Counts, Tiling, counter, glue, tiling_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Guess, Guessing, Measure, Program
from xpops.plan.elementwise import MAX_PACK_BYTES, index_bits
from xpops.plan.selection import require_count
from xpops.plan.strides.coalesce import SECTOR_BYTES, Strides
from xpops.plan.strides.divmod import pack_divmod
from xpops.plan.transpose.boxes import sector_reads

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# Fewer than one of so many scattered rows are gathered where they are.
_FEW_ROWS = 8


def nonzero(runtime: Runtime, x: Layout) -> Guessing:
    """See `xpops.engine.protocol.Engine.nonzero`."""
    device, rank = runtime.context.device, x.ndim
    if x.size == 0:
        return _always((layout_of(dt.int64, (0,), None, device),) * rank)
    tiling = tiling_of("NonZero", x, 1, tuning_of(runtime.context.capability).select)
    indices = _indices(runtime, tiling, x.shape)

    def layouts(count: int) -> tuple[Layout, ...]:
        return (layout_of(dt.int64, (count,), None, device),) * rank

    def write(stream: int, counts: Counts, room: int, *data: int) -> None:
        indices(stream, counts, room, *data[:rank])

    return _guessing(counter(runtime, tiling), layouts, write, Rooms(dt.int64.itemsize))


def compress(runtime: Runtime, x: Layout, mask: Layout) -> Guessing:
    """See `xpops.engine.protocol.Engine.compress`."""
    rest, device, dtype = x.shape[mask.ndim :], runtime.context.device, x.dtype
    if mask.size == 0:
        return _always((layout_of(dtype, (0, *rest), None, device),))
    width = prod(rest) * dtype.itemsize
    whole = width in (1, 2, 4, 8, MAX_PACK_BYTES) and x.align >= width
    tiling = tiling_of("NonZero", mask, width if whole else 1, tuning_of(runtime.context.capability).select)
    choose: Callable[..., None] = empty_kernel
    rooms: Rooms | None = None
    if whole and (x.contiguous or x.size == mask.size):
        choose = _elements(runtime, tiling, width, x.align) if x.contiguous else _gathered(runtime, tiling, x)
        rooms = Rooms(width)
    elif width:  # the launch of the kernel that gathers rows needs their number
        choose = _rows(runtime, tiling, x, mask.ndim)

    def layouts(count: int) -> tuple[Layout, ...]:
        return (layout_of(dtype, (count, *rest), None, device),)

    def write(stream: int, counts: Counts, room: int, out: int, x: int, mask: int) -> None:
        choose(stream, counts, room, out, x)

    return _guessing(counter(runtime, tiling), layouts, write, rooms)


def masked_scatter(runtime: Runtime, x: Layout, mask: Layout, value: Layout) -> Measure:
    """See `xpops.engine.protocol.Engine.masked_scatter`."""
    rows, row = value.shape[0], prod(value.shape[1:])
    if mask.size == 0:
        require_count(0, rows)
        return _always(())
    tiling = tiling_of("NonZero", mask, 1, tuning_of(runtime.context.capability).select)
    counted = counter(runtime, tiling)
    write = _replaced(runtime, tiling, x) if x.size == mask.size else _replaced_rows(runtime, tiling, x, rows, row)

    def measure(stream: int, x: int, mask: int, value: int) -> Program:
        counts = counted(stream, mask)
        require_count(counts.total(), rows)  # before anything is written

        def kernel(stream: int, x: int, mask: int, value: int) -> None:
            write(stream, counts, rows, x, value)

        return Program((), kernel if rows else empty_kernel)

    return measure


def runs(runtime: Runtime, x: Layout, wanted: tuple[str, ...]) -> Measure:
    """See `xpops.engine.protocol.Engine.runs`."""
    device, dtype, size = runtime.context.device, x.dtype, x.size

    def layouts(count: int) -> tuple[Layout, ...]:
        return tuple(
            layout_of(dtype if each == "values" else dt.int64, (size if each == "groups" else count,), None, device)
            for each in wanted
        )

    if size == 0:
        return _always(layouts(0))
    tiling = tiling_of("Differs", x, dtype.itemsize, tuning_of(runtime.context.capability).select)
    counted, parts = counter(runtime, tiling), [_part(runtime, tiling, x, each) for each in wanted]

    def measure(stream: int, x: int, *order: int) -> Program:
        counts = counted(stream, x)
        total = counts.total()

        def kernel(stream: int, *data: int) -> None:
            x, *order = data[len(parts) :]
            for part, result in zip(parts, data, strict=False):
                part(stream, counts, total, result, x, *order)

        return Program(layouts(total), kernel)

    return measure


def _part(runtime: Runtime, tiling: Tiling, x: Layout, each: str) -> Callable[..., None]:
    """A function ``(stream, counts, room, out, x, *order)`` that writes one result of `runs`."""
    if each == "groups":
        launch = _selecting(runtime, tiling, groups_glue(tiling), "QQQQ", (1,))
        return lambda stream, counts, room, out, x, order: launch(stream, counts.flags, counts.offsets, out, order)
    if each == "values":
        write = _elements(runtime, tiling, x.dtype.itemsize, x.align)
        return lambda stream, counts, room, out, x, *order: write(stream, counts, room, out, x)
    indices = _indices(runtime, tiling, x.shape)
    return lambda stream, counts, room, out, x, *order: indices(stream, counts, room, out)


def _guessing(
    counted: Callable[[int, int], Counts],
    layouts: Callable[[int], tuple[Layout, ...]],
    write: Callable[..., None],
    rooms: Rooms | None,
) -> Guessing:
    """The measure of results with an element or a row for each selected element.

    Parameters
    ----------
    counted : callable
        The first pass, of the last operand.
    layouts : callable
        Takes a number of selected elements, and returns the layouts of the results.
    write : callable
        ``write(stream, counts, room, *results, *operands)``.
    rooms : Rooms, optional
        None if `room` must be exact.
    """

    def measure(stream: int, *operands: int) -> Program | Guess:
        counts = counted(stream, operands[-1])
        room, is_likely = rooms.next() if rooms else (0, False)

        def kernel(stream: int, *data: int) -> None:
            if room:
                write(stream, counts, room, *data)

        def settle() -> tuple[tuple[Layout, ...], bool]:
            nonlocal room
            guess, room = room, counts.total()
            return layouts(room), rooms is not None and rooms.check(guess, room)

        return Guess(layouts(room), kernel, settle) if is_likely else Program(settle()[0], kernel)

    return measure


def _always(layouts: tuple[Layout, ...]) -> Measure:
    """The measure of a call whose result is empty for all data."""
    return lambda stream, *operands: Program(layouts, empty_kernel)


# Writers: functions (stream, counts, room, *results, *other operands). `room` is the number of elements for which the
# results have memory. A writer of rows needs the number of selected rows instead.


def _elements(runtime: Runtime, tiling: Tiling, width: int, align: int) -> Callable[..., None]:
    sink = f"Elements<{word_of(width)}, {align // width or 1}>"
    launch = _selecting(runtime, tiling, select_glue(tiling, sink, "SelectParams<5>"), "QQQQQ", (1,))
    return lambda stream, counts, room, out, x: launch(stream, counts.flags, counts.offsets, out, x, room)


def _indices(runtime: Runtime, tiling: Tiling, shape: tuple[int, ...]) -> Callable[..., None]:
    rank, bits = len(shape), 64 if len(shape) == 1 or tiling.offset == dt.uint64 else 32
    params = f"SelectParams<{3 + rank}, {rank}, uint{bits}>"
    source = select_glue(tiling, f"Indices<{rank}, uint{bits}>", params)
    launch = _selecting(runtime, tiling, source, "QQQ" + "Q" * rank, shape[1:] or (1,), bits)
    return lambda stream, counts, room, *results: launch(stream, counts.flags, counts.offsets, *results, room)


def _rows(runtime: Runtime, tiling: Tiling, x: Layout, axes: int) -> Callable[..., None]:
    """The writer of whole rows of `x`, counted along `axes` axes: it writes their indices first, then gathers them.

    If rows are scattered in memory, it gathers many of them from a C-contiguous copy: gathering reads a sector for each
    element, and copying reads and writes all.
    """
    write = _indices(runtime, tiling, (tiling.size,))
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


def _gathered(runtime: Runtime, tiling: Tiling, x: Layout) -> Callable[..., None]:
    """The writer of the chosen elements of any `x`.

    If neighbours are far apart in memory, many elements are chosen from a C-contiguous copy: each would read a sector.
    """
    launch, many = _strided(runtime, tiling, "Gathered", x), x.size + 1
    tuning = tuning_of(runtime.context.capability)
    if sector_reads(x, tuning.elementwise, tuning.window.copied_distance) >= tuning.window.copied_reads:
        many, write_copied = 2 * x.nbytes // SECTOR_BYTES, _copied_elements(runtime, tiling, x)

    def write(stream: int, counts: Counts, room: int, out: int, x: int) -> None:
        if room < many:
            launch(stream, counts.flags, counts.offsets, out, x, room)
        else:
            write_copied(stream, counts, room, out, x)

    return write


def _copied_elements(runtime: Runtime, tiling: Tiling, x: Layout) -> Callable[..., None]:
    """`_elements` of a C-contiguous copy."""
    dense, copied = dense_copier(runtime, x)
    write = _elements(runtime, tiling, dense.dtype.itemsize, dense.align)

    def write_copied(stream: int, counts: Counts, room: int, out: int, x: int) -> None:
        x, block = copied(stream, x)
        write(stream, counts, room, out, x)
        del block

    return write_copied


def _replaced(runtime: Runtime, tiling: Tiling, x: Layout) -> Callable[..., None]:
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


def _replaced_rows(runtime: Runtime, tiling: Tiling, x: Layout, rows: int, row: int) -> Callable[..., None]:
    """The writer of rows of `row` elements to the chosen rows of any `x`: it writes their indices first."""
    write, scatter = _indices(runtime, tiling, (tiling.size,)), row_scatterer(runtime, x, row)
    allocate = runtime.pool.allocator(rows * dt.int64.itemsize)

    def replaced(stream: int, counts: Counts, count: int, x: int, value: int) -> None:
        indices, block = allocate(stream)
        write(stream, counts, count, indices)
        scatter(stream, x, value, indices, rows * row)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return replaced


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
