"""Tracing: one run of a Python function on values that record their use gives an `Expression`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.errors import describe
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import SCALAR_TYPES
from xpops.core.symbols import scalar_type
from xpops.dispatch.fusion.factoring import factored
from xpops.dispatch.fusion.traced_arrays import ACCEPTED, Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.operator import Operator
from xpops.ops.reduction import Reduction
from xpops.plan.fused.expression import Constant, Expression, Node, Reference, Unsigned
from xpops.plan.result import reduced_layout
from xpops.plan.signature import Operand, signature_of


class ReducedInput(NamedTuple):
    """A derived input: the reduction of a value.

    Attributes
    ----------
    place : int
        The number of the value.
    operand : Layout
        The dtype and the shape of the value.
    op : Reduction
    parameters : tuple
        Axis, keepdims, dtype and correction, as `xpops.dispatch.reductions.reduction` takes them.
    """

    place: int
    operand: Layout
    op: Reduction
    parameters: tuple[Any, ...]


# How an input after the arguments is made: a function by which the host computes a scalar from the inputs before it, or
# a reduction.
Derived = Callable[..., Any] | ReducedInput


def _with_visible_negation(node: Node) -> Node:
    """``0 - x`` and ``x * -1`` of integers as ``negative``, whose functor keeps it from the assembler of CUDA 13.0.

    See `opposite` in ``native/xpops/math/pow.cuh``.
    """
    hidden = {"subtract": ("0", (0,)), "multiply": ("-1", (0, 1))}.get(node.op.name)
    if hidden is None or node.loop[0].kind not in "iu":
        return node
    value, places = hidden
    for place in places:
        if node.operands[place] == Constant(int, value):
            return node._replace(op=OPERATORS["negative"], operands=(node.operands[1 - place],), loop=node.loop[:1])
    return node


class Recording(NamedTuple):
    """The recording of a function, reduced to the values that its results need.

    Attributes
    ----------
    whole : Expression
        Its inputs are all arguments, then the derived inputs.
    derived : tuple of Derived
        How each input after the arguments is made.
    shapes : tuple of tuple of int
        The shape of every value.
    """

    whole: Expression
    derived: tuple[Derived, ...]
    shapes: tuple[tuple[int, ...], ...]


class Trace:
    """One run of a function over traced values.

    Parameters
    ----------
    function : str
        The name of the function, for errors.
    inputs : tuple of Layout or type
        The layout or scalar type of each argument.
    device : Device
    exact : bool
        Whether sums along rows are those of the function, or may be factored (`xpops.dispatch.fusion.factoring`).
    """

    def __init__(self, function: str, inputs: tuple[Operand, ...], device: Device, exact: bool = True) -> None:
        self.function, self.device, self._given, self._exact = function, device, len(inputs), exact
        self._inputs = list(inputs)
        self._derived: list[Derived] = []
        # The first node has the place -1, the next -2, and so on: the places 0, 1, ... are left for inputs, since more
        # derived inputs may follow.
        self._nodes: list[Node] = []
        self._layouts: list[Layout] = []
        self._known: dict[tuple[Any, ...], Traced] = {}

    def arguments(self) -> tuple[Any, ...]:
        """A traced value for each input."""
        return tuple(
            Traced(self, spec, number) if isinstance(spec, Layout) else TracedScalar(self, spec, _nth(number), number)
            for number, spec in enumerate(self._inputs[: self._given])
        )

    def apply(self, op: Operator, arguments: tuple[Any, ...], dtype: DType | None = None, out: Any = None) -> Traced:
        """Record one elementwise call."""
        if out is not None:
            raise TypeError(f"{self.function}: out of {op.public} cannot be fused; accepted: the function's results")
        return self._apply(op, tuple(self._place_of(op, argument) for argument in arguments), dtype)

    def convert(self, x: Traced, dtype: DType) -> Traced:
        """`x` as another dtype. A narrow operator whose caller chooses the dtype makes it itself, not a cast."""
        made = self.node(x)
        if made is not None and made.op.narrow and made.op.result == "given":
            return self._apply(made.op, made.operands, dtype)
        return self.apply(IDENTITY, (x,), dtype)

    def _apply(self, op: Operator, places: tuple[Reference, ...], dtype: DType | None) -> Traced:
        specs = tuple(self._spec(place) for place in places)
        key = (op, places, dtype)
        known = self._known.get(key)
        if known is None:
            if not any(isinstance(spec, Layout) for spec in specs):
                raise TypeError(
                    f"{self.function}: every operand of {op.public} is a scalar; accepted: at least one array"
                )
            loop, made, shape = signature_of(op, specs, dtype)
            self._require_room(op, places, loop)
            self._nodes.append(_with_visible_negation(Node(op, places, loop, made)))
            self._layouts.append(layout_of(made, shape, None, self.device))
            known = self._known[key] = Traced(self, self._layouts[-1], -len(self._nodes))
        return known

    def _require_room(self, op: Operator, places: tuple[Reference, ...], loop: tuple[DType, ...]) -> None:
        """OverflowError if a constant is an integer that the loop's dtype cannot hold."""
        for place, dtype in zip(places, loop, strict=True):
            if isinstance(place, Constant) and place.kind is int and dtype.kind in "iu":
                low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
                if not low <= int(place.value) <= high:
                    raise OverflowError(
                        f"{self.function}: {op.public} has {place.value}, which {dtype} cannot hold; "
                        f"accepted: {low} to {high}"
                    )

    def primitive(self, function: str, arguments: tuple[Any, ...], parameters: tuple[Any, ...]) -> Traced:
        """Record a reduction. No other call that is not elementwise can be fused: TypeError."""
        op = parameters[0] if parameters else None
        if not isinstance(op, Reduction) or op.positional or not isinstance(arguments[0], Traced):
            raise TypeError(f"{self.function}: {function} cannot be fused; {ACCEPTED}")
        (x,) = arguments
        operand = self._stored(x)
        call = reduced_layout(operand, op, *parameters[1:4])
        along_rows = op.name == "sum" and call.axes == (x.ndim - 1,) and call.out.ndim == x.ndim
        if along_rows and not self._exact and call.loop == x.dtype in (dt.float32, dt.float64):
            found = factored(self, x, lambda value: self.primitive(function, (value,), parameters))
            if found is not None:
                return found
        key = (op, x.place, call.axes, call.loop, call.out, parameters[4])
        known = self._known.get(key)
        if known is None:
            self._derived.append(ReducedInput(x.place, operand, op, parameters[1:]))
            self._inputs.append(call.out)
            known = self._known[key] = Traced(self, call.out, len(self._inputs) - 1)
        return known

    def node(self, x: Traced) -> Node | None:
        """What makes a value; None if it is an input."""
        return self._nodes[~x.place] if x.place < 0 else None

    def value(self, place: Reference) -> Traced | None:
        """The array at a place; None if there is a scalar."""
        spec = self._spec(place)
        return Traced(self, spec, place) if isinstance(spec, Layout) and isinstance(place, int) else None

    def is_reduced(self, x: Traced, reduction: str, of: Traced) -> bool:
        made = self._derived[x.place - self._given] if x.place >= self._given else None
        return isinstance(made, ReducedInput) and (made.op.name, made.place) == (reduction, of.place)

    def reductions_of(self, x: Traced) -> set[str]:
        """The names of the reductions whose results a value is computed from."""
        waiting, found, seen = [x.place], set[str](), set[int]()
        while waiting:
            place = waiting.pop()
            made = self._derived[place - self._given] if place >= self._given else None
            if isinstance(made, ReducedInput):
                found.add(made.op.name)
            if place < 0 and place not in seen:
                waiting += (each for each in self._nodes[~place].operands if isinstance(each, int))
            seen.add(place)
        return found

    def _stored(self, x: Traced) -> Layout:
        """The layout in which a reduction reads a value: an argument and an earlier reduction lie in memory already."""
        given = self._spec(x.place) if x.place >= 0 else None
        return given if isinstance(given, Layout) else layout_of(x.dtype, x.shape, None, self.device)

    def expression(self, results: tuple[Traced, ...]) -> Recording:
        """The recording, without values that no result needs, and with places as the numbers of `Expression`."""
        inputs, order = self._needed_places([each.place for each in results])
        place_of = {place: number for number, place in enumerate((*inputs, *order))}
        nodes = tuple(
            node._replace(operands=tuple(place_of[each] if isinstance(each, int) else each for each in node.operands))
            for node in (self._nodes[-place - 1] for place in order)
        )
        derived = tuple(
            each._replace(place=place_of[each.place]) if isinstance(each, ReducedInput) else each
            for each in (self._derived[place - self._given] for place in inputs[self._given :])
        )
        specs = [self._spec(place) for place in (*inputs, *order)]
        shapes = tuple(spec.shape if isinstance(spec, Layout) else () for spec in specs)
        numbers = tuple(place_of[each.place] for each in results)
        return Recording(
            Expression(_resolve_scalar_kinds(specs[: len(inputs)], nodes), nodes, numbers), derived, shapes
        )

    def _needed_places(self, waiting: list[int]) -> tuple[list[int], list[int]]:
        """The places that the places `waiting` need, in order: inputs (always with all arguments), and nodes."""
        needed = set(range(self._given))
        while waiting:
            place = waiting.pop()
            if place in needed:
                continue
            needed.add(place)
            made = self._nodes[-place - 1] if place < 0 else self._derived[place - self._given]
            if isinstance(made, Node):
                waiting += (each for each in made.operands if isinstance(each, int))
            elif isinstance(made, ReducedInput):
                waiting.append(made.place)
        return sorted(place for place in needed if place >= 0), sorted((p for p in needed if p < 0), reverse=True)

    def derive(self, kind: type, evaluate: Callable[..., Any]) -> int:
        """Add an input that the host computes from the inputs before it; returns its number."""

        def made(*values: Any) -> Any:
            value = evaluate(*values)
            if scalar_type(value) is not kind:  # the dtypes that this trace decided would be wrong
                raise TypeError(
                    f"{self.function}: a power of scalar arguments is {value!r}; accepted: {kind.__name__} powers, as "
                    f"of ones, or {type(value).__name__} arguments"
                )
            return value

        self._inputs.append(kind)
        self._derived.append(made)
        return len(self._inputs) - 1

    def _place_of(self, op: Operator, argument: Any) -> Reference:
        if isinstance(argument, (Traced, TracedScalar)):
            if argument.trace is not self:
                raise TypeError(f"{self.function}: {op.public} has a value of another fused call; {ACCEPTED}")
            place: int = argument.place
            return place
        value = argument.item() if isinstance(argument, np.generic) else argument
        for kind in SCALAR_TYPES:
            if isinstance(value, kind):
                return Constant(kind, repr(kind(value)))
        raise TypeError(
            f"{self.function}: {op.public} has {describe(argument)} that is no "
            f"argument of the function; accepted: pass it as one"
        )

    def _spec(self, place: Reference) -> Operand:
        if isinstance(place, Constant):
            return place.kind
        return self._inputs[place] if place >= 0 else self._layouts[-place - 1]


def _resolve_scalar_kinds(inputs: list[Operand], nodes: tuple[Node, ...]) -> tuple[Operand, ...]:
    """The inputs, with each integer scalar as a kind that holds every value which the nodes accept."""
    loops: dict[Reference, str] = {}
    for node in nodes:
        for place, dtype in zip(node.operands, node.loop, strict=True):
            loops[place] = loops.get(place, "") + dtype.kind

    def resolve(number: int, spec: Operand) -> Operand:
        kinds = loops.get(number, "").replace("b", "")  # a condition is true or false as any kind
        if spec is not int or "i" in kinds:
            return spec
        if not kinds:
            return bool
        return Unsigned if "u" in kinds else float

    return tuple(resolve(number, spec) for number, spec in enumerate(inputs))


def _nth(number: int) -> Callable[..., Any]:
    return lambda *values: values[number]
