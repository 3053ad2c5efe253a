"""Elementwise expressions as data: what a traced function computes, one operator after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xpops.core.dtypes import DType
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand


class Constant(NamedTuple):
    """A Python scalar that the function itself names.

    Attributes
    ----------
    kind : type
        bool, int, float or complex; beside the value, because 1 equals 1.0.
    value : str
        Its `repr`, so that -0.0 is another constant than 0.0, and NaN the same as NaN.
    """

    kind: type
    value: str


class Unsigned(int):
    """The kind of a scalar that is an integer for unsigned dtypes: one that need not fit 64 bits with a sign."""


# The number of a value: an input's, or that of a node behind all inputs.
Reference = int | Constant


class Node(NamedTuple):
    """One operator of an expression.

    Attributes
    ----------
    op : Operator
    operands : tuple of int or Constant
    loop : tuple of numpy.dtype
        The dtype each operand is converted to.
    dtype : numpy.dtype
        The result's.
    """

    op: Operator
    operands: tuple[Reference, ...]
    loop: tuple[DType, ...]
    dtype: DType


class Expression(NamedTuple):
    """What becomes one kernel.

    Attributes
    ----------
    inputs : tuple of Layout or type
        Arrays, and scalars that every call gives anew, by the kind that holds them.
    nodes : tuple of Node
        Each uses inputs and nodes before it.
    results : tuple of int
    """

    inputs: tuple[Operand, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]

    def bounds(self, number: int) -> tuple[int, int]:
        """The least and the greatest value of an integer among the inputs: that it travels as, and that dtypes hold."""
        low, high = (0, 2**64 - 1) if self.inputs[number] is Unsigned else (-(2**63), 2**63 - 1)
        for node in self.nodes:
            for operand, loop in zip(node.operands, node.loop, strict=True):
                if operand == number and isinstance(operand, int) and loop.kind in "iu":
                    low, high = max(low, int(np.iinfo(loop).min)), min(high, int(np.iinfo(loop).max))
        return low, high

    def needed(self, results: tuple[int, ...]) -> set[int]:
        """The numbers of all values that some results are made of, themselves included."""
        count, found = len(self.inputs), set(results)
        for number in range(count + len(self.nodes) - 1, count - 1, -1):
            if number in found:
                found.update(each for each in self.nodes[number - count].operands if isinstance(each, int))
        return found

    def pruned(self, results: tuple[int, ...]) -> tuple[Expression, tuple[int, ...]]:
        """The part that makes some of the results, and the numbers of the inputs that are left."""
        count = len(self.inputs)
        order = sorted(self.needed(results))
        place = {number: position for position, number in enumerate(order)}
        kept = tuple(number for number in order if number < count)
        nodes = tuple(
            node._replace(operands=tuple(place[each] if isinstance(each, int) else each for each in node.operands))
            for node in (self.nodes[number - count] for number in order if number >= count)
        )
        inputs = tuple(self.inputs[number] for number in kept)
        return Expression(inputs, nodes, tuple(place[each] for each in results)), kept
