"""Functors of kernels that compute expressions row by row: the constructor computes what a row's elements share."""

from __future__ import annotations

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.fused.elementwise import computed_values, declared_values, returned, type_of
from xpops.plan.fused.expression import Expression, Reference

# The dtypes in which prepared operands are computed.
_PREPARED = (dt.float32, dt.float64)


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
    prepared = {} if expression.exact else _prepared(expression, needed - shared, shared.union(found))
    dtypes: dict[Reference, DType] = {number: dtype for number, (_, dtype) in prepared.items()}
    return [
        f"struct {name} {{",
        *(f"  {type_of(number, expression)} v{number};" for number in members),
        *(f"  {functor} p{number};" for number, (functor, _) in prepared.items()),
        "  template <class Params>",
        f"  XPOPS_DEVICE explicit {name}(const Params& params{', ' * bool(given)}{given}) {{",
        *(f"    this->v{number} = v{number};" for number in found),
        *(
            f"    const {kind} v{number} = {operands[number]}::template value<1>(params, {{}}, 0);"
            for number, kind in ((number, type_of(number, expression)) for number in sorted(scalars & needed))
        ),
        *(f"    {line.partition(' ')[2]}" for line in computed_values(expression, shared, {})),
        *(f"    p{number} = {functor}(v{number});" for number, (functor, _) in prepared.items()),
        "  }",
        f"  XPOPS_DEVICE auto operator()({declared_values(expression, tuple(operands))}) const {{",
        *(f"    const {line}" for line in computed_values(expression, needed - shared, dtypes)),
        f"    return {returned(expression, results, several, convert)};",
        "  }",
        "};",
    ]


def _prepared(expression: Expression, numbers: set[int], shared: set[int]) -> dict[int, tuple[str, DType]]:
    """The second operands, shared by all elements of a row, of nodes among `numbers`: functors made of them, dtypes."""
    count, found = len(expression.inputs), {}
    for node in (expression.nodes[number - count] for number in sorted(numbers) if number >= count):
        place = node.operands[-1]
        if node.op.prepared and node.dtype in _PREPARED and isinstance(place, int) and place in shared:
            kind = type_of(place, expression)
            if kind == dt.INFO[node.dtype].c_type:
                found[place] = (f"{node.op.prepared}<{kind}>", node.dtype)
    return found


def _shared(expression: Expression, inputs: set[int]) -> set[int]:
    """The numbers of the nodes that depend on `inputs` only."""
    known = set(inputs)
    for number, node in enumerate(expression.nodes, len(expression.inputs)):
        if all(each in known for each in node.operands if isinstance(each, int)):
            known.add(number)
    return known - inputs
