"""Elementwise expressions as one kernel: a functor in C++ for the templates of the elementwise family."""

from __future__ import annotations

from collections.abc import Container
from math import frexp, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.limits import float_info
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import NARROW, declare, entry_point, family_of, functor_of, truth, wire_of
from xpops.engine.cuda.tuning import elementwise_policy, tuning_of
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.elementwise import ElementwisePlan, Policy, plan_elementwise
from xpops.plan.fused.expression import Constant, Expression, Node, Unsigned
from xpops.plan.signature import Operand
from xpops.plan.transpose import plan_transpose

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The C++ type and the `struct` format of a scalar argument, by the type of its input.
_WIRES = {
    bool: ("int64", "q"),
    int: ("int64", "q"),
    Unsigned: ("uint64", "Q"),
    float: ("double", "d"),
    complex: ("complex<double>", "dd"),
}


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
        (dt.INFO[operand.dtype].c_type, "Q") if isinstance(operand, Layout) else _WIRES[operand] for operand in given
    )
    return [(f"{name}, {name}, {name}", form) for name, form in found]


def functor_source(
    name: str,
    expression: Expression,
    parameters: tuple[int, ...],
    results: tuple[int, ...],
    several: bool,
) -> list[str]:
    """The source of a functor, with one line for each node. Values are v0, v1 ...: first the inputs, then the nodes.

    Parameters
    ----------
    parameters : tuple of int
        The numbers of the inputs that the functor takes, in this order.
    results : tuple of int
        The numbers of the values that it returns.
    several : bool
        Whether it returns a list of results, even of one.
    """
    needed = expression.needed(results)
    return [
        f"struct {name} {{",
        f"  XPOPS_DEVICE auto operator()({declared_values(expression, parameters)}) const {{",
        *(f"    const {line}" for line in computed_values(expression, needed)),
        f"    return {returned(expression, results, several)};",
        "  }",
        "};",
    ]


def declared_values(expression: Expression, numbers: tuple[int, ...]) -> str:
    """The parameters of a functor, from the numbers of values."""
    return ", ".join(f"{type_of(number, expression)} v{number}" for number in numbers)


def computed_values(expression: Expression, numbers: Container[int], made: Container[int] = ()) -> list[str]:
    """A definition for each node among `numbers`. Of prepared operands among `made` there are functors p0, p1 ..."""
    return [
        f"{dt.INFO[node.dtype].c_type} v{number} = {_call(number, expression, made)};"
        for number, node in enumerate(expression.nodes, len(expression.inputs))
        if number in numbers
    ]


def returned(expression: Expression, results: tuple[int, ...], several: bool) -> str:
    """What a functor returns; see `functor_source`."""
    if not several:
        return f"v{results[0]}"
    return list_of([(type_of(number, expression), f"v{number}") for number in results])


def list_of(values: list[tuple[str, str]]) -> str:
    """The C++ expression of a list of values, by their types."""
    nested = "{}"
    for _, value in reversed(values):
        nested = f"{{{value}, {nested}}}"
    return f"{list_type([kind for kind, _ in values])}{nested}"


def list_type(kinds: list[str]) -> str:
    """The C++ type of a list of values."""
    return f"Results<{', '.join(kinds)}>"


def type_of(number: int, expression: Expression) -> str:
    """The C++ type of a value."""
    if number >= len(expression.inputs):
        return dt.INFO[expression.nodes[number - len(expression.inputs)].dtype].c_type
    spec = expression.inputs[number]
    return dt.INFO[spec.dtype].c_type if isinstance(spec, Layout) else _WIRES[spec][0]


def unrounded(number: int, expression: Expression) -> int:
    """The float32 value that a half result of an expression that is not exact rounds, else the result itself."""
    node = expression.nodes[number - len(expression.inputs)] if number >= len(expression.inputs) else None
    if node is None or expression.exact or node.op is not IDENTITY or node.loop != (dt.float32,):
        return number
    (operand,) = node.operands
    return operand if node.dtype in dt.HALVES and isinstance(operand, int) else number


_DIVIDE, _MULTIPLY = OPERATORS["divide"], OPERATORS["multiply"]
_TWO = (Constant(int, "2"), Constant(float, "2.0"))


