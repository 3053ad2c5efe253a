"""Reductions into elements that indices select: plans over the primitive `scatter_reduce`."""

from __future__ import annotations

from typing import Any

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call, copier
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import nn as derivative
from xpops.ops.derivatives.elementwise import same
from xpops.ops.elementwise import IDENTITY
from xpops.plan.signature import Operand
from xpops.plan.strides import views

_REDUCED = dt.CATEGORIES["real-valued"]
_NO_INDEX = -1


@differentiable(whole=derivative.scatter_elements)
def scatter_elements(
    engine: Engine,
    specs: tuple[Operand, ...],
    function: str,
    axis: Any,
    reduction: str,
    include_self: bool,
    deterministic: bool,
) -> Program:
    """The program of ``scatter_add`` and ``scatter_reduce``: `index` has an index for each element of `source`."""
    x, index, source = _require_operands(specs, function, ("x", "index", "source"))
    found = views.axis_of(axis, x.ndim, function)
    for name, each in (("index", index), ("source", source)):
        if each.ndim != x.ndim:
            raise ValueError(f"{function}: {name} has {each.ndim} axes; accepted: {x.ndim}, as x has")
    if any(n > m for n, m in zip(index.shape, source.shape, strict=True)):
        raise ValueError(f"{function}: index has shape {index.shape}; accepted: up to {source.shape}, that of source")
    if any(n > m for at, (n, m) in enumerate(zip(index.shape, x.shape, strict=True)) if at != found):
        raise ValueError(
            f"{function}: index has shape {index.shape}; accepted: up to {x.shape}, that of x, but along axis {found}"
        )
    taken = layout_of(source.dtype, index.shape, source.strides, source.device, source.align)
    return _program(engine, x, index, taken, found, reduction, include_self, deterministic, function)


@differentiable(same, None, derivative.scatter_slices_source)
def scatter_slices(
    engine: Engine, specs: tuple[Operand, ...], function: str, axis: Any, deterministic: bool
) -> Program:
    """The program of ``index_add``: `index` has an index for each slice of `source` along an axis."""
    x, index, source = _require_operands(specs, function, ("x", "index", "source"))
    found = views.axis_of(axis, x.ndim, function)
    if index.ndim != 1:
        raise ValueError(f"{function}: index has shape {index.shape}; accepted: one axis")
    wanted = (*x.shape[:found], index.size, *x.shape[found + 1 :])
    if source.shape != wanted:
        raise ValueError(
            f"{function}: source has shape {source.shape}; accepted: {wanted}, for x and index as they are"
        )
    wide = _broadcast_index(index, source.shape, found)
    return _program(engine, x, wide, source, found, "sum", True, deterministic, function)


@differentiable(derivative.scatter_rows)
def scatter_rows(
    engine: Engine, specs: tuple[Operand, ...], function: str, rows: int, padding: int, deterministic: bool
) -> Program:
    """The program of ``embedding_backward(grad, index, rows)``."""
    grad, index = _require_operands(specs, function, ("grad", "index"))
    if grad.ndim == 0 or grad.shape[:-1] != index.shape:
        raise ValueError(
            f"{function}: grad has shape {grad.shape}; accepted: {(*index.shape, 'D')}, that of index first"
        )
    width = grad.shape[-1]
    out = layout_of(grad.dtype, (rows, width), None, grad.device)
    flat = (index.size,)
    targets, prepare_index = make_dense(engine, index, flat)
    source, prepare_source = make_dense(engine, grad, (*flat, width))
    _require_nonempty(out, targets, 0, function)
    wide = _broadcast_index(targets, source.shape, 0)
    reduce = engine.scatter_reduce(out, 0, wide, source, "sum", True, deterministic, padding, f"{function}: index")
    zero = call_for(IDENTITY, (int,), out.device, out.dtype, out).kernel

    def kernel(stream: int, out: Data, grad: Data, index: Data) -> None:
        zero(stream, out, 0)
        rows, owner = prepare_source(stream, grad)
        at, index_owner = prepare_index(stream, index)
        reduce(stream, out, engine.view(at, 0, wide), rows)
        del owner, index_owner  # kept until the kernels were launched

    return Program((out,), kernel)


