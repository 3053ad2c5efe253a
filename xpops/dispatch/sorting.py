"""Sort, top-k and binary search: plans over the primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import promote
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.lines import plan_on_lines
from xpops.dispatch.primitives import copier, with_axis_last
from xpops.engine.program import Data, Kernel, Owner, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides.views import axis_of

_SORTED = dt.CATEGORIES["real-valued"] | dt.CATEGORIES["boolean"]


@differentiable(derivative.sort)
def sort(
    engine: Engine,
    specs: tuple[Operand, ...],
    function: str,
    parts: tuple[str, ...],
    axis: Any,
    descending: bool,
    count: int | None = None,
) -> Program:
    """The program that sorts an array along `axis`.

    Parameters
    ----------
    parts : tuple of str
        The results: "values", "indices" or both in this order.
    count : int, optional
        The number of elements to keep of each row, by default all.

    Raises
    ------
    TypeError
        If the operand is no array, or its dtype is complex or float8, or `axis` is no integer.
    IndexError
        If there is no such axis.
    ValueError
        If `count` is negative or larger than the length of the axis.
    """
    x = require_array(specs[0], function, "x")
    if x.dtype not in _SORTED:
        raise TypeError(f"{function}: dtype {x.dtype} is not accepted; accepted: real-valued dtypes and bool")
    found = axis_of(axis, x.ndim, function)
    length = x.shape[found]
    if count is not None and not 0 <= count <= length:
        raise ValueError(f"{function}: k is {count}; accepted: 0 to {length}, the length of axis {axis}")
    kept = length if count is None else count
    shape = (*x.shape[:found], kept, *x.shape[found + 1 :])
    dtypes = {"values": x.dtype, "indices": dt.int64}
    outs = tuple(layout_of(dtypes[part], shape, None, x.device) for part in parts)
    if outs[0].size == 0:
        return Program(outs, lambda stream, *data: None)

    def plan(x: Layout, *outs: Layout) -> Program:
        return _plan_rows(engine, x, dict(zip(parts, outs, strict=True)), found, descending)

    return plan_on_lines(engine, x, (found,), outs, plan)


def _plan_rows(engine: Engine, x: Layout, outs: dict[str, Layout], axis: int, descending: bool) -> Program:
    """The program that sorts `x` along an axis, for the results `outs` by their names in `sort`."""
    source, prepare = make_dense(engine, with_axis_last(x, axis))
    targets = [_row_memory(engine, out, axis) for out in outs.values()]
    rows = {part: layout_of(out.dtype, with_axis_last(out, axis).shape, None, out.device) for part, out in outs.items()}
    kernel = engine.sort(source, rows.get("values"), rows.get("indices"), descending)

    def run(stream: int, *data: Data) -> None:
        *results, operand = data
        given, owner = prepare(stream, operand)
        made = [begin(stream, result) for (begin, _), result in zip(targets, results, strict=True)]
        kernel(stream, *(rows_data for rows_data, _ in made), given)
        for (_, finish), result, (rows_data, _) in zip(targets, results, made, strict=True):
            finish(stream, result, rows_data)
        del owner, made  # kept until the kernels were launched

    return Program(tuple(outs.values()), run)


_Begin = Callable[[int, Data], tuple[Data, Owner]]


def _row_memory(engine: Engine, out: Layout, axis: int) -> tuple[_Begin, Kernel]:
    """Two functions: ``(stream, data)`` gives the memory for sorted rows, ``(stream, out, rows)`` copies from it.

    The memory is the result's own if its rows are contiguous; then nothing is copied.
    """
    view = with_axis_last(out, axis)
    if view.contiguous:
        return lambda stream, data: (engine.view(data, 0, view), None), lambda stream, out, rows: None
    rows_layout = layout_of(out.dtype, view.shape, None, out.device)
    allocate, copy = engine.allocator(rows_layout), copier(rows_layout, view)

    def finish(stream: int, data: Data, rows_data: Data) -> None:
        copy(stream, engine.view(data, 0, view), rows_data)

    return lambda stream, data: allocate(stream), finish


@differentiable()
def searchsorted(engine: Engine, specs: tuple[Operand, ...], right: bool) -> Program:
    """The program that finds where elements of the second operand belong in the first.

    A third operand is a permutation that sorts the first.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or the first or third operand is a scalar.
    ValueError
        If the first operand does not have one axis, or the third has another shape.
    """
    x1, *sorters = (
        require_array(spec, "searchsorted", name) for spec, name in zip(specs[::2], ("x1", "sorter"), strict=False)
    )
    x2, sorter = specs[1], sorters[0] if sorters else None
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: x1 has shape {x1.shape}; accepted: one axis")
    if sorter is not None and sorter.dtype not in dt.CATEGORIES["integer"]:
        raise TypeError(f"searchsorted: sorter has dtype {sorter.dtype}; accepted: integer dtypes")
    if sorter is not None and sorter.shape != x1.shape:
        raise ValueError(f"searchsorted: sorter has shape {sorter.shape}; accepted: {x1.shape}, that of x1")
    loop = _comparison_dtype(x1, x2)
    out = layout_of(dt.int64, x2.shape if isinstance(x2, Layout) else (), None, x1.device)

    def plan(x2: Operand, out: Layout) -> Program:
        return _plan_searches(engine, x1, x2, sorter, right, out, loop)

    return plan_on_lines(engine, x2, (), (out,), plan, 1) if isinstance(x2, Layout) else plan(x2, out)


def _plan_searches(
    engine: Engine, x1: Layout, x2: Operand, sorter: Layout | None, right: bool, out: Layout, loop: DType
) -> Program:
    """The program of `searchsorted` with checked operands."""
    source, prepare_source = make_dense(engine, x1)
    wanted, prepare_wanted = make_dense(engine, x2) if isinstance(x2, Layout) else (x2, _range_check(loop))
    order, prepare_order = make_dense(engine, sorter) if sorter is not None else (None, None)
    prepared = [each for each in (prepare_source, prepare_wanted, prepare_order) if each is not None]
    kernel = engine.searchsorted(source, wanted, right, out, loop, order)

    def run(stream: int, out: Data, *operands: Data) -> None:
        given = [prepare(stream, data) for prepare, data in zip(prepared, operands, strict=True)]
        kernel(stream, out, *(data for data, _ in given))
        del given  # kept until the kernel was launched

    return Program((out,), run)


def _comparison_dtype(x1: Layout, x2: Operand) -> DType:
    """The dtype in which elements of both operands are compared."""
    for name, spec in (("x1", x1), ("x2", x2)):
        found = spec.dtype if isinstance(spec, Layout) else promote((spec,))
        if found not in dt.CATEGORIES["real-valued"]:
            raise TypeError(f"searchsorted: {name} has dtype {found}; accepted: real-valued dtypes")
    if isinstance(x2, Layout):
        return promote((x1.dtype, x2.dtype), "searchsorted")
    # A Python integer is not wrapped to a narrow dtype: beyond its range, it belongs before or after all elements.
    found = promote((x1.dtype, x2), "searchsorted")
    return dt.int64 if found in dt.CATEGORIES["integer"] and found != dt.uint64 else found


def _range_check(loop: DType) -> Callable[[int, Any], tuple[Any, None]]:
    """A function ``(stream, scalar)`` that returns the scalar and no owner.

    It raises OverflowError for an integer that `loop` cannot hold.
    """
    if loop not in dt.CATEGORIES["integer"]:
        return lambda stream, value: (value, None)
    low, high = int(np.iinfo(loop).min), int(np.iinfo(loop).max)

    def check(stream: int, value: int) -> tuple[int, None]:
        if not low <= value <= high:
            raise OverflowError(f"searchsorted: x2 is {value}; accepted: {low} to {high}")
        return value, None

    return check