def _call(number: int, expression: Expression, made: Container[int]) -> str:
    """The C++ expression of a node. It gives the same bits as the operator's own kernel, if the expression is exact.

    A product or sum that is NaN is +NaN whatever its operands are, so that conversions may lose the sign of NaN.
    """
    node = _without_division(expression.nodes[number - len(expression.inputs)], expression.exact)
    functor, raw = functor_of(node.op, node.loop, node.dtype)
    if elementwise_policy(node.op, node.loop[-1], 0).outlined:
        functor = f"Outlined<{functor}>"
    name, real = dt.INFO[node.dtype].c_type, node.loop[0] in dt.REAL_FLOATS
    rounded = "square_rn({})" if node.op.squares and node.operands[1] in _TWO else node.op.rounded
    rounded = f"contracted::{rounded}" if rounded and number in expression.contracted else rounded
    halves = bool(real and rounded) and node.dtype in dt.HALVES
    raw = raw and not rounded
    widen = "widened" if halves and node.loop[0] in dt.HALVES else "cast<float>"
    operands = [
        _converted(each, loop, raw, widen, expression.inputs)
        for each, loop in zip(node.operands, node.loop, strict=True)
    ]
    last = node.operands[-1]
    if node.op is IDENTITY and not expression.exact and node.dtype in dt.HALVES and node.loop == (dt.float32,):
        return f"narrowed<{name}>({operands[0]})"
    if node.op is IDENTITY and not expression.exact and node.loop[0] in dt.HALVES and node.dtype == dt.float32:
        return f"widened(v{last})"
    if node.op.prepared and last in expression.prepared and node.loop[0] == node.loop[1] == node.dtype:
        functor = f"p{last}" if last in made else f"{prepared_functor(node, expression)}({operands[1]})"
        return f"{functor}({operands[0]})"
    if real and rounded:
        return f"{'narrowed' if halves else 'cast'}<{name}>({rounded.format(*operands)})"
    if not node.op.contracts:
        return f"cast<{name}>({functor}()({', '.join(operands)}))"
    return f"settled(cast<{name}>({functor}()({', '.join(f'loaded({each})' for each in operands)})))"


def prepared_functor(node: Node, expression: Expression) -> str:
    """The C++ type of the functor that is made of a node's last operand; see `Operator.prepared`."""
    last = node.operands[-1] - len(expression.inputs) if isinstance(node.operands[-1], int) else -1
    root = ", true" * (last >= 0 and expression.nodes[last].op.root)
    return f"{node.op.prepared}<{dt.INFO[node.dtype].c_type}{root}>"


def _without_division(node: Node, exact: bool) -> Node:
    """A quotient by a constant as a product with its inverse, if that is exact or need not be."""
    divisor = node.operands[-1]
    if node.op is not _DIVIDE or not isinstance(divisor, Constant) or divisor.kind not in (int, float):
        return node
    if node.loop[1] not in dt.REAL_FLOATS:
        return node
    value, least = divisor.kind(divisor.value), float_info(node.loop[1]).smallest_normal
    if not least <= abs(value) <= 1 / least or (exact and abs(frexp(value)[0]) != 0.5):
        return node
    return node._replace(op=_MULTIPLY, operands=(node.operands[0], Constant(float, repr(1 / value))))


def _converted(operand: int | Constant, loop: DType, raw: bool, widen: str, inputs: tuple[Operand, ...]) -> str:
    if isinstance(operand, Constant):
        value = _literal(operand, loop)
    else:
        value, whole = f"v{operand}", operand < len(inputs) and inputs[operand] in (bool, int, Unsigned)
        if whole and wire_of(loop)[0] in ("double", "complex<double>"):  # the operator's own kernel gets a double
            value = f"static_cast<double>({value})"
    looped = f"cast<{dt.INFO[loop].c_type}>({value})"
    return f"{widen}({looped})" if loop in NARROW and not raw else looped


def _literal(constant: Constant, loop: DType) -> str:
    """The C++ literal of a constant, in the type that a scalar argument for this loop has."""
    wire, _, _ = wire_of(loop)
    value: Any = constant.value == "True" if constant.kind is bool else constant.kind(constant.value)
    if wire == "complex<double>":
        value = complex(value)
        return f"complex<double>({_double(value.real)}, {_double(value.imag)})"
    if wire == "double":
        return _double(float(value))
    if loop == dt.bool:
        return truth(bool(value))
    return f"uint64({value % 2**64}ull)" if wire == "uint64" else f"int64({value % 2**64}ull)"


def _double(value: float) -> str:
    if isfinite(value):
        return f"double({value.hex()})"
    sign = "-" if value < 0 else ""
    return f"{sign}limits<double>::infinity()" if value == value else "limits<double>::nan()"


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
