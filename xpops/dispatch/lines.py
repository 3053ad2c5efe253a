"""Functions that compute each line of an operand by itself: lines that broadcasting repeats are computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection

from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.plan.result import dense_like


def plan_on_lines(
    engine: Engine,
    x: Layout,
    axes: Collection[int],
    outs: tuple[Layout, ...],
    plan: Callable[..., Program],
    place: int = 0,
) -> Program:
    """``plan(x, *outs)``, the program that computes lines of `x` along `axes`, and writes them to `outs`.

    If `x` has a stride of 0 along another axis, its lines repeat there. They are computed once, into memory of their
    own, and then copied to the results: a copy is as fast as memory, a computation often is not. At most half of the
    lines remain.

    Parameters
    ----------
    axes : collection of int
        Counted from the front. Along other axes, all results have the lengths of `x`.
    outs : tuple of Layout
        The results, dense.
    plan : callable
        It is given `x` and `outs`, or layouts that have a length of 1 where lines repeat. Its results may have the axes
        in another order than these layouts.
    place : int
        The place of `x` among the operands of the program.
    """
    repeated = [
        axis
        for axis, (length, stride) in enumerate(zip(x.shape, x.strides, strict=True))
        if length > 1 and stride == 0 and axis not in axes
    ]
    if not repeated or x.size == 0:  # no stride of an empty array is used
        return plan(x, *outs)

    def cut(shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(1 if axis in repeated else length for axis, length in enumerate(shape))

    distinct = layout_of(x.dtype, cut(x.shape), x.strides, x.device, x.align)
    shapes = [cut(out.shape) for out in outs]
    lines_of = [
        layout_of(out.dtype, shape, dense_like(shape, out.strides), out.device)
        for out, shape in zip(outs, shapes, strict=True)
    ]
    made, compute = plan(distinct, *lines_of)
    allocators = [engine.allocator(layout) for layout in made]
    copies = [copier(layout, out) for layout, out in zip(made, outs, strict=True)]

    def run(stream: int, *data: Data) -> None:
        results, operands = data[: len(outs)], list(data[len(outs) :])
        operands[place] = engine.view(operands[place], 0, distinct)
        lines = [allocate(stream) for allocate in allocators]
        compute(stream, *(each for each, _ in lines), *operands)
        for copy, result, (each, _) in zip(copies, results, lines, strict=True):
            copy(stream, result, each)
        del lines  # kept until the kernels were launched

    return Program(outs, run)
