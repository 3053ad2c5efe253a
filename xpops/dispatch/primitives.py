"""Calls that are not elementwise: they run a plan function's program on arrays of any framework."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any

from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import state
from xpops.dispatch.calls import PLAN_LIMIT, call_for
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.keys import Fixed, call_key
from xpops.dispatch.operands import Operands
from xpops.dispatch.state import inline, launches
from xpops.engine import engine_of
from xpops.engine.program import Data, Kernel, Measure, Owner, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY
from xpops.plan.cache import BoundedDict
from xpops.plan.strides import views

# plan(engine, specs, *parameters): looks at no data. Only the sizes of a Measure's results depend on data.
Plan = Callable[..., Program | Measure]

_programs: BoundedDict[tuple[Any, ...], Program | Measure] = BoundedDict(PLAN_LIMIT)


def unary(plan: Plan, function: str, x: Any, *parameters: object) -> Any:
    """`compute` of one array, named `x`. Looks for the steady state first. Lists in parameters become tuples."""
    kind = x.__class__
    try:
        if kind is state.array_class:
            launch = launches.get(call_key(plan, (x._layout,), parameters))
            if launch is not None:
                return launch(x._data)
        elif kind in inline:
            result = inline[kind].call(call_key(plan, (), parameters), x, None, None)
            if result is not None:
                return result
    except TypeError:
        return unary(plan, function, x, *_hashable(parameters, function))
    return compute(plan, function, ("x",), (x,), *parameters, steady=True)


def call(plan: Plan, function: str, names: tuple[str, ...], arguments: tuple[Any, ...], *parameters: Any) -> Any:
    """`compute` of one or several arrays. Looks for the steady state first. Lists in parameters become tuples."""
    kind = arguments[0].__class__
    try:
        if kind is state.array_class:
            layouts = [argument._layout for argument in arguments if argument.__class__ is kind]
            if len(layouts) == len(arguments):
                launch = launches.get(call_key(plan, tuple(layouts), parameters))
                if launch is not None:
                    return launch(*[argument._data for argument in arguments])
        elif len(arguments) == 2 and kind in inline:
            result = inline[kind].call(call_key(plan, (), parameters), *arguments, None)
            if result is not None:
                return result
    except TypeError:
        return call(plan, function, names, arguments, *_hashable(parameters, function))
    return compute(plan, function, names, arguments, *parameters, steady=True)


def call_known(
    plan: Plan, arguments: tuple[Any, ...], parameters: tuple[Hashable, ...] = (), outs: tuple[Any, ...] = ()
) -> Any:
    """The results of a remembered call of xpops arrays and scalars. None if no such call is remembered.

    `outs` are the arguments that the call writes. None, too, if one of them is read-only.
    """
    cls = state.array_class
    specs = tuple([x._layout if x.__class__ is cls else x.__class__ for x in arguments])
    launch = launches.get(call_key(plan, specs, parameters))
    if launch is None or not all(x._writable for x in outs):
        return None
    return launch(*[x._data if x.__class__ is cls else x for x in arguments])


def _hashable(parameters: tuple[Any, ...], function: str) -> tuple[Hashable, ...]:
    """Make parameters hashable. If they already are, the TypeError came from elsewhere: raise it again."""
    try:
        hash(parameters)
    except TypeError:
        return tuple(freeze(each, function) for each in parameters)
    raise


def _is_hashable(parameters: tuple[Any, ...]) -> bool:
    try:
        hash(parameters)
    except TypeError:
        return False
    return True


def freeze(parameter: Any, function: str) -> Hashable:
    """A parameter in hashable form: lists become tuples, unhashable integers (0-d arrays) become Python integers."""
    if isinstance(parameter, Fixed):
        return parameter
    if isinstance(parameter, (list, tuple)):
        return tuple(freeze(each, function) for each in parameter)
    try:
        hash(parameter)
    except TypeError:
        try:
            return operator.index(parameter)
        except TypeError:
            if isinstance(parameter, TracedScalar):
                raise
            raise TypeError(
                f"{function}: {parameter!r} is no argument; accepted: integers and tuples of them"
            ) from None
    hashable: Hashable = parameter
    return hashable


def compute(
    plan: Plan,
    function: str,
    names: tuple[str, ...],
    arguments: tuple[Any, ...],
    *parameters: object,
    steady: bool = False,
    kept: bool = True,
) -> Any:
    """Run `plan` on any operands, by the slow path: examine the operands, plan, launch, and remember the call.

    Parameters
    ----------
    plan : callable
        ``plan(engine, specs, *parameters)``: checks the operands, and returns a Program or a Measure.
    function : str
        The public function, for errors.
    names : tuple of str
        The public names of the arguments, for errors.
    arguments : tuple
        Arrays of any framework, Python and NumPy scalars.
    *parameters : hashable
    steady : bool
        Whether to keep a steady state. True if the caller looks for one first, as `unary` and `call` do.
    kept : bool
        Whether to keep the plan. False if parameters come from data: then another call hardly needs the same plan.

    Returns
    -------
    array or tuple of array
        Arrays of the operands' framework. If they belong to several frameworks, or to none that is known, xpops arrays.
    """
    for argument in arguments:
        if isinstance(argument, (Traced, TracedScalar)):
            return argument.trace.primitive(function, arguments, tuple(freeze(each, function) for each in parameters))
    operands = Operands(function, names, arguments)
    engine = engine_of(operands.device)
    settings = tuple(freeze(each, function) for each in parameters)
    given = parameters if _is_hashable(parameters) else settings  # `unary` and `call` look for this key
    key = call_key(plan, operands.specs, given)
    planned = _programs.get(key) if kept else None
    if planned is None:
        planned = plan(engine, operands.specs, *settings)
        if kept:
            _programs[key] = planned
    stream = operands.stream
    try:
        program = planned if isinstance(planned, Program) else planned(stream, *operands.values)
        made = [_allocate_result(engine, operands, layout) for layout in program.layouts]
        program.kernel(stream, *(data for _, data, _ in made), *operands.values)
    finally:  # kernels that were launched before an error still read the operands
        operands.release()
    results = tuple(_wrap_result(operands, layout, *each) for layout, each in zip(program.layouts, made, strict=True))
    if steady and planned is program:
        _remember(key, call_key(plan, (), given), engine, operands, arguments, program, results)
    return results if len(results) != 1 else results[0]


def _allocate_result(engine: Engine, operands: Operands, layout: Layout) -> tuple[Any, Data, Owner]:
    """Memory for a result: the framework's array, or None and an owner."""
    allocated = operands.framework.allocate(layout) if operands.framework is not None else None
    if allocated is not None:
        return *allocated, None
    return None, *engine.allocate(layout, operands.stream)


