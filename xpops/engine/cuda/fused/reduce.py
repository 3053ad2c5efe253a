"""Reductions of expressions as kernels of the reduce family."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, cast

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.fused.elementwise import (
    functor_source,
    fused,
    fused_source,
    headers,
    policy_of,
    types_of,
    with_scalars,
)
from xpops.engine.cuda.kernels.reduce import (
    ReduceSource,
    ending,
    entry_point,
    launched,
    planned,
    reduce,
    reduce_header,
    reducer_of,
    shifted,
)
from xpops.engine.cuda.tuning import reduce_policy, tuning_of
from xpops.engine.program import Kernel
from xpops.ops.reduction import Reduction
from xpops.plan.fused.expression import Expression
from xpops.plan.fused.reduce import plan_fused_reduce
from xpops.plan.reduce.flip import flip_reduction
from xpops.plan.result import ReducedLayout, result_layout
from xpops.plan.signature import Signature
from xpops.plan.transpose import plan_transpose

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def fused_reduce(
    runtime: Runtime, expression: Expression, op: Reduction, made: Layout, to: ReducedLayout, correction: float
) -> Kernel:
    """The kernel ``(stream, out, *inputs)`` that reduces the single result of an expression.

    Parameters
    ----------
    made : Layout
        The dtype and the shape of the array to reduce, which is not empty.
    to : ReducedLayout
        The result of `op`.
    """
    result = result_of_single_elements(op, made, to)
    if result is not None:
        return fused(runtime, expression, (result,))
    capability, multiprocessors = runtime.context.capability, runtime.context.multiprocessors
    value = value_of(expression, made)
    if needs_transpose(expression, value, capability):
        return _reduce_in_two_kernels(runtime, expression, op, value, to, correction)
    found = fused_reduce_source(expression, op, value, to, correction, capability, multiprocessors)
    launch = launched(runtime, f"fused {op.name}", found)
    return shifted(with_scalars(launch, 1, expression, tuple(range(len(expression.inputs)))), found.shifts)


def result_of_single_elements(op: Reduction, made: Layout, to: ReducedLayout) -> Layout | None:
    """The result with all axes of `made`, if the reduced ones have length 1 and `op` changes no single element."""
    if not op.idempotent or made.size != to.out.size or made.dtype != to.out.dtype or not to.out.contiguous:
        return None
    return layout_of(made.dtype, made.shape, None, made.device, to.out.align)


def value_of(expression: Expression, made: Layout) -> Layout:
    """The layout that the value of an expression would have in memory."""
    return result_layout(Signature((), made.dtype, made.shape), expression.inputs, made.device)


def needs_transpose(expression: Expression, value: Layout, capability: int) -> bool:
    """Whether an operand is transposed to another: then another kernel writes the expression to an array first."""
    return plan_transpose(value, expression.inputs, policy_of(expression, capability)) is not None


def _reduce_in_two_kernels(
    runtime: Runtime, expression: Expression, op: Reduction, value: Layout, to: ReducedLayout, correction: float
) -> Kernel:
    compute, allocate = fused(runtime, expression, (value,)), runtime.allocator(value)
    of_value = reduce(runtime, op, value, to.axes, to.loop, to.out, to.strides, correction)

    def kernel(stream: int, out: int, *inputs: object) -> None:
        data, block = allocate(stream)
        compute(stream, data, *inputs)
        of_value(stream, out, data)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return kernel


def fused_reduce_source(
    expression: Expression,
    op: Reduction,
    value: Layout,
    to: ReducedLayout,
    correction: float,
    capability: int,
    multiprocessors: int,
) -> ReduceSource:
    """The plan and the source. Needs no GPU."""
    policy, copies = reduce_policy(capability, multiprocessors), tuning_of(capability).fused_copies
    most = min(policy.elements_per_thread, copies * policy_of(expression, capability).elements_per_thread)
    flipped = flip_reduction(value.shape, expression.inputs, to.strides, to.axes if op.positional else ())
    policy, width = policy._replace(elements_per_thread=most), to.out.dtype.itemsize
    plan = plan_fused_reduce(value, flipped.inputs, to.axes, flipped.out, width, policy)
    operands, slots = [], ""
    for (types, form), mode, line in zip(types_of(expression.inputs), plan.modes, plan.lines, strict=True):
        operands.append(f"ReduceOperand<{types.partition(', ')[0]}, Mode::{mode}, {len(slots)}, {line}>")
        slots += form
    count = prod(value.shape[axis] for axis in to.axes)
    loop, result = (dt.INFO[each].c_type for each in (to.loop, to.out.dtype))
    arguments = ", ".join(["Fused", loop, f"compute_t<{loop}>", result, *operands])
    numbers = f"{len(slots)}, {plan.total}"
    found = {reduce_header(plan.reduce), "kernels/fused/reduce", f"math/{op.header}", *headers(expression)}
    source = [
        *(f"#include <xpops/{header}.cuh>" for header in sorted(found)),
        "using namespace xpops;",
        *functor_source("Fused", expression, tuple(range(len(expression.inputs))), expression.results, False),
        *entry_point(
            f"{reducer_of(op, to.loop, count)}<compute_t<{loop}>>",
            f"ReduceExpression<{arguments}>",
            plan.reduce,
            numbers,
        ),
    ]
    first, *shifts = flipped.shifts
    return ReduceSource(
        plan.reduce,
        "\n".join(source),
        slots,
        ending(count, correction) + plan.reduce.tail,
        (first * width, *shifts),
    )


def sources_of(
    expression: Expression,
    op: Reduction,
    made: Layout,
    to: ReducedLayout,
    correction: float,
    capability: int,
    multiprocessors: int,
) -> list[str]:
    """The sources of the kernels that reduce an expression. Needs no GPU."""
    result = result_of_single_elements(op, made, to) if expression.nodes else None
    if result is not None:
        return [fused_source(expression, (result,), capability).source]
    value = value_of(expression, made) if expression.nodes else cast("Layout", expression.inputs[0])
    if expression.nodes and not needs_transpose(expression, value, capability):
        return [fused_reduce_source(expression, op, value, to, correction, capability, multiprocessors).source]
    first = [fused_source(expression, (value,), capability).source] if expression.nodes else []
    policy = reduce_policy(capability, multiprocessors)
    return [*first, planned(op, value, to.axes, to.loop, to.out, to.strides, correction, policy).source]
