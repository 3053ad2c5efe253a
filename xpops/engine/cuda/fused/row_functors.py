"""Functors of kernels that compute expressions row by row: the constructor computes what a row's elements share."""

from __future__ import annotations

from xpops.core.layouts import Layout
from xpops.engine.cuda.fused.elementwise import computed_values, declared_values, returned, type_of
from xpops.plan.fused.expression import Expression


def row_functor_source(
    name: str,
    expression: Expression,
    found: tuple[int, ...],
    operands: dict[int, str],
    results: tuple[int, ...],
    several: bool,
    convert: str = "{}",
) -> list[str]:
    """The source of a functor; see `xpops.engine.cuda.fused.elementwise.functor_source`.

    Parameters
    ----------
    found : tuple of int
        The numbers of the inputs that the constructor takes: results of the row.
    operands : dict of int to str
        The numbers of all other inputs, and the C++ type that loads each of them.
    """
    scalars = {number for number in operands if not isinstance(expression.inputs[number], Layout)}
    needed = expression.needed(results)
    shared = needed & _shared(expression, scalars.union(found))
    members, given = (*found, *sorted(shared)), declared_values(expression, found)
    made = {
        number: f"{node.op.prepared}<{type_of(number, expression)}>"
        for node in expression.nodes
        for number in expression.prepared.intersection(shared.union(found))
        if node.op.prepared and node.operands[-1] == number
    }
    return [
        f"struct {name} {{",
        *(f"  {type_of(number, expression)} v{number};" for number in members),
        *(f"  {functor} p{number};" for number, functor in made.items()),
        "  template <class Params>",
        f"  XPOPS_DEVICE explicit {name}(const Params& params{', ' * bool(given)}{given}) {{",
        *(f"    this->v{number} = v{number};" for number in found),
        *(
            f"    const {kind} v{number} = {operands[number]}::template value<1>(params, {{}}, 0);"
            for number, kind in ((number, type_of(number, expression)) for number in sorted(scalars & needed))
        ),
        *(f"    {line.partition(' ')[2]}" for line in computed_values(expression, shared)),
        *(f"    p{number} = {functor}(v{number});" for number, functor in made.items()),
        "  }",
        f"  XPOPS_DEVICE auto operator()({declared_values(expression, tuple(operands))}) const {{",
        *(f"    const {line}" for line in computed_values(expression, needed - shared, made)),
        f"    return {returned(expression, results, several, convert)};",
        "  }",
        "};",
    ]


def _shared(expression: Expression, inputs: set[int]) -> set[int]:
    """The numbers of the nodes that depend on `inputs` only."""
    known = set(inputs)
    for number, node in enumerate(expression.nodes, len(expression.inputs)):
        if all(each in known for each in node.operands if isinstance(each, int)):
            known.add(number)
    return known - inputs
