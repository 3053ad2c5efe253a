"""Where operators, plans and engines meet: from any arrays to a result in the caller's own framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from xpops.core.devices import CPU
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import state
from xpops.dispatch.calls import PLAN_LIMIT, Call, call_for
from xpops.dispatch.operands import Operands
from xpops.dispatch.state import inline as _inline
from xpops.dispatch.state import launches
from xpops.dispatch.tensor import Tensor
from xpops.dispatch.traced_arrays import Traced
from xpops.dispatch.traced_scalars import TracedScalar
from xpops.engine import engine_of
from xpops.engine.protocol import Data, Engine, Kernel
from xpops.frameworks.adapter import View
from xpops.ops.elementwise import IDENTITY
from xpops.ops.operator import Operator
from xpops.plan.cache import BoundedDict
from xpops.plan.overlap import overlaps_itself, safe_distance
from xpops.plan.signature import Operand

C = TypeVar("C", bound=Tensor)
__all__ = ["Tensor", "binary", "elementwise", "launches", "set_array_class", "unary"]

# `state.array_class`, where it is read fastest.
_array_class: type[Any] = Tensor
# (operator, layout or scalar type, ..., layout of out) -> function that writes out, or returns False if it must not.
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
    """`op` of any operands: the long way, which finds out what they are and remembers the plan.

    Parameters
    ----------
    op : Operator
    arguments : tuple
        Arrays of any framework, Python and NumPy scalars.
    out : array, optional
        Written and returned. Has the result's shape, and its dtype or another one of its kind.
    dtype : numpy.dtype, optional
        The result's dtype, for casts.

    Returns
    -------
    array
        `out`; else an array of the operands' framework, or an xpops array where they are of several or of none known.
    """
    for argument in arguments:
        if isinstance(argument, (Traced, TracedScalar)):
            return argument.trace.apply(op, arguments, dtype, out)
    operands = Operands(op.public, op.arguments, arguments, out)
    try:
        if operands.out is not None:
            call, result = _write(op, operands, operands.out, dtype), out
        else:
            call, result = _fresh(op, operands, dtype)
    finally:  # what was launched before an error still reads the operands
        operands.release()
    if (
        operands.as_given and operands.device != CPU and (dtype is None or op is not IDENTITY)
    ):  # casts do not look there
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
    """Keep the way of a call on arrays of a framework that recognises its own, if there is one."""
    inline = getattr(operands.framework, "inline", None)
    if inline is None or len(arguments) - op.parameters > 2:
        return
    x1, x2, specs, kernel = arguments[0], None, operands.specs, call.kernel
    if op.parameters:
        x2, specs, kernel = arguments[1:], (specs[0], tuple), _spread(kernel)
    elif len(arguments) == 2:
        x2 = arguments[1]
    if inline.remember(op if dtype is None else (op, dtype), x1, x2, out, specs, call.layout, kernel, result):
        _inline[x1.__class__] = inline


def _spread(kernel: Kernel) -> Kernel:
    """`kernel`, its parameters in a tuple: what takes two operands takes any number of them."""
    return lambda stream, out, x, parameters: kernel(stream, out, x, *parameters)


def _fresh(op: Operator, operands: Operands, dtype: DType | None) -> tuple[Call, Any]:
    """The call, and its result in new memory: the framework's own where there is one, else xpops'."""
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
        launches[key] = state.steady(engine, *call, len(operands.specs))
    return call, array


def _write(op: Operator, operands: Operands, out: View, dtype: DType | None) -> Call:
    """The call, its result in the caller's memory: through a temporary if it partly overlaps an operand."""
    engine, layout, stream = engine_of(operands.device), out.layout, operands.stream
    if not out.writable:
        raise ValueError(f"{op.public}: out is read-only; accepted: a writable array")
    if overlaps_itself(layout):
        raise ValueError(
            f"{op.public}: out may have several elements at one address; accepted: an array without repeats"
        )
    call = call_for(op, operands.specs, operands.device, dtype, layout)
    if _unsafe(engine, layout, out.data, operands.specs, operands.values):
        fresh = layout_of(layout.dtype, layout.shape, None, layout.device)
        data, owner = engine.allocate(fresh, stream)
        call_for(op, operands.specs, operands.device, dtype, fresh).kernel(stream, data, *operands.values)
        call_for(IDENTITY, (fresh,), operands.device, layout.dtype, layout).kernel(stream, out.data, data)
        del owner  # kept until the copy was launched; the pool is ordered on the stream
        return call
    call.kernel(stream, out.data, *operands.values)
    if operands.native and dtype is None:
        _writes[(op, *operands.specs, layout)] = _writer(engine, call, operands.specs)
    return call


def _unsafe(engine: Engine, out: Layout, target: Data, specs: tuple[Operand, ...], values: Sequence[Any]) -> bool:
    address = engine.address(target)
    return any(
        not isinstance(spec, type) and not safe_distance(out, spec).holds(engine.address(value) - address)
        for spec, value in zip(specs, values, strict=True)
    )


def _writer(engine: Engine, call: Call, specs: tuple[Operand, ...]) -> Callable[..., bool]:
    """The steady state for xpops arrays and an xpops `out`: check that it may be written, launch."""
    layout, kernel = call
    current_stream, address = engine.current_stream, engine.address
    safe = [None if isinstance(spec, type) else safe_distance(layout, spec).holds for spec in specs]

    def write(out: Tensor, *values: Any) -> bool:
        target = out._data
        place = address(target)
        for holds, value in zip(safe, values, strict=True):
            if holds is not None and not holds(address(value) - place):
                return False
        if not out._writable:
            return False
        kernel(current_stream(), target, *values)
        return True

    return write
