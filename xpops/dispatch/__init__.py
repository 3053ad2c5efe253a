"""Elementwise calls: they plan and launch on arrays of any framework, with results in the caller's framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from xpops.core.compiled import compiled
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import steady
from xpops.dispatch.calls import call_for, require_fit
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.gradients.calls import (
    RecordedCall,
    makers,
    overwriter_of,
    recorded_calls,
    recorder_of,
    remember_recorded,
    require_no_gradient,
)
from xpops.dispatch.gradients.rules import rule_of_operator
from xpops.dispatch.operands import Operands
from xpops.dispatch.steady import (
    known,
    known_write,
    launches,
    make_launch,
    make_write,
    remember,
    remember_write,
)
from xpops.dispatch.tensor import Tensor
from xpops.engine import engine_of
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.frameworks.adapter import View
from xpops.ops.elementwise import IDENTITY
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand
from xpops.plan.strides.overlap import overlaps_itself, safe_distance

C = TypeVar("C", bound=Tensor)
__all__ = ["Tensor", "binary", "elementwise", "launches", "set_array_class", "unary", "write_first"]

# A copy of `steady.array_class`: a global of this module is read fastest.
_array_class: type[Any] = Tensor


def set_array_class(cls: type[C]) -> type[C]:
    """Make `cls`, a subclass of `Tensor`, the class of results."""
    global _array_class
    _array_class = cls
    steady.set_array_class(cls)
    return cls


def elementwise(op: Operator, arguments: tuple[Any, ...], out: Any = None, dtype: DType | None = None) -> Any:
    """`op` of any operands.

    Parameters
    ----------
    op : Operator
    arguments : tuple
        Arrays of any framework, Python and NumPy scalars.
    out : array, optional
        The call writes and returns it. It has the result's shape, and the result's dtype or another of its kind.
    dtype : numpy.dtype, optional
        The result's dtype, for casts.

    Returns
    -------
    array
        `out` if given; else an array of the operands' framework. If they belong to several frameworks, or to none that
        is known, an xpops array.
    """
    way = op if dtype is None else (op, dtype)
    if out is None:
        result = known(way, arguments)
        return _first_call(op, way, arguments, dtype) if result is None else result
    return out if known_write(way, arguments, out) else write_first(op, way, arguments, out, dtype)


def _unary(op: Operator, x: Any, out: Any = None) -> Any:
    """`op` of one operand."""
    return elementwise(op, (x,), out)


def _binary(op: Operator, x1: Any, x2: Any, out: Any = None) -> Any:
    """`op` of two operands, either of which may be a Python scalar."""
    return elementwise(op, (x1, x2), out)


unary: Callable[..., Any]
binary: Callable[..., Any]
if compiled is None:
    unary, binary = _unary, _binary
else:
    compiled.set_elementwise(elementwise)
    unary, binary = compiled.unary, compiled.binary


def _first_call(op: Operator, way: Any, arguments: tuple[Any, ...], dtype: DType | None) -> Any:
    """The result by the slow path: examine the operands, plan, launch, and remember the launch."""
    for argument in arguments:
        if isinstance(argument, (Traced, TracedScalar)):
            return argument.trace.apply(op, arguments, dtype, None)
    recorder = recorder_of(arguments)
    if recorder is not None:
        recorded = recorded_calls.get(way) or _recorded(op, dtype)
        if recorded.is_differentiable or any(map(recorder.is_traced, arguments)):
            result = recorder.record(recorded, arguments)
            remember_recorded(way, arguments, result, recorder, recorded)
            return result
    operands = Operands(op.public, op.arguments, arguments)
    try:
        layout, kernel = call_for(op, operands.specs, operands.device, dtype)
        launch = make_launch(operands, (layout,), operands.adapt_kernel(way, (layout,), kernel))
        launch = operands.adapt_launch(op, dtype, layout, launch)
        result = launch(*operands.inputs)
    finally:  # kernels that were launched before an error still read the operands
        operands.release()
    launch = operands.repeated(arguments, launch, lambda: recorded_calls.get(way) or _recorded(op, dtype))
    remember(way, arguments, operands, launch)
    return result


def _recorded(op: Operator, dtype: DType | None) -> RecordedCall:
    """The call of an operator with its derivatives."""
    way = op if dtype is None else (op, dtype)

    def compute(*values: Any) -> Any:
        return elementwise(op, values, None, dtype)

    def plan(device: Device, specs: tuple[Operand, ...]) -> Program:
        layout, kernel = call_for(op, specs, device, dtype)
        return Program((layout,), kernel)

    made_of = ("elementwise", op, dtype)
    made = recorded_calls[way] = RecordedCall(
        op.public, op.arguments, {}, rule_of_operator(op), compute, made_of, plan, broadcasts=True
    )
    return made


makers["elementwise"] = _recorded


def write_first(op: Operator, way: Any, arguments: tuple[Any, ...], out: Any, dtype: DType | None) -> Any:
    """Write the result to `out` by the slow path. If it partly overlaps an operand, through a temporary array."""
    for argument in arguments:
        if isinstance(argument, (Traced, TracedScalar)):
            return argument.trace.apply(op, arguments, dtype, out)
    require_no_gradient(op.public, (*arguments, out))
    tracer = overwriter_of((*arguments, out))
    if tracer is not None:
        value = elementwise(op, arguments, None, dtype)
        require_fit(op, *tracer.facts(value), tracer.facts(out))
        tracer.overwrite(out, value)
        return out
    operands = Operands(op.public, op.arguments, arguments, out)
    try:
        target = _require_target(op, operands)
        layout, kernel = call_for(op, operands.specs, operands.device, dtype, target.layout)
        if _overlaps_partly(engine_of(operands.device), layout, target.data, operands.specs, operands.values):
            _write_through_copy(op, operands, target, dtype)
            return out
        kernel = operands.adapt_kernel(way, (layout,), kernel)
        kernel(operands.stream, operands.target, *operands.inputs)
    finally:
        operands.release()
    remember_write(way, arguments, out, operands, make_write(operands, layout, kernel))
    return out


def _require_target(op: Operator, operands: Operands) -> View:
    target = operands.out
    if target is None or not target.writable:
        raise ValueError(f"{op.public}: out is read-only; accepted: a writable array")
    if overlaps_itself(target.layout):
        raise ValueError(
            f"{op.public}: out may have several elements at one address; accepted: an array without repeats"
        )
    return target


def _write_through_copy(op: Operator, operands: Operands, out: View, dtype: DType | None) -> None:
    engine, layout, stream = engine_of(operands.device), out.layout, operands.stream
    fresh = layout_of(layout.dtype, layout.shape, None, layout.device)
    data, owner = engine.allocate(fresh, stream)
    call_for(op, operands.specs, operands.device, dtype, fresh).kernel(stream, data, *operands.values)
    call_for(IDENTITY, (fresh,), operands.device, layout.dtype, layout).kernel(stream, out.data, data)
    del owner  # freed after the launch: the pool reuses memory in stream order


def _overlaps_partly(
    engine: Engine, out: Layout, target: Data, specs: tuple[Operand, ...], values: Sequence[Any]
) -> bool:
    address = engine.address(target)
    return any(
        not isinstance(spec, type) and not safe_distance(out, spec).holds(engine.address(value) - address)
        for spec, value in zip(specs, values, strict=True)
    )
