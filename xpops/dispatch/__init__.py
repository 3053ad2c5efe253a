"""Elementwise calls: they plan and launch on arrays of any framework, with results in the caller's framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import state
from xpops.dispatch.calls import PLAN_LIMIT, Call, call_for
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.operands import Operands
from xpops.dispatch.state import inline as _inline
from xpops.dispatch.state import launches
from xpops.dispatch.tensor import Tensor
from xpops.engine import engine_of
from xpops.engine.program import Data, Kernel
from xpops.engine.protocol import Engine
from xpops.frameworks.adapter import View
from xpops.ops.elementwise import IDENTITY
from xpops.ops.operator import Operator
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand
from xpops.plan.strides.overlap import overlaps_itself, safe_distance

C = TypeVar("C", bound=Tensor)
__all__ = ["Tensor", "binary", "elementwise", "launches", "set_array_class", "unary"]

# A copy of `state.array_class`: a global of this module is read fastest.
_array_class: type[Any] = Tensor
# (operator, layout or scalar type, ..., layout of out) -> function that writes out. It returns False, and writes
# nothing, if out is read-only or partly overlaps an operand.
_writes: BoundedDict[tuple[Any, ...], Callable[..., bool]] = BoundedDict(PLAN_LIMIT)


def set_array_class(cls: type[C]) -> type[C]:
    """Make `cls`, a subclass of `Tensor`, the class of results."""
    global _array_class
    _array_class = state.array_class = cls
    return cls


def unary(op: Operator, x: Any, out: Any = None) -> Any:
    """`op` of one operand."""
    kind = x.__class__
    if kind is _array_class:
        if out is None:
            launch = launches.get((op, x._layout))
            if launch is not None:
                return launch(x._data)
        elif out.__class__ is kind:
            write = _writes.get((op, x._layout, out._layout))
            if write is not None and write(out, x._data):
                return out
    elif kind in _inline and (result := _inline[kind].call(op, x, None, out)) is not None:
        return result
    return elementwise(op, (x,), out)


def binary(op: Operator, x1: Any, x2: Any, out: Any = None) -> Any:
    """`op` of two operands, either of which may be a Python scalar."""
    kind = x1.__class__
    if kind is _array_class:
        other, value = (x2._layout, x2._data) if x2.__class__ is kind else (x2.__class__, x2)
        if out is None:
            launch = launches.get((op, x1._layout, other))
            if launch is not None:
                return launch(x1._data, value)
        elif out.__class__ is kind:
            write = _writes.get((op, x1._layout, other, out._layout))
            if write is not None and write(out, x1._data, value):
                return out
    elif x2.__class__ is _array_class and out is None:
        launch = launches.get((op, kind, x2._layout))
        if launch is not None:
            return launch(x1, x2._data)
    elif kind in _inline and (result := _inline[kind].call(op, x1, x2, out)) is not None:
        return result
    return elementwise(op, (x1, x2), out)


def elementwise(op: Operator, arguments: tuple[Any, ...], out: Any = None, dtype: DType | None = None) -> Any:
    """`op` of any operands, by the slow path: examine the operands, plan, launch, and remember the call.

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
    for argument in arguments:
        if isinstance(argument, (Traced, TracedScalar)):
            return argument.trace.apply(op, arguments, dtype, out)
    operands = Operands(op.public, op.arguments, arguments, out)
    try:
        if operands.out is not None:
            call, result = _write(op, operands, operands.out, dtype), out
        else:
            call, result = _compute_new(op, operands, dtype)
    finally:  # kernels that were launched before an error still read the operands
        operands.release()
    if (
        operands.as_given and not engine_of(operands.device).is_host and (dtype is None or op is not IDENTITY)
    ):  # casts never look a call up
        _remember(op, operands, arguments, out, dtype, call, result)
    return result


