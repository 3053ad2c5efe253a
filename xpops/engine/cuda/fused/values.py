"""The C++ of an expression's values: one line for each node, v0, v1 ... First come the inputs, then the nodes."""

from __future__ import annotations

from collections.abc import Container
from math import frexp, isfinite
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.limits import float_info
from xpops.engine.cuda.kernels.glue import NARROW, functor_of, truth, wire_of
from xpops.engine.cuda.tuning import elementwise_policy
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.fused.expression import Constant, Expression, Node, Unsigned
from xpops.plan.signature import Operand

# The C++ type and the `struct` format of a scalar argument, by the type of its input.
WIRES = {
    bool: ("int64", "q"),
    int: ("int64", "q"),
    Unsigned: ("uint64", "Q"),
    float: ("double", "d"),
    complex: ("complex<double>", "dd"),
}


def declared_values(expression: Expression, numbers: tuple[int, ...]) -> str:
    """The parameters of a functor, from the numbers of values."""
    return ", ".join(f"{type_of(number, expression)} v{number}" for number in numbers)


def computed_values(expression: Expression, numbers: Container[int], made: Container[int] = ()) -> list[str]:
    """A definition for each node among `numbers`. Of prepared operands among `made` there are functors p0, p1 ..."""
    return [
        f"{dt.INFO[node.dtype].c_type} v{number} = {call(number, expression, made)};"
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
    return dt.INFO[spec.dtype].c_type if isinstance(spec, Layout) else WIRES[spec][0]


def unrounded(number: int, expression: Expression) -> int:
    """The float32 value that a half result of an expression that is not exact rounds, else the result itself."""
    node = expression.nodes[number - len(expression.inputs)] if number >= len(expression.inputs) else None
    if node is None or expression.exact or node.op is not IDENTITY or node.loop != (dt.float32,):
        return number
    (operand,) = node.operands
    return operand if node.dtype in dt.HALVES and isinstance(operand, int) else number


_DIVIDE, _MULTIPLY = OPERATORS["divide"], OPERATORS["multiply"]
TWO = (Constant(int, "2"), Constant(float, "2.0"))


def call(number: int, expression: Expression, made: Container[int]) -> str:
    """The C++ expression of a node. It gives the same bits as the operator's own kernel, if the expression is exact.

    A product or sum that is NaN is +NaN whatever its operands are, so that conversions may lose the sign of NaN.
    """
    node = _without_division(expression.nodes[number - len(expression.inputs)], expression.exact)
    functor, raw = functor_of(node.op, node.loop, node.dtype)
    if (
        node.op.near
        and expression.narrow
        and number in expression.contracted
        and {*node.loop, node.dtype} == {dt.float32}
    ):
        functor, raw = node.op.near, False
    elif elementwise_policy(node.op, node.loop[-1], 0).outlined:
        functor = f"Outlined<{functor}>"
    name, real = dt.INFO[node.dtype].c_type, node.loop[0] in dt.REAL_FLOATS
    rounded = "square_rn({})" if node.op.squares and node.operands[1] in TWO else node.op.rounded
    rounded = f"contracted::{rounded}" if rounded and number in expression.contracted else rounded
    halves = bool(real and rounded) and node.dtype in dt.HALVES
    raw = raw and not rounded
    widen = "widened" if halves and node.loop[0] in dt.HALVES else "cast<float>"
    operands = [
        converted(each, loop, raw, widen, expression.inputs)
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
    root = last >= 0 and expression.nodes[last].op.root
    return f"{node.op.prepared}<{dt.INFO[node.dtype].c_type}, {truth(root)}, {truth(expression.narrow)}>"


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


def converted(operand: int | Constant, loop: DType, raw: bool, widen: str, inputs: tuple[Operand, ...]) -> str:
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
