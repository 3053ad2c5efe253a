"""Indexing functions of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.api.signatures import scalar_function
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.lines import plan_on_lines
from xpops.dispatch.primitives import call, copier
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides import views
from xpops.plan.strides.broadcast import broadcast_shapes

__all__ = ["take", "take_along_axis"]

_NAMES = ("x", "indices")


@scalar_function
def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """The slices of an array at given indices along an axis.

    Parameters
    ----------
    x : array
        Has one axis or more.
    indices : array or int
        Integers. Negative ones count from the end. An index out of range raises IndexError: on the CPU at once, on a
        GPU when the host next reads from it, or at once with ``XPOPS_DEBUG=1``. Until then the GPU uses the nearest
        valid index. Beyond the standard, a Python integer takes one slice.
    axis : int, optional
        May be omitted if `x` has one axis.

    Returns
    -------
    array
        Has the dtype of `x`, and its shape with `axis` replaced by the shape of `indices`.

    Raises
    ------
    TypeError
        If `indices` are not integers.
    ValueError
        If `axis` is omitted and `x` does not have one axis.
    IndexError
        If there is no such axis, or it is empty and `indices` are not; if an index is out of range (see `indices`).

    Examples
    --------
    >>> xp.take(xp.asarray([[1, 2, 3], [4, 5, 6]]), xp.asarray([2, -3]), axis=1)
    Array([[3, 1],
           [6, 4]], dtype=int64, device='cpu')
    """
    if isinstance(indices, (int, np.integer)) and not isinstance(indices, bool):
        return call(_plan_slice, "take", _NAMES, (x, int(indices)), axis)
    return call(_plan_take, "take", _NAMES, (x, indices), axis)


@scalar_function
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements of an array at indices along an axis: one index for each element of the result.

    Parameters
    ----------
    x : array
    indices : array
        Integers, as for `take`. Has as many axes as `x`. All axes but `axis` broadcast with those of `x`.
    axis : int

    Returns
    -------
    array
        Has the dtype of `x`. Its length along `axis` is that of `indices`.

    Raises
    ------
    TypeError
        If `indices` are not integers.
    ValueError
        If `indices` have more or fewer axes than `x`, or do not broadcast with it.
    IndexError
        If there is no such axis, or it is empty and the result is not; if an index is out of range (see `take`).

    Examples
    --------
    >>> x = xp.asarray([[3, 1, 2], [9, 8, 7]])
    >>> xp.take_along_axis(x, xp.asarray([[1], [-1]]))
    Array([[1],
           [7]], dtype=int64, device='cpu')
    """
    return call(_plan_along, "take_along_axis", _NAMES, (x, indices), axis)


@differentiable(derivative.take)
def _plan_take(engine: Engine, specs: tuple[Operand, ...], axis: Any) -> Program:
    if specs[1] is int:  # the symbol of an integer
        return _plan_slice(engine, specs, axis)
    x, indices = _require_operands(specs, "take")
    found = _resolve_axis(x, axis)
    if x.shape[found] == 0 and indices.size:
        raise IndexError(f"take: axis {found} is empty, and indices are not")

    def gather(x: Layout, *_: Layout) -> Program:
        return engine.gather(x, (found,), (indices,), found, ("take: indices",))

    others = [stride for axis, stride in enumerate(x.strides) if axis != found and x.shape[axis] > 1]
    if indices.ndim != 1 or 1 in others:  # packs of neighbours are gathered as fast as they are copied
        return gather(x)
    out = layout_of(x.dtype, (*x.shape[:found], indices.size, *x.shape[found + 1 :]), None, x.device)
    return plan_on_lines(engine, x, (found,), (out,), gather)


@differentiable(derivative.take)
def _plan_slice(engine: Engine, specs: tuple[Operand, ...], axis: Any) -> Program:
    """The program of one slice. The index is an argument of the kernel."""
    x = require_array(specs[0], "take", "x")
    found = _resolve_axis(x, axis)
    length, step = x.shape[found], x.strides[found]
    shape, strides = (each[:found] + each[found + 1 :] for each in (x.shape, x.strides))
    align = min(x.align, alignment(abs(step) * x.dtype.itemsize))
    part, out = layout_of(x.dtype, shape, strides, x.device, align), layout_of(x.dtype, shape, None, x.device)
    copy = copier(part, out) if out.size else None

    def kernel(stream: int, out: Data, data: Data, index: int) -> None:
        if not -length <= index < length:
            raise IndexError(f"take: indices is {index}; accepted: {-length} to {length - 1}")
        if copy is not None:
            copy(stream, out, engine.view(data, index % length * step, part))

    return Program((out,), kernel)


def _resolve_axis(x: Layout, axis: Any) -> int:
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: axis is None, and x has {x.ndim} axes; accepted without axis: one")
    return views.axis_of(0 if axis is None else axis, x.ndim, "take")


@differentiable(derivative.take_along_axis)
def _plan_along(engine: Engine, specs: tuple[Operand, ...], axis: Any) -> Program:
    x, indices = _require_operands(specs, "take_along_axis")
    found = views.axis_of(axis, x.ndim, "take_along_axis")
    if indices.ndim != x.ndim:
        raise ValueError(f"take_along_axis: indices has {indices.ndim} axes; accepted: {x.ndim}, as x has")
    rests = [(*each.shape[:found], 1, *each.shape[found + 1 :]) for each in (x, indices)]
    rest = broadcast_shapes(*rests, function="take_along_axis")
    x, indices = (_broadcast(each, (*rest[:found], each.shape[found], *rest[found + 1 :])) for each in (x, indices))
    if x.shape[found] == 0 and indices.size:
        raise IndexError(f"take_along_axis: axis {found} of x is empty, and indices are not")
    program = engine.take_along(x, indices, found)

    def kernel(stream: int, out: Data, *operands: Data) -> None:
        wide = (engine.view(data, 0, layout) for data, layout in zip(operands, (x, indices), strict=True))
        program.kernel(stream, out, *wide)

    return Program(program.layouts, kernel)


def _require_operands(specs: tuple[Operand, ...], function: str) -> tuple[Layout, Layout]:
    x, indices = (require_array(spec, function, name) for spec, name in zip(specs, _NAMES, strict=True))
    if indices.dtype not in dt.CATEGORIES["integer"]:
        raise TypeError(f"{function}: indices has dtype {indices.dtype}; accepted: integer dtypes")
    return x, indices


def _broadcast(layout: Layout, shape: tuple[int, ...]) -> Layout:
    return layout_of(layout.dtype, shape, views.broadcast_to(layout, shape).strides, layout.device, layout.align)
