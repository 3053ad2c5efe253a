"""Functors of exact expressions that compute two elements at once, where one instruction computes two 16-bit floats."""

from __future__ import annotations

import re
from collections.abc import Container

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.fused.values import TWO, call, converted, type_of
from xpops.ops.elementwise import SQUARED
from xpops.plan.fused.expression import Expression, Node

_VALUE = re.compile(r"\bv(\d+)\b")


def pair_operator(
    expression: Expression, parameters: tuple[int, ...], needed: Container[int], value: str, made: Container[int] = ()
) -> list[str]:
    """The lines of a functor's operator for two elements; none if no instruction computes two.

    Parameters
    ----------
    parameters : tuple of int
        The numbers of the inputs that it takes.
    needed : container of int
        The numbers of the nodes that it computes.
    value : str
        The C++ expression of what the functor returns for one element.
    made : container of int
        See `computed_values`.
    """
    if not expression.exact:  # float32 is between the operators
        return []
    pairs = {number for number in parameters if isinstance(expression.inputs[number], Layout)}
    lines, gains = [], False
    for number, node in enumerate(expression.nodes, len(expression.inputs)):
        if number not in needed:
            continue
        kind, text = type_of(number, expression), call(number, expression, made)
        if pairs.isdisjoint(node.operands):
            lines.append(f"const {kind} v{number} = {text};")
            continue
        paired = _paired(node, expression, pairs)
        gains |= bool(paired)
        pairs.add(number)
        lines.append(f"const pair_t<{kind}> v{number} = {paired or f'{{{_both(text, pairs)}}}'};")
    if not gains:
        return []
    given = ", ".join(
        f"{f'pair_t<{type_of(each, expression)}>' if each in pairs else type_of(each, expression)} v{each}"
        for each in parameters
    )
    whole = _VALUE.fullmatch(value)
    found = value if whole and int(whole[1]) in pairs else f"two({_both(value, pairs)})"
    return [
        "  static constexpr bool kPairs = true;",
        f"  XPOPS_DEVICE auto operator()({given}) const {{",
        *(f"    {line}" for line in lines),
        f"    return {found};",
        "  }",
    ]


def _both(text: str, pairs: set[int]) -> str:
    """An expression for the first elements of pairs, and for the second ones."""

    def one(name: str) -> str:
        return _VALUE.sub(lambda found: f"{found[0]}.{name}()" if int(found[1]) in pairs else found[0], text)

    return f"{one('first')}, {one('second')}"


def _paired(node: Node, expression: Expression, pairs: set[int]) -> str:
    """The C++ expression that computes a node for two elements; empty if there is none."""
    squared = node.op.squares and node.operands[1] in TWO
    paired, operands = (SQUARED, node.operands[:1]) if squared else (node.op.paired, node.operands)
    if not paired or node.dtype not in dt.HALVES or {*node.loop} != {node.dtype}:
        return ""
    kind = dt.INFO[node.dtype].c_type
    if any(each in pairs and type_of(each, expression) != kind for each in operands if isinstance(each, int)):
        return ""
    return paired.format(
        *(
            f"v{each}" if each in pairs else f"twice({converted(each, node.dtype, True, '', expression.inputs)})"
            for each in operands
        )
    )
