"""Sums of differences from the mean of a row, which one pass computes together with the mean."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.ops.elementwise import OPERATORS
from xpops.ops.reduction import REDUCTIONS
from xpops.plan.fused.expression import Node
from xpops.plan.fused.rows import RowsExpression, Stage

_SUBTRACT, _MULTIPLY, _SQUARE = (OPERATORS[name] for name in ("subtract", "multiply", "square"))
_MEAN, _SUM = REDUCTIONS["mean"], REDUCTIONS["sum"]
# A pass adds up so many sums, that of the differences included, with shuffles that they share.
_MOST_SUMS = 3


class Centring(NamedTuple):
    """Two passes that are one.

    Attributes
    ----------
    place : int
        The place of the pass that computes the mean. The next one computes the sums.
    difference : int
        The number of the difference of an element from the mean.
    orders : tuple of int
        For each sum how often its terms have the difference as a factor: 0, 1, or 2 for its square.
    weights : tuple of int
        For each sum of order 1 the place, among the sums, of the sum of the other factors.
    """

    place: int
    difference: int
    orders: tuple[int, ...]
    weights: tuple[int, ...]


def centring(rows: RowsExpression, passes: list[tuple[int, ...]], linear: set[int]) -> Centring | None:
    """The two passes of a kernel that are one, if there are such.

    Only for halves, because the sums may lose some of the last bits of float32: see ``centred.cuh``.

    Parameters
    ----------
    passes : list of tuple of int
        The places of the stages that each pass computes.
    linear : set of int
        The inputs that threads hold in registers.
    """
    stages = rows.stages
    if not rows.expression.narrow:
        return None
    for place, (first, then) in enumerate(pairwise(passes)):
        mean = stages[first[0]]
        if len(first) == 1 and len(then) <= _MOST_SUMS and _is_mean_of_halves(rows, mean, linear):
            found = _centred(rows, mean, [stages[each] for each in then])
            if found is not None:
                return Centring(place, *found)
    return None


def _is_mean_of_halves(rows: RowsExpression, mean: Stage, linear: set[int]) -> bool:
    inputs = rows.expression.inputs
    arrays = [each for each in rows.expression.needed((mean.place,)) if each < len(inputs)]
    specs = [spec for spec in (inputs[each] for each in arrays) if isinstance(spec, Layout)]
    return (
        mean.op is _MEAN
        and mean.loop == dt.float32
        and all(isinstance(inputs[each], Layout) and each in linear for each in arrays)
        and all(spec.dtype in dt.HALVES for spec in specs)
    )


def _centred(
    rows: RowsExpression, mean: Stage, sums: list[Stage]
) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    """The number of the difference, and the orders and weights of sums, if each sum needs the mean for nothing else."""
    expression, count = rows.expression, len(rows.expression.inputs)
    difference = next(
        (
            number
            for number, node in enumerate(expression.nodes, count)
            if node.op is _SUBTRACT and node.operands == (mean.place, mean.number) and node.dtype == dt.float32
        ),
        None,
    )
    if difference is None or any(each.op not in (_MEAN, _SUM) or each.loop != dt.float32 for each in sums):
        return None
    orders: list[int] = []
    weights: list[int] = []
    places = [each.place for each in sums]
    for place in places:
        order, weight = 0, 0
        if mean.number in expression.needed((place,)):
            node = expression.nodes[place - count]
            factor = _factor(node, difference)
            if factor == difference:
                order = 2
            elif factor in places and mean.number not in expression.needed((factor,)):
                order, weight = 1, places.index(factor)
            else:
                return None
        orders.append(order)
        weights.append(weight)
    return difference, tuple(orders), tuple(weights)


def _factor(node: Node, difference: int) -> int | None:
    """The other factor of a product with a difference."""
    if node.op is _SQUARE:
        return difference if node.operands == (difference,) else None
    if node.op is not _MULTIPLY or difference not in node.operands:
        return None
    one, other = node.operands
    factor = other if one == difference else one
    return factor if isinstance(factor, int) else None
