"""The derivatives of fused functions: their recording, run forwards and then backwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.core.devices import CPU
from xpops.core.layouts import layout_of
from xpops.core.symbols import scalar_type
from xpops.dispatch import elementwise
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.fusion.tracing import Derived, Recording, ReducedInput, Trace
from xpops.dispatch.gradients.calls import RecordedCall
from xpops.dispatch.gradients.namespace import NAMESPACE, is_scalar
from xpops.dispatch.gradients.rules import parameters_of, rule_of, rule_of_operator
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.elementwise import OPERATORS
from xpops.plan.fused.expression import Constant, Node, Reference
from xpops.plan.signature import Operand

_MULTIPLY = OPERATORS["multiply"]


def cotangents_of(
    name: str, function: Callable[..., Any], given: tuple[Any, ...], operands: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The cotangents of the operands of a function that `fuse` accepts, None for those without a gradient.

    Parameters
    ----------
    given : tuple of array
        The cotangents of the results.
    """
    trace = Trace(name, tuple(map(_spec, operands)), CPU)
    recording = trace.expression(results_of(name, function(*trace.arguments()), Traced))
    run = _Run(recording, operands)
    for number, cotangent in zip(recording.whole.results, given, strict=True):
        run.add(number, cotangent)
    run.backwards()
    return tuple(run.cotangents.get(number) for number in range(len(operands)))


def _spec(x: Any) -> Operand:
    if isinstance(x, TracedScalar):
        return x.kind
    kind = scalar_type(x)
    if kind is not None:
        return kind
    shape, dtype = NAMESPACE.facts(x)
    return layout_of(dtype, tuple(map(int, shape)), None, CPU)


class _Run:
    """One run of a recording: its values, and the cotangents of those that the results depend on."""

    def __init__(self, recording: Recording, operands: tuple[Any, ...]) -> None:
        self.cotangents: dict[int, Any] = {}
        self._whole, self._derived = recording.whole, recording.derived
        self._values: dict[int, Any] = dict(enumerate(operands))
        self._given, self._order = len(operands), list[int]()

    def value(self, place: Reference) -> Any:
        """The value of a number, computed at its first use."""
        if isinstance(place, Constant):
            return place.kind(place.value) if place.kind is not bool else place.value == "True"
        if place not in self._values:
            made = self._made(place)
            if isinstance(made, Node):
                operands = tuple(map(self.value, made.operands))
                dtype = made.dtype if made.op.result == "given" else None
                found = elementwise(made.op, operands, None, dtype)
            elif isinstance(made, ReducedInput):
                found = unary(reduction, made.op.name, self.value(made.place), made.op, *made.parameters)
            else:
                found = made(*(self.value(each) for each in range(place)))
            self._values[place] = found
            self._order.append(place)
        return self._values[place]

    def add(self, place: Reference, cotangent: Any) -> None:
        """Add to the cotangent of a value."""
        if isinstance(place, int) and cotangent is not None:
            like, known = self.value(place), self.cotangents.get(place)
            if NAMESPACE.facts(cotangent).shape != NAMESPACE.facts(like).shape:  # that of a traced reduction
                cotangent = NAMESPACE.where(NAMESPACE.equal(like, like), cotangent, cotangent)
            self.cotangents[place] = cotangent if known is None else NAMESPACE.add(known, cotangent)

    def backwards(self) -> None:
        """Distribute the cotangents of results to all values, from the last one to the first."""
        for place in reversed(self._order):
            made, cotangent = self._made(place), self.cotangents.get(place)
            if cotangent is None or not isinstance(made, (Node, ReducedInput)):
                continue
            if isinstance(made, Node) and made.op is _MULTIPLY and made.operands[0] == made.operands[1]:
                self._add_of_square(made, cotangent)
                continue
            places = made.operands if isinstance(made, Node) else (made.place,)
            operands = list(map(self.value, places))
            facts = tuple(None if is_scalar(x) else NAMESPACE.facts(x) for x in operands)
            wanted = tuple(fact is not None and fact.dtype.kind not in "biu" for fact in facts)
            call = _recorded(made)
            found = call.cotangents(wanted, cotangent, facts, operands, self.value(place), False)
            for each, value in zip(places, found, strict=True):
                self.add(each, value)

    def _add_of_square(self, node: Node, cotangent: Any) -> None:
        """Distribute the cotangent of a square. Sums along rows hold twice the cotangent of a row only once."""
        (place, _), space = node.operands, NAMESPACE
        value = self.value(place)
        other = space.conj(value) if node.dtype.kind == "c" else value
        self.add(place, space.multiply(space.add(cotangent, cotangent), other))

    def _made(self, place: int) -> Node | Derived:
        count = len(self._whole.inputs)
        return self._whole.nodes[place - count] if place >= count else self._derived[place - self._given]


def _recorded(made: Node | ReducedInput) -> RecordedCall:
    """The derivatives of one step."""
    if isinstance(made, Node):
        rule, names = rule_of_operator(made.op), made.op.arguments
        parameters = {}
    else:
        rule, names = rule_of(reduction, (made.op,)), ("x",)
        parameters = dict(zip(parameters_of(reduction), (made.op, *made.parameters), strict=True))
    if rule is None:
        raise NotImplementedError(f"{made.op.name} has no derivative; accepted: the call within torch.no_grad()")
    return RecordedCall(made.op.name, names, parameters, rule, elementwise, ())
