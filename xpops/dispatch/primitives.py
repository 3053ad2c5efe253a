"""Calls that are not elementwise: they run a plan function's program on arrays of any framework."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from xpops.core.devices import Device
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.calls import PLAN_LIMIT, call_for
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.gradients.calls import RecordedCall, makers, recorded_calls, recorder_of, remember_recorded
from xpops.dispatch.gradients.rules import parameters_of, rule_of
from xpops.dispatch.keys import Fixed, is_constant, way_of
from xpops.dispatch.measured import make_measured_launch
from xpops.dispatch.operands import Operands
from xpops.dispatch.steady import (
    known,
    known_write,
    make_launch,
    make_write,
    remember,
    remember_write,
)
from xpops.engine import engine_of
from xpops.engine.program import Guessing, Kernel, Program
from xpops.ops.elementwise import IDENTITY
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand
from xpops.plan.strides import views
from xpops.plan.strides.overlap import distance_apart

# plan(engine, specs, *parameters): looks at no data. Only the sizes of results of a Measure or Guessing depend on data.
Plan = Callable[..., Program | Guessing]

_programs: BoundedDict[tuple[Any, ...], Program | Guessing] = BoundedDict(PLAN_LIMIT)


def unary(plan: Plan, function: str, x: Any, *parameters: object) -> Any:
    """`call` of one array, named `x`."""
    return call(plan, function, ("x",), (x,), *parameters)


def call(
    plan: Plan, function: str, names: tuple[str, ...], arguments: tuple[Any, ...], *parameters: Any, kept: bool = True
) -> Any:
    """Run `plan` on any operands.

    Parameters
    ----------
    plan : callable
        ``plan(engine, specs, *parameters)``: checks the operands, and returns a Program, a Measure or a Guessing.
    function : str
        The public function, for errors.
    names : tuple of str
        The public names of the arguments, for errors.
    arguments : tuple
        Arrays of any framework, Python and NumPy scalars.
    *parameters : hashable
        Lists become tuples, and 0-d integer arrays become integers.
    kept : bool
        Whether to keep the plan. False if parameters come from data: then another call hardly needs the same plan.

    Returns
    -------
    array or tuple of array
        Arrays of the operands' framework. If they belong to several frameworks, or to none that is known, xpops arrays.
    """
    way = way_of(plan, parameters)
    try:
        result = known(way, arguments)
        if result is not None:
            return result
        if all(map(is_constant, parameters)):
            return _first_call(way, function, names, arguments, kept)
    except TypeError:
        if is_hashable(parameters):  # the error is another one
            raise
    return call(plan, function, names, arguments, *(freeze(each, function) for each in parameters), kept=kept)


def write(
    plan: Plan, function: str, names: tuple[str, ...], arguments: tuple[Any, ...], out: Any, *parameters: Any
) -> None:
    """Run `plan` on `out`, an xpops array, and on other operands, which share no memory with it.

    Parameters
    ----------
    plan : callable
        ``plan(engine, (layout of out, *specs), *parameters)``: returns a Program without results that writes `out`.
    names : tuple of str
        The public names of `out` and of the arguments, for errors.
    arguments : tuple
        The other operands.
    *parameters : hashable
        They need no conversion.
    """
    way = way_of(plan, parameters)
    if known_write(way, arguments, out):
        return
    operands = Operands(function, names[1:], arguments, out, names[0])
    key = (way, out._layout, *operands.specs)
    planned = _programs.get(key)
    if planned is None:
        planned = _programs[key] = plan(engine_of(operands.device), (out._layout, *operands.specs), *parameters)
    assert isinstance(planned, Program)
    try:
        planned.kernel(operands.stream, operands.target, *operands.inputs)
    finally:  # kernels that were launched before an error still read the operands
        operands.release()
    made = make_write(operands, out._layout, planned.kernel, distance_apart)
    remember_write(way, arguments, out, operands, made)


def is_hashable(parameters: tuple[Any, ...]) -> bool:
    """Whether parameters can be part of a key as they are."""
    try:
        hash(parameters)
    except TypeError:
        return False
    return True


def freeze(parameter: Any, function: str) -> Hashable:
    """A parameter in hashable form: lists become tuples, 0-d arrays, which may change, become Python integers."""
    if isinstance(parameter, Fixed):
        return parameter
    if isinstance(parameter, (list, tuple)):
        return tuple(freeze(each, function) for each in parameter)
    if not (is_hashable((parameter,)) and is_constant(parameter)):
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


def _first_call(
    way: tuple[Any, ...], function: str, names: tuple[str, ...], arguments: tuple[Any, ...], kept: bool
) -> Any:
    """The results by the slow path: examine the operands, plan, launch, and remember the launch."""
    plan, parameters = way[:2]
    for argument in arguments:
        if isinstance(argument, (Traced, TracedScalar)):
            return argument.trace.primitive(function, arguments, tuple(freeze(each, function) for each in parameters))
    recorder = recorder_of(arguments)
    if recorder is not None:
        recorded = recorded_calls.get((way, names)) or _recorded(plan, parameters, function, names, kept)
        if recorded.is_differentiable or any(map(recorder.is_traced, arguments)):
            results = recorder.record(recorded, arguments)
            if kept:
                remember_recorded(way, arguments, results, recorder, recorded)
            return results
    operands = Operands(function, names, arguments)
    planned = _planned(way, function, operands.device, operands.specs, kept)
    try:
        if isinstance(planned, Program):
            launch = make_launch(operands, planned.layouts, operands.adapt_kernel(way, *planned))
        else:
            launch = make_measured_launch(operands, way, planned)
        results = launch(*operands.inputs)
    finally:  # kernels that were launched before an error still read the operands
        operands.release()
    if kept:
        make_call = partial(_recorded, plan, parameters, function, names, kept)
        remember(way, arguments, operands, operands.repeated(arguments, launch, make_call))
    return results


def _planned(
    way: tuple[Any, ...], function: str, device: Device, specs: tuple[Operand, ...], kept: bool
) -> Program | Guessing:
    """The program of a call, from the cache or newly planned."""
    plan, parameters = way[:2]
    key = (way, *specs)
    planned = _programs.get(key)
    if planned is None:
        settings = tuple(freeze(each, function) for each in parameters)
        planned = plan(engine_of(device), specs, *settings)
        if kept:
            _programs[key] = planned
    return planned


def _recorded(plan: Plan, given: tuple[Any, ...], function: str, names: tuple[str, ...], kept: bool) -> RecordedCall:
    """The call of a plan function with its derivatives."""
    rule = rule_of(plan, given)
    defaults = parameters_of(plan)
    parameters = {**defaults, **dict(zip(defaults, given, strict=False))}

    def compute(*values: Any) -> Any:
        return call(plan, function, names, values, *given, kept=kept)

    way = way_of(plan, given)

    def plan_on(device: Device, specs: tuple[Operand, ...]) -> Program | Guessing:
        return _planned(way, function, device, specs, kept)

    made_of = ("plan", plan, given, function, names, kept)
    made = RecordedCall(function, names, parameters, rule, compute, made_of, plan_on)
    if kept:
        recorded_calls[way, names] = made
    return made


makers["plan"] = _recorded


def copier(source: Layout, target: Layout) -> Kernel:
    """The kernel ``(stream, target, source)`` that copies elements, and broadcasts and converts like an assignment."""
    return call_for(IDENTITY, (source,), source.device, target.dtype, target).kernel


def with_axis_last(layout: Layout, axis: int) -> Layout:
    """The layout of the view with `axis` moved to the end."""
    order = [*(other for other in range(layout.ndim) if other != axis), axis]
    region = views.permute(layout, order)
    return layout_of(layout.dtype, region.shape, region.strides, layout.device, layout.align)
