"""Selection on CUDA: flag and count the selected elements of every tile, send the total to the host, write them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.selection.rooms import Rooms
from xpops.engine.cuda.kernels.selection.tiles import Counts, Tiling, counter, tiling_of
from xpops.engine.cuda.kernels.selection.writers import (
    elements_writer,
    gathering_writer,
    groups_writer,
    indices_writer,
    replacing_writer,
    rows_replacing_writer,
    rows_writer,
)
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Guess, Guessing, Measure, Program
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.selection import require_count

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def nonzero(runtime: Runtime, x: Layout) -> Guessing:
    """See `xpops.engine.protocol.Engine.nonzero`."""
    device, rank = runtime.context.device, x.ndim
    if x.size == 0:
        return _always((layout_of(dt.int64, (0,), None, device),) * rank)
    tiling = tiling_of("NonZero", x, 1, tuning_of(runtime.context.capability).select)
    indices = indices_writer(runtime, tiling, x.shape)

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
        if x.contiguous:
            choose = elements_writer(runtime, tiling, width, x.align)
        else:
            choose = gathering_writer(runtime, tiling, x)
        rooms = Rooms(width)
    elif width:  # the launch of the kernel that gathers rows needs their number
        choose = rows_writer(runtime, tiling, x, mask.ndim)

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
    if x.size == mask.size:
        write = replacing_writer(runtime, tiling, x)
    else:
        write = rows_replacing_writer(runtime, tiling, x, rows, row)

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
        return groups_writer(runtime, tiling)
    if each == "values":
        write = elements_writer(runtime, tiling, x.dtype.itemsize, x.align)
        return lambda stream, counts, room, out, x, *order: write(stream, counts, room, out, x)
    indices = indices_writer(runtime, tiling, x.shape)
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