def _wrap_result(operands: Operands, layout: Layout, array: Any, data: Data, owner: Owner) -> Any:
    if array is not None:
        return array
    ours = state.array_class(layout, data, owner)
    return ours if operands.framework is None else operands.framework.export(ours)


def _remember(
    key: tuple[Any, ...],
    way: tuple[Any, ...],
    engine: Engine,
    operands: Operands,
    arguments: tuple[Any, ...],
    program: Program,
    results: tuple[Any, ...],
) -> None:
    """Keep the steady state of a call whose result sizes do not depend on data.

    It goes to `launches` for xpops arrays, else to the inline cache of the framework, if the framework has one.

    Parameters
    ----------
    key, way : tuple
        The key of the call, and the same key without the operands' layouts.
    """
    layouts, kernel = program
    if operands.native and operands.framework is None:
        if len(layouts) == 1:
            launches[key] = state.make_launch(engine, layouts[0], kernel, len(operands.specs))
        else:
            launches[key] = state.make_launch_of_several(engine, layouts, kernel)
        return
    remember = getattr(operands.framework, "inline", None)
    if remember is None or not operands.as_given or engine.is_host or len(arguments) > 2 or len(layouts) != 1:
        return
    x1, x2 = (*arguments, None)[:2]
    if remember.remember(way, x1, x2, None, operands.specs, *layouts, kernel, *results):
        inline[arguments[0].__class__] = remember


def copier(source: Layout, target: Layout) -> Kernel:
    """The kernel ``(stream, target, source)`` that copies elements, and broadcasts and converts like an assignment."""
    return call_for(IDENTITY, (source,), source.device, target.dtype, target).kernel


def with_axis_last(layout: Layout, axis: int) -> Layout:
    """The layout of the view with `axis` moved to the end."""
    order = [*(other for other in range(layout.ndim) if other != axis), axis]
    region = views.permute(layout, order)
    return layout_of(layout.dtype, region.shape, region.strides, layout.device, layout.align)
