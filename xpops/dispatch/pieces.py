"""Results that consist of their operands, one after the other along an axis."""

from __future__ import annotations

from itertools import accumulate

from xpops.core.layouts import Layout, alignment, contiguous_strides, layout_of
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Kernel
from xpops.engine.protocol import Engine
from xpops.plan.strides.coalesce import Strides


def join_along(engine: Engine, parts: list[Layout], axis: int, out: Layout) -> Kernel:
    """The kernel ``(stream, out, *parts)`` that copies and casts the parts to their places along an axis of `out`."""
    step = contiguous_strides(out.shape)[axis]
    full = [number for number, part in enumerate(parts) if part.size]
    kernel = engine.join(tuple(parts[number] for number in full), axis, out)
    if kernel is None:
        sizes = [part.shape[axis] * step for part in parts]
        return _copies(engine, parts, sizes, [out.strides] * len(parts), out)
    if len(full) == len(parts):
        return kernel
    joined = kernel
    return lambda stream, out, *data: joined(stream, out, *(data[number] for number in full))


def join_flat(engine: Engine, parts: list[Layout], out: Layout) -> Kernel:
    """The kernel ``(stream, out, *parts)`` that copies and casts the elements of the parts, in C order, to a line."""
    if all(part.contiguous for part in parts):
        lines = [layout_of(part.dtype, (part.size,), None, part.device, part.align) for part in parts]
        return join_along(engine, lines, 0, out)
    return _copies(
        engine, parts, [part.size for part in parts], [contiguous_strides(part.shape) for part in parts], out
    )


def _copies(engine: Engine, parts: list[Layout], sizes: list[int], strides: list[Strides], out: Layout) -> Kernel:
    """A copy of each part, to places that are `sizes` elements apart, with `strides` in `out`."""
    copies = []
    for number, (part, place, steps) in enumerate(zip(parts, accumulate(sizes, initial=0), strides, strict=False)):
        if part.size:
            align = min(out.align, alignment(place * out.dtype.itemsize))
            region = layout_of(out.dtype, part.shape, steps, out.device, align)
            copies.append((number, part, place, region, copier(part, region)))

    def kernel(stream: int, out: Data, *operands: Data) -> None:
        for number, part, place, region, copy in copies:
            copy(stream, engine.view(out, place, region), engine.view(operands[number], 0, part))

    return kernel
