"""Reductions of expressions as kernels of the reduce family."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple, cast

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
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


class FusedReduction(NamedTuple):
    """A reduction of an expression.

    Attributes
    ----------
    expression : Expression
        It has one result. Without nodes, that is an array, its only input.
    op : Reduction
    made : Layout
        The dtype and the shape of that result, which is not empty.
    to : ReducedLayout
        The result of `op`.
    correction : float
    after : Expression, optional
        What the kernel computes from each result of `op`, its only input: it writes this instead.
    """

    expression: Expression
    op: Reduction
    made: Layout
    to: ReducedLayout
    correction: float
    after: Expression | None = None

    @property
    def out(self) -> DType:
        """The dtype that the kernel writes."""
        return self.to.out.dtype if self.after is None else self.after.nodes[-1].dtype

    def reducer(self, count: int) -> str:
        """The C++ type of the reducer for `count` elements in each sum."""
        found = f"{reducer_of(self.op, self.to.loop, count)}<compute_t<{dt.INFO[self.to.loop].c_type}>>"
        return found if self.after is None else f"Ended<{found}, {dt.INFO[self.to.out.dtype].c_type}, After>"


def fused_reduce(runtime: Runtime, reduction: FusedReduction) -> Kernel:
    """The kernel ``(stream, out, *inputs)`` that reduces an expression."""
    result = result_of_single_elements(reduction)
    if result is not None:
        return fused(runtime, reduction.expression, (result,))
    capability, multiprocessors = runtime.context.capability, runtime.context.multiprocessors
    if needs_transpose(reduction, capability):
        return _reduce_in_two_kernels(runtime, reduction)
    found = fused_reduce_source(reduction, capability, multiprocessors)
    launch = launched(runtime, f"fused {reduction.op.name}", found)
    return shifted(
        with_scalars(launch, 1, reduction.expression, tuple(range(len(reduction.expression.inputs)))), found.shifts
    )


def is_one_kernel(reduction: FusedReduction, capability: int) -> bool:
    """Whether a kernel of the reduce family computes all of it: then it may compute `after`, too."""
    is_reduced = bool(reduction.expression.nodes) and result_of_single_elements(reduction) is None
    return is_reduced and not needs_transpose(reduction, capability)


def result_of_single_elements(reduction: FusedReduction) -> Layout | None:
    """The result with all axes of `made`, if the reduced ones have length 1 and `op` changes no single element."""
    _, op, made, to, *_ = reduction
    if not op.idempotent or made.size != to.out.size or made.dtype != to.out.dtype or not to.out.contiguous:
        return None
    return layout_of(made.dtype, made.shape, None, made.device, to.out.align)


def value_of(expression: Expression, made: Layout) -> Layout:
    """The layout that the value of an expression would have in memory."""
    return result_layout(Signature((), made.dtype, made.shape), expression.inputs, made.device)


def needs_transpose(reduction: FusedReduction, capability: int) -> bool:
    """Whether an operand is transposed to another: then another kernel writes the expression to an array first."""
    expression, value = reduction.expression, value_of(reduction.expression, reduction.made)
    return plan_transpose(value, expression.inputs, policy_of(expression, capability)) is not None


def _reduce_in_two_kernels(runtime: Runtime, reduction: FusedReduction) -> Kernel:
    expression, op, made, to, correction, _ = reduction
    value = value_of(expression, made)
    compute, allocate = fused(runtime, expression, (value,)), runtime.allocator(value)
    of_value = reduce(runtime, op, value, to.axes, to.loop, to.out, to.strides, correction)

    def kernel(stream: int, out: int, *inputs: object) -> None:
        data, block = allocate(stream)
        compute(stream, data, *inputs)
        of_value(stream, out, data)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return kernel


def fused_reduce_source(reduction: FusedReduction, capability: int, multiprocessors: int) -> ReduceSource:
    """The plan and the source. Needs no GPU."""
    expression, op, made, to, correction, after = reduction
    value = value_of(expression, made)
    policy, copies = reduce_policy(capability, multiprocessors), tuning_of(capability).fused_copies
    most = min(policy.elements_per_thread, copies * policy_of(expression, capability).elements_per_thread)
    flipped = flip_reduction(value.shape, expression.inputs, to.strides, to.axes if op.positional else ())
    policy, width = policy._replace(elements_per_thread=most), reduction.out.itemsize
    plan = plan_fused_reduce(value, flipped.inputs, to.axes, flipped.out, width, policy)
    operands, slots = [], ""
    for (types, form), mode, line in zip(types_of(expression.inputs), plan.modes, plan.lines, strict=True):
        operands.append(f"ReduceOperand<{types.partition(', ')[0]}, Mode::{mode}, {len(slots)}, {line}>")
        slots += form
    count = prod(value.shape[axis] for axis in to.axes)
    loop, result = (dt.INFO[each].c_type for each in (to.loop, reduction.out))
    arguments = ", ".join(["Fused", loop, f"compute_t<{loop}>", result, *operands])
    found = {reduce_header(plan.reduce), "kernels/fused/reduce", f"math/{op.header}", *headers(expression)}
    ended = [] if after is None else functor_source("After", after, (0,), after.results, False)
    source = [
        *(f"#include <xpops/{header}.cuh>" for header in sorted(found | set(headers(after) if after else ()))),
        "using namespace xpops;",
        *functor_source("Fused", expression, tuple(range(len(expression.inputs))), expression.results, False),
        *ended,
        *entry_point(
            reduction.reducer(count), f"ReduceExpression<{arguments}>", plan.reduce, f"{len(slots)}, {plan.total}"
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


def sources_of(reduction: FusedReduction, capability: int, multiprocessors: int) -> list[str]:
    """The sources of the kernels that reduce an expression. Needs no GPU."""
    expression, op, made, to, correction, _ = reduction
    if is_one_kernel(reduction, capability):
        return [fused_reduce_source(reduction, capability, multiprocessors).source]
    result = result_of_single_elements(reduction) if expression.nodes else None
    if result is not None:
        return [fused_source(expression, (result,), capability).source]
    value = value_of(expression, made) if expression.nodes else cast("Layout", expression.inputs[0])
    first = [fused_source(expression, (value,), capability).source] if expression.nodes else []
    policy = reduce_policy(capability, multiprocessors)
    return [*first, planned(op, value, to.axes, to.loop, to.out, to.strides, correction, policy).source]