@differentiable(derivative.scatter_into_zeros)
def scatter_into_zeros(engine: Engine, specs: tuple[Operand, ...], axis: int, length: int) -> Program:
    """The program of ``scatter_add`` to zeros: `index` has an index for each element of `source`."""
    function = "scatter_add"
    source, index = _require_operands(specs, function, ("source", "index"))
    out = layout_of(source.dtype, (*source.shape[:axis], length, *source.shape[axis + 1 :]), None, source.device)
    _require_nonempty(out, index, axis, function)
    dense, prepare = make_dense(engine, source)
    reduce = engine.scatter_reduce(out, axis, index, dense, "sum", True, True, _NO_INDEX, f"{function}: index")
    zero = call_for(IDENTITY, (int,), out.device, out.dtype, out).kernel

    def kernel(stream: int, out: Data, source: Data, index: Data) -> None:
        zero(stream, out, 0)
        given, owner = prepare(stream, source)
        reduce(stream, out, index, given)
        del owner  # kept until the kernels were launched

    return Program((out,), kernel)


def sums_at(source: Any, index: Any, axis: int, length: int) -> Any:
    """The sums of elements at the places that `index` says along an axis of `length`."""
    return call(scatter_into_zeros, "scatter_add", ("source", "index"), (source, index), axis, length)


def _program(
    engine: Engine,
    x: Layout,
    index: Layout,
    source: Layout,
    axis: int,
    reduction: str,
    include_self: bool,
    deterministic: bool,
    function: str,
) -> Program:
    """The program ``(x, index, source)`` that copies `x`, and reduces `source` into the copy.

    `index` and `source` may be views of the caller's arrays with the same first element.
    """
    out = layout_of(x.dtype, x.shape, None, x.device)
    _require_nonempty(x, index, axis, function)
    copy, named = copier(x, out) if out.size else None, index
    dense_source, prepare = make_dense(engine, source)
    reduce = engine.scatter_reduce(
        out, axis, index, dense_source, reduction, include_self, deterministic, _NO_INDEX, f"{function}: index"
    )

    def kernel(stream: int, out: Data, x: Data, index: Data, source: Data) -> None:
        if copy is None:
            return
        copy(stream, out, x)
        given, owner = prepare(stream, source)
        reduce(stream, out, engine.view(index, 0, named), given)
        del owner  # kept until the kernels were launched

    return Program((out,), kernel)


def _require_operands(specs: tuple[Operand, ...], function: str, names: tuple[str, ...]) -> tuple[Layout, ...]:
    """The layouts, after a check: `index` has an integer dtype, all others share one real-valued dtype."""
    layouts = tuple(require_array(spec, function, name) for spec, name in zip(specs, names, strict=True))
    for name, each in zip(names, layouts, strict=True):
        if name == "index":
            if each.dtype not in dt.CATEGORIES["integer"]:
                raise TypeError(f"{function}: index has dtype {each.dtype}; accepted: integer dtypes")
        elif each.dtype not in _REDUCED:
            raise TypeError(f"{function}: {name} has dtype {each.dtype}; accepted: real-valued dtypes")
        elif each.dtype != layouts[0].dtype:
            raise TypeError(f"{function}: {name} has dtype {each.dtype}; accepted: {layouts[0].dtype}, that of x")
    return layouts


def _require_nonempty(x: Layout, index: Layout, axis: int, function: str) -> None:
    if x.shape[axis] == 0 and index.size:
        raise IndexError(f"{function}: axis {axis} of the result is empty, and index is not")


def _broadcast_index(index: Layout, shape: tuple[int, ...], axis: int) -> Layout:
    """A 1-d index along `axis`, broadcast to `shape`."""
    strides = tuple(index.strides[0] if each == axis else 0 for each in range(len(shape)))
    return layout_of(index.dtype, shape, strides, index.device, index.align)
