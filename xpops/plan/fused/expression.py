"""Elementwise expressions as data: the operators of a traced function, in the order in which it computes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xpops.core.dtypes import DType
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand


class Constant(NamedTuple):
    """A Python scalar in the code of the traced function.

    Attributes
    ----------
    kind : type
        bool, int, float or complex: the type that converts `value` back.
    value : str
        Its `repr`: it distinguishes -0.0 from 0.0 and 1 from 1.0, and NaN equals NaN.
    """

    kind: type
    value: str


class Unsigned(int):
    """The kind of an integer scalar that operators convert to unsigned dtypes, and never to signed integers.

    Its value may exceed the range of int64.
    """


# A constant, or the number of a value: inputs are numbered first, then nodes.
Reference = int | Constant


class Node(NamedTuple):
    """One operator of an expression.

    Attributes
    ----------
    op : Operator
    operands : tuple of int or Constant
    loop : tuple of numpy.dtype
        The dtype to which each operand is converted.
    dtype : numpy.dtype
        The result's dtype.
    """

    op: Operator
    operands: tuple[Reference, ...]
    loop: tuple[DType, ...]
    dtype: DType


class Expression(NamedTuple):
    """An expression that becomes one kernel.

    Attributes
    ----------
    inputs : tuple of Layout or type
        Arrays by layout, and scalar arguments by the kind that holds them; each call passes new values.
    nodes : tuple of Node
        Each node uses inputs and earlier nodes.
    results : tuple of int
        The numbers of the values that the kernel writes.
    exact : bool
        Whether they have the bits that the operators give one by one.
    narrow : bool
        Whether it is not exact, and all arguments and results are scalars, float16 and bfloat16 arrays. Quotients and
        roots of float32 in between, among `contracted`, are then within 2 units in the last place.
    contracted : frozenset of int
        The numbers of the nodes whose products and sums the compiler may contract. Kernels and passes then compute
        other bits of the same value, so no comparison depends on them. There are none if the expression is exact.
    prepared : frozenset of int
        The numbers of divisors and the like that all elements of a row share. Kernels make a functor of each; see
        `Operator.prepared`. There are none if the expression is exact.
    """

    inputs: tuple[Operand, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    exact: bool = True
    narrow: bool = False
    contracted: frozenset[int] = frozenset()
    prepared: frozenset[int] = frozenset()

    def bounds(self, number: int) -> tuple[int, int]:
        """The least and the greatest value of an integer input: both the type that passes it to the kernel and every
        integer dtype to which an operator converts it must hold it.
        """
        low, high = (0, 2**64 - 1) if self.inputs[number] is Unsigned else (-(2**63), 2**63 - 1)
        for node in self.nodes:
            for operand, loop in zip(node.operands, node.loop, strict=True):
                if operand == number and isinstance(operand, int) and loop.kind in "iu":
                    low, high = max(low, int(np.iinfo(loop).min)), min(high, int(np.iinfo(loop).max))
        return low, high

    def needed(self, results: tuple[int, ...]) -> set[int]:
        """The numbers of all values that `results` depend on, `results` included."""
        count, found = len(self.inputs), set(results)
        for number in range(count + len(self.nodes) - 1, count - 1, -1):
            if number in found:
                found.update(each for each in self.nodes[number - count].operands if isinstance(each, int))
        return found

    def prune(self, results: tuple[int, ...]) -> tuple[Expression, tuple[int, ...]]:
        """The expression that computes only `results`, and the numbers of the inputs that it keeps."""
        count = len(self.inputs)
        order = sorted(self.needed(results))
        place = {number: position for position, number in enumerate(order)}
        kept = tuple(number for number in order if number < count)
        nodes = tuple(
            node._replace(operands=tuple(place[each] if isinstance(each, int) else each for each in node.operands))
            for node in (self.nodes[number - count] for number in order if number >= count)
        )
        inputs = tuple(self.inputs[number] for number in kept)
        contracted, prepared = (
            frozenset(place[each] for each in numbers if each in place) for numbers in (self.contracted, self.prepared)
        )
        numbers = tuple(place[each] for each in results)
        return Expression(inputs, nodes, numbers, self.exact, self.narrow, contracted, prepared), kept
