"""Fused functions: the recording of a Python function becomes one kernel, or several kernels and host steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xpops.core.layouts import Layout
from xpops.dispatch.fusion.recording import FusedRecording, require_within
from xpops.dispatch.fusion.rows import Rows, plan_row_kernel
from xpops.dispatch.fusion.tracing import Derived, ReducedInput
from xpops.dispatch.reductions import reduction
from xpops.engine.program import Data, Kernel, Owner, Program
from xpops.engine.protocol import Engine
from xpops.plan.fused.expression import Expression, Unsigned
from xpops.plan.result import reduced_layout

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine
    from xpops.engine.cuda.fused.reduce import FusedReduction

# The GPU for which `sources` shows code: its compute capability, and its number of multiprocessors.
CAPABILITY, MULTIPROCESSORS, SHARED = 90, 132, 227 << 10


# step(stream, results, inputs): makes the next derived input from the inputs before it; returns it and its owner.
_Step = Callable[[int, tuple[Data, ...], list[Data]], tuple[Data, Owner]]


def program(engine: CudaEngine, recorded: FusedRecording, names: tuple[str, ...]) -> Program:
    """The program of a fused function, as one kernel if possible. Checks integer arguments before the first launch.

    Parameters
    ----------
    names : tuple of str
        The names of the arguments, for errors.
    """
    made, whole, count = _program(engine, recorded), recorded.whole, len(recorded.layouts)
    checks = [
        (count + number, f"{recorded.name}: {name} is", *whole.bounds(number))
        for number, name in enumerate(names)
        if whole.inputs[number] in (int, Unsigned)
    ]
    if not checks:
        return made

    def kernel(stream: int, *data: Data) -> None:
        for place, what, low, high in checks:
            require_within(data[place], what, low, high)
        made.kernel(stream, *data)

    return Program(made.layouts, kernel)


def _program(engine: CudaEngine, recorded: FusedRecording) -> Program:
    from xpops.engine.cuda.fused.elementwise import fused
    from xpops.engine.cuda.fused.reduce import fused_reduce

    whole, layouts, parts = recorded.whole, recorded.layouts, recorded.parts
    arguments = tuple(range(recorded.given))
    context = engine.context
    rows = plan_row_kernel(recorded, context.capability, context.multiprocessors, context.shared)
    if rows is not None:
        return _row_program(engine, recorded, rows)
    ended = _ended_reduction(recorded, context.capability)
    if ended is not None:
        return Program(layouts, fused_reduce(engine, ended))
    kernels = [fused(engine, part.expression, part.outs) for part in parts]
    if not recorded.derived and [part.inputs for part in parts] == [arguments]:
        return Program(layouts, kernels[0])
    if len(recorded.derived) == len(layouts) == 1 and not parts:
        launch, inputs = _reduction(engine, whole, cast("ReducedInput", recorded.derived[0]))
        if inputs == arguments:
            return Program(layouts, launch)
    count = len(layouts)
    steps = [_step(engine, whole, *each) for each in zip(recorded.derived, recorded.targets, strict=True)]

    def kernel(stream: int, *data: Data) -> None:
        results, inputs, owners = data[:count], list(data[count:]), []
        for step in steps:
            made, owner = step(stream, results, inputs)
            inputs.append(made)
            owners.append(owner)
        for launch, part in zip(kernels, parts, strict=True):
            launch(stream, *(results[place] for place in part.results), *(inputs[place] for place in part.inputs))
        del owners  # kept until the kernels were launched

    return Program(layouts, kernel)


def sources(recorded: FusedRecording) -> list[str]:
    """The C++ of the kernels, in the order of their launches. Needs no GPU."""
    from xpops.engine.cuda.fused.elementwise import fused_source
    from xpops.engine.cuda.fused.reduce import FusedReduction, sources_of
    from xpops.engine.cuda.fused.rows import sources_of_rows

    whole, rows = recorded.whole, plan_row_kernel(recorded, CAPABILITY, MULTIPROCESSORS, SHARED)
    ended = _ended_reduction(recorded, CAPABILITY) if rows is None else None
    if ended is not None:
        return sources_of(ended, CAPABILITY, MULTIPROCESSORS)
    kernels = [] if rows is None else sources_of_rows(rows.kernel, CAPABILITY, MULTIPROCESSORS, SHARED)
    for number, each in enumerate(recorded.derived, recorded.given):
        is_apart = rows is None or number in rows.apart
        if isinstance(each, ReducedInput) and each.operand.size and is_apart:
            part, _ = whole.prune((each.place,))
            *parameters, correction = each.parameters
            to = reduced_layout(each.operand, each.op, *parameters)
            reduced = FusedReduction(part, each.op, each.operand, to, correction)
            kernels += sources_of(reduced, CAPABILITY, MULTIPROCESSORS)
    parts = recorded.parts if rows is None else rows.late
    return kernels + [fused_source(part.expression, part.outs, CAPABILITY).source for part in parts]


def _row_program(engine: CudaEngine, recorded: FusedRecording, rows: Rows) -> Program:
    """The program of a kernel that computes row by row, of reductions along other axes, and of what needs these."""
    from xpops.engine.cuda.fused.elementwise import fused
    from xpops.engine.cuda.fused.rows import fused_rows

    whole, count, given = recorded.whole, len(recorded.layouts), recorded.given
    launch, inputs = fused_rows(engine, rows.kernel), rows.kernel.inputs
    if not rows.apart and not rows.kernel.columns and inputs == tuple(range(given)):
        return Program(recorded.layouts, launch)
    reduced = [
        (number, recorded.targets[number - given], engine.allocator(cast("Layout", whole.inputs[number])))
        for number in (*rows.shared, *rows.sums)
    ]
    steps = [
        (each, _step(engine, whole, recorded.derived[each - given], recorded.targets[each - given]))
        for each in rows.apart
    ]
    late = [(part, fused(engine, part.expression, part.outs)) for part in rows.late]

    def kernel(stream: int, *data: Data) -> None:
        results, values, owners = data[:count], list(data[count:]), []
        for derive in recorded.derived:  # the kernels compute the reductions themselves
            values.append(None if isinstance(derive, ReducedInput) else derive(*values))
        for number, target, allocate in reduced:
            values[number], owner = allocate(stream) if target is None else (results[target], None)
            owners.append(owner)
        outs = [*(results[place] for place in rows.places), *(values[number] for number, *_ in reduced)]
        launch(stream, *outs, *(results[place] for place in rows.end_places), *(values[number] for number in inputs))
        for number, step in steps:
            values[number], owner = step(stream, results, values)
            owners.append(owner)
        for part, launch_part in late:
            launch_part(stream, *(results[place] for place in part.results), *(values[each] for each in part.inputs))
        del owners  # kept until the kernels were launched

    return Program(recorded.layouts, kernel)


def _step(engine: CudaEngine, whole: Expression, derived: Derived, target: int | None) -> _Step:
    """The step that makes a derived input: the host computes a scalar, a kernel computes a reduction.

    `target` is the place of the result that the reduction writes, or None: then the step allocates memory.
    """
    if not isinstance(derived, ReducedInput):
        return lambda stream, results, inputs: (derived(*inputs), None)
    launch, needed = _reduction(engine, whole, derived)
    out = reduced_layout(derived.operand, derived.op, *derived.parameters[:3]).out
    allocate = engine.allocator(out)

    def step(stream: int, results: tuple[Data, ...], inputs: list[Data]) -> tuple[Data, Owner]:
        made, owner = allocate(stream) if target is None else (results[target], None)
        launch(stream, made, *(inputs[each] for each in needed))
        return made, owner

    return step


def _reduction(engine: CudaEngine, whole: Expression, derived: ReducedInput) -> tuple[Kernel, tuple[int, ...]]:
    """The kernel ``(stream, out, *inputs)`` of a reduction, and the inputs that it reads."""
    from xpops.engine.cuda.fused.reduce import FusedReduction, fused_reduce

    place, operand, op, parameters = derived
    part, needed = whole.prune((place,))
    if place < len(whole.inputs) or operand.size == 0:  # an empty operand: the kernel reads nothing
        if place < len(whole.inputs):
            operand = cast("Layout", whole.inputs[place])
        of_array = reduction(cast("Engine", engine), (operand,), op, *parameters).kernel
        return (lambda stream, out, *inputs: of_array(stream, out, inputs[0])), needed
    *others, correction = parameters
    reduced = FusedReduction(part, op, operand, reduced_layout(operand, op, *others), correction)
    return fused_reduce(engine, reduced), needed


def _ended_reduction(recorded: FusedRecording, capability: int) -> FusedReduction | None:
    """The reduction whose kernel computes the function's only result, which needs nothing else, from its own result."""
    from xpops.engine.cuda.fused.reduce import FusedReduction, is_one_kernel

    is_alone = len(recorded.derived) == len(recorded.layouts) == len(recorded.parts) == 1
    if not is_alone or not isinstance(recorded.derived[0], ReducedInput):
        return None
    (last,), (place, operand, op, (*others, correction)) = recorded.parts, recorded.derived[0]
    part, needed = recorded.whole.prune((place,))
    to = reduced_layout(operand, op, *others)
    if last.inputs != (recorded.given,) or needed != tuple(range(recorded.given)) or operand.size == 0:
        return None
    if (last.outs[0].shape, last.outs[0].strides) != (to.out.shape, to.out.strides):
        return None
    found = FusedReduction(part, op, operand, to, correction, last.expression)
    return found if is_one_kernel(found, capability) else None
