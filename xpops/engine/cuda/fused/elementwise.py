"""Elementwise expressions as one kernel: a functor in C++ for the templates of the elementwise family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.fused.pairs import pair_operator
from xpops.engine.cuda.fused.values import WIRES, computed_values, declared_values, returned
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import declare, entry_point, family_of
from xpops.engine.cuda.tuning import elementwise_policy, tuning_of
from xpops.engine.program import Kernel
from xpops.plan.elementwise import ElementwisePlan, Policy, plan_elementwise
from xpops.plan.fused.expression import Expression
from xpops.plan.signature import Operand
from xpops.plan.transpose import plan_transpose

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


class FusedSource(NamedTuple):
    """The source of a fused kernel.

    Attributes
    ----------
    plan : ElementwisePlan
    source : str
    slots : str
        The `struct` format of the results' addresses, the arrays' addresses and the scalars.
    """

    plan: ElementwisePlan
    source: str
    slots: str


def fused(runtime: Runtime, expression: Expression, outs: tuple[Layout, ...]) -> Kernel:
    """The kernel ``(stream, *outs, *inputs)`` that computes all results of an expression; they have the same shape."""
    if outs[0].size == 0:
        return empty_kernel
    plan, source, slots = fused_source(expression, outs, runtime.context.capability)
    launch = runtime.launcher("fused", source, plan.blocks, plan.block, slots, plan.tail)
    return with_scalars(launch, len(outs), expression, tuple(range(len(expression.inputs))))


def with_scalars(launch: Kernel, outs: int, expression: Expression, inputs: tuple[int, ...]) -> Kernel:
    """Wrap `launch` to convert Python scalars. Its arguments are `outs` results, then the inputs numbered `inputs`.

    A complex scalar becomes two slots. A scalar used only as a condition becomes a bool, so an integer there may be
    arbitrarily large.
    """
    kinds = [*[None] * outs, *(expression.inputs[number] for number in inputs)]
    if bool not in kinds and complex not in kinds:
        return launch

    def converting(stream: int, *values: Any) -> None:
        written: list[Any] = []
        for value, kind in zip(values, kinds, strict=True):
            if kind is complex:
                written += (value.real, value.imag)
            else:
                written.append(bool(value) if kind is bool else value)
        launch(stream, *written)

    return converting


def fused_source(expression: Expression, outs: tuple[Layout, ...], capability: int) -> FusedSource:
    """The plan and the source. Needs no GPU."""
    policy = policy_of(expression, capability)
    plan = plan_transpose(outs[0], expression.inputs, policy) if len(outs) == 1 else None
    if plan is None:
        plan = plan_elementwise(outs[0], (*outs[1:], *expression.inputs), policy, skews=len(outs) == 1)
    declared = declare(types_of((*outs, *expression.inputs)), plan)
    source = [
        *(
            f"#include <xpops/{header}.cuh>"
            for header in (family_of(plan), "kernels/fused/elementwise", *headers(expression))
        ),
        "using namespace xpops;",
        *functor_source("Fused", expression, tuple(range(len(expression.inputs))), expression.results, len(outs) > 1),
        *entry_point("Fused", declared.names[: len(outs)], declared.names[len(outs) :], declared.params, plan),
    ]
    return FusedSource(plan, "\n".join(source), declared.slots)


def types_of(given: tuple[Operand, ...]) -> list[tuple[str, str]]:
    """The template's three types and the slots' format of results and operands. All three types are the stored one."""
    found = (
        (dt.INFO[operand.dtype].c_type, "Q") if isinstance(operand, Layout) else WIRES[operand] for operand in given
    )
    return [(f"{name}, {name}, {name}", form) for name, form in found]


def functor_source(
    name: str,
    expression: Expression,
    parameters: tuple[int, ...],
    results: tuple[int, ...],
    several: bool,
) -> list[str]:
    """The source of a functor, with one line for each node.

    Parameters
    ----------
    parameters : tuple of int
        The numbers of the inputs that the functor takes, in this order.
    results : tuple of int
        The numbers of the values that it returns.
    several : bool
        Whether it returns a list of results, even of one.
    """
    needed, value = expression.needed(results), returned(expression, results, several)
    return [
        f"struct {name} {{",
        f"  XPOPS_DEVICE auto operator()({declared_values(expression, parameters)}) const {{",
        *(f"    const {line}" for line in computed_values(expression, needed)),
        f"    return {value};",
        "  }",
        *pair_operator(expression, parameters, needed, value),
        "};",
    ]


def headers(expression: Expression) -> list[str]:
    """The headers of the expression's functors."""
    found = {f"math/{node.op.header}" for node in expression.nodes}
    dtypes = {each.dtype for each in expression.inputs if isinstance(each, Layout)} | {
        each for node in expression.nodes for each in (*node.loop, node.dtype)
    }
    return [*sorted(found), *["math/complex"] * (not dt.CATEGORIES["complex floating-point"].isdisjoint(dtypes))]


def policy_of(expression: Expression, capability: int) -> Policy:
    """The policy of the node that wants the fewest elements per thread: that with the longest functor."""
    policies = [elementwise_policy(node.op, node.loop[-1], capability) for node in expression.nodes]
    shortest = min(policies, key=lambda policy: policy.elements_per_thread, default=tuning_of(capability).elementwise)
    return shortest._replace(outlined=False)
