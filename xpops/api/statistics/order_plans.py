"""The plan of medians, and the expressions of medians and quantiles, which are one kernel each on a GPU."""

from __future__ import annotations

from math import prod
from typing import Any

from xpops.api.checks import operand_of
from xpops.api.data_types import astype
from xpops.api.elementwise.arithmetic import add, multiply, subtract
from xpops.api.elementwise.comparison import equal
from xpops.api.elementwise.floating_point import isnan
from xpops.api.elementwise.limits import maximum
from xpops.api.elementwise.logical import logical_not
from xpops.api.fusion import plan_expression
from xpops.api.searching import count_nonzero, where
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.sorting import sort as sort_rows
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.ops.elementwise import IDENTITY
from xpops.plan.signature import Operand
from xpops.plan.strides import views


@differentiable(derivative.median)
def plan_median(engine: Engine, specs: tuple[Operand], axis: Any, keepdims: bool) -> Program:
    """The program that sorts lines in memory of its own, and writes their middle."""
    x = require_array(specs[0], "median", "x")
    given = operand_of("median", x, axis, "real-valued")
    kept = [i for i in range(x.ndim) if i not in given.axes]
    length = prod(x.shape[i] for i in given.axes)
    shape = tuple([1 if i in given.axes else x.shape[i] for i in range(x.ndim) if keepdims or i in kept])
    out = layout_of(result_dtype(x.dtype), shape, None, x.device)
    if out.size == 0:
        return Program((out,), lambda stream, *data: None)
    if length == 0:
        fill = call_for(IDENTITY, (float,), x.device, out.dtype, out).kernel
        return Program((out,), lambda stream, out, x: fill(stream, out, float("nan")))
    region = views.permute(x, (*kept, *given.axes))
    turned = layout_of(x.dtype, region.shape, region.strides, x.device, x.align)
    lines, prepare = make_dense(engine, turned, (*(x.shape[i] for i in kept), length))
    rows = layout_of(x.dtype, lines.shape, None, x.device)
    order, allocate = sort_rows(engine, (lines,), "median", ("values",), -1, False).kernel, engine.allocator(rows)
    places = [_place(rows, place) for place in (*sorted({(length - 1) // 2, length // 2}), length - 1)]
    middle = plan_expression(engine, "median", _median_of_places, tuple(part for _, part in places))

    def kernel(stream: int, out: Data, x: Data) -> None:
        source, owner = prepare(stream, x)
        ordered, rows_owner = allocate(stream)
        order(stream, ordered, source)
        target = engine.view(out, 0, middle.layouts[0])
        middle.kernel(stream, target, *[engine.view(ordered, offset, part) for offset, part in places])
        del owner, rows_owner  # kept until the kernels were launched

    return Program((out,), kernel)


def _place(rows: Layout, place: int) -> tuple[int, Layout]:
    """The offset and the layout of one element of each row."""
    region = views.index(rows, (..., place))
    align = alignment(region.offset * rows.dtype.itemsize)
    return region.offset, layout_of(rows.dtype, region.shape, region.strides, rows.device, align)


def _median_of_places(*places: Any) -> Any:
    """The medians, from the one or two elements in the middle of sorted rows, and the last ones."""
    *middle, last = places
    found = _widen(*middle) if len(middle) == 1 else _midpoint(*middle)
    return astype(where(isnan(last), float("nan"), found), result_dtype(last.dtype), copy=False)


def _widen(x: Array) -> Array:
    """`x` in the dtype for computations."""
    return astype(x, wide_dtype(x.dtype), copy=False)


def wide_dtype(dtype: DType) -> DType:
    """The dtype for computations: float32 for 16-bit floats, float64 for integers."""
    return dtype if dtype in (dt.float32, dt.float64) else result_dtype(dtype, dt.float32)


def result_dtype(dtype: DType, half: DType | None = None) -> DType:
    """The dtype of results for operands of `dtype`. If given, `half` replaces 16-bit floats."""
    if dtype in dt.CATEGORIES["integer"]:
        return dt.DEFAULT_FLOAT
    return half if half is not None and dtype in dt.HALVES else dtype


def _midpoint(low: Array, high: Array) -> Array:
    """The means of two arrays. Each is halved first, so that sums do not overflow."""
    mean: Array = add(multiply(_widen(low), 0.5), multiply(_widen(high), 0.5))
    return mean


def interpolate(below: Any, above: Any, part: Any, last: Any) -> Any:
    """Interpolate between the elements at two ranks, from the nearer one, so that both ends are exact."""
    below, above = _widen(below), _widen(above)
    difference = subtract(above, below)
    near = where(part < 0.5, below + difference * part, above - difference * (1 - part))
    found = where(equal(below, above), below, near)  # infinities have no difference
    return where(isnan(last), float("nan"), found)


def places_of_middle(lines: Any) -> tuple[Any, Any]:
    """The places of the middle elements among those that are not NaN. If all are, the first place, which has a NaN."""
    count = count_nonzero(logical_not(isnan(lines)), axis=-1, keepdims=True)
    return maximum(subtract(count, 1) // 2, 0), count // 2


def mean_of_two(below: Any, above: Any) -> Any:
    """The means of two arrays, of infinities too."""
    return where(equal(below, above), _widen(below), _midpoint(below, above))