def _remember(
    op: Operator,
    operands: Operands,
    arguments: tuple[Any, ...],
    out: Any,
    dtype: DType | None,
    call: Call,
    result: Any,
) -> None:
    """Keep the call in the inline cache of its framework, if the framework has one."""
    inline = getattr(operands.framework, "inline", None)
    if inline is None or len(arguments) - op.parameters > 2:
        return
    x1, x2, specs, kernel = arguments[0], None, operands.specs, call.kernel
    if op.parameters:
        x2, specs, kernel = arguments[1:], (specs[0], tuple), _unpack_parameters(kernel)
    elif len(arguments) == 2:
        x2 = arguments[1]
    if inline.remember(op if dtype is None else (op, dtype), x1, x2, out, specs, call.layout, kernel, result):
        _inline[x1.__class__] = inline


def _unpack_parameters(kernel: Kernel) -> Kernel:
    """`kernel` with all parameters in one tuple: an inline cache knows calls of one or two operands only."""
    return lambda stream, out, x, parameters: kernel(stream, out, x, *parameters)


def _compute_new(op: Operator, operands: Operands, dtype: DType | None) -> tuple[Call, Any]:
    """The call, and its result in new memory: from the framework's allocator if it has one, else from xpops."""
    engine, framework, stream = engine_of(operands.device), operands.framework, operands.stream
    call = call_for(op, operands.specs, operands.device, dtype)
    allocated = framework.allocate(call.layout) if framework is not None else None
    if allocated is not None:
        result, data = allocated
        call.kernel(stream, data, *operands.values)
        return call, result
    data, owner = engine.allocate(call.layout, stream)
    call.kernel(stream, data, *operands.values)
    array = _array_class(call.layout, data, owner)
    if framework is not None:
        return call, framework.export(array)
    if operands.native:
        key = (op, *operands.specs) if dtype is None else (op, *operands.specs, dtype)
        launches[key] = state.make_launch(engine, *call, len(operands.specs))
    return call, array


def _write(op: Operator, operands: Operands, out: View, dtype: DType | None) -> Call:
    """The call, after writing its result to `out`: through a temporary array if `out` partly overlaps an operand."""
    engine, layout, stream = engine_of(operands.device), out.layout, operands.stream
    if not out.writable:
        raise ValueError(f"{op.public}: out is read-only; accepted: a writable array")
    if overlaps_itself(layout):
        raise ValueError(
            f"{op.public}: out may have several elements at one address; accepted: an array without repeats"
        )
    call = call_for(op, operands.specs, operands.device, dtype, layout)
    if _overlaps_partly(engine, layout, out.data, operands.specs, operands.values):
        fresh = layout_of(layout.dtype, layout.shape, None, layout.device)
        data, owner = engine.allocate(fresh, stream)
        call_for(op, operands.specs, operands.device, dtype, fresh).kernel(stream, data, *operands.values)
        call_for(IDENTITY, (fresh,), operands.device, layout.dtype, layout).kernel(stream, out.data, data)
        del owner  # freed after the launch: the pool reuses memory in stream order
        return call
    call.kernel(stream, out.data, *operands.values)
    if operands.native and dtype is None:
        _writes[(op, *operands.specs, layout)] = _writer(engine, call, operands.specs)
    return call


def _overlaps_partly(
    engine: Engine, out: Layout, target: Data, specs: tuple[Operand, ...], values: Sequence[Any]
) -> bool:
    address = engine.address(target)
    return any(
        not isinstance(spec, type) and not safe_distance(out, spec).holds(engine.address(value) - address)
        for spec, value in zip(specs, values, strict=True)
    )


def _writer(engine: Engine, call: Call, specs: tuple[Operand, ...]) -> Callable[..., bool]:
    """The steady state for xpops arrays and an xpops `out`: check that `out` may be written, then launch."""
    layout, kernel = call
    current_stream, address = engine.current_stream, engine.address
    safe = [None if isinstance(spec, type) else safe_distance(layout, spec).holds for spec in specs]

    def write(out: Tensor, *values: Any) -> bool:
        target = out._data
        target_address = address(target)
        for holds, value in zip(safe, values, strict=True):
            if holds is not None and not holds(address(value) - target_address):
                return False
        if not out._writable:
            return False
        kernel(current_stream(), target, *values)
        return True

    return write
