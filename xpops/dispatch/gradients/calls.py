"""Calls of which a framework records the gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import Layout
from xpops.core.operands import Scalar
from xpops.dispatch import steady
from xpops.dispatch.gradients.backward import OPERANDS, FusedSteps, Steps, in_float32, passing
from xpops.dispatch.gradients.namespace import NAMESPACE, without_memory
from xpops.dispatch.gradients.rules import Bound, Rule
from xpops.engine.program import Guessing, Kernel, Program
from xpops.frameworks import differentiable
from xpops.frameworks.adapter import Adapter
from xpops.frameworks.differentiable import Backward, Facts, Record
from xpops.frameworks.registry import adapter_of
from xpops.ops.derivatives.elementwise import same
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand

# The way of a call and the names of its arguments -> the call; the way alone for elementwise operators.
recorded_calls: BoundedDict[Any, RecordedCall] = BoundedDict(8192)
# The kind of a call -> the function that makes it. `RecordedCall.made_of` has the kind and the arguments.
makers: dict[str, Callable[..., RecordedCall]] = {}
_named: BoundedDict[str, RecordedCall] = BoundedDict(8192)


class RecordedCall:
    """A call with its derivatives: what `Adapter.record` takes.

    Parameters
    ----------
    function : str
        The public function, for errors.
    names : tuple of str
        The public names of the arguments.
    parameters : dict
        The parameters of the plan function by name.
    rule : Rule or None
        None: the results change with the arguments, and have no derivative.
    compute : callable
        Takes the arguments, and returns the results.
    made_of : tuple
        The name of the maker among `makers`, and its arguments, which make the same call again.
    plan : callable, optional
        ``plan(device, specs)`` returns the program of the call. None: the call is several others.
    broadcasts : bool
        Whether the call is elementwise.
    """

    def __init__(
        self,
        function: str,
        names: tuple[str, ...],
        parameters: dict[str, Any],
        rule: Rule | None,
        compute: Callable[..., Any],
        made_of: tuple[Any, ...],
        plan: Callable[[Device, tuple[Operand, ...]], Program | Guessing] | None = None,
        broadcasts: bool = False,
    ) -> None:
        self._made_of, self.plan = made_of, plan
        self.compute, self.broadcasts, self.is_differentiable = compute, broadcasts, rule is not None
        self._function, self._names, self._parameters = function, names, parameters
        self._rule = rule or Rule(())
        self._saved: dict[tuple[bool, ...], tuple[tuple[int, ...], bool]] = {}
        # The arguments that need a cotangent, with all facts -> their fused backward pass.
        self._fused: BoundedDict[tuple[Any, ...], FusedSteps] = BoundedDict(256)

    @cached_property
    def name(self) -> str:
        from xpops.dispatch.gradients.names import encode

        return encode(self._made_of)

    def kernel(self, arguments: tuple[Layout | Scalar, ...], outs: tuple[Layout, ...], device: Device) -> Kernel:
        # By name, because that module is above this one.
        found: Kernel = import_module("xpops.dispatch.gradients.kernels").kernel_of(self, arguments, outs, device)
        return found

    def results(self, arguments: tuple[Any, ...]) -> Facts | tuple[Facts, ...]:
        found = self.compute(*[without_memory(x) if isinstance(x, Facts) else x for x in arguments])
        return tuple(map(NAMESPACE.facts, found)) if isinstance(found, tuple) else NAMESPACE.facts(found)

    def saved(self, wanted: tuple[bool, ...]) -> tuple[tuple[int, ...], bool]:
        found = self._saved.get(wanted)
        if found is None:
            self._require_derivatives(wanted)
            used = {name for bound in self._bounds(wanted) if bound for name in bound.names}
            everything = OPERANDS in used
            places = tuple(place for place, name in enumerate(self._names) if everything or name in used)
            found = self._saved[wanted] = places, "y" in used
        return found

    def _require_derivatives(self, wanted: tuple[bool, ...]) -> None:
        """Refuse a call without a derivative by an argument that needs it."""
        each = self._rule.each
        for place, name in enumerate(self._names):
            has_none = each and (place >= len(each) or each[place] is None)
            if wanted[place] and (has_none or not self.is_differentiable):
                raise TypeError(
                    f"{self._function}: {name} needs a gradient, and there is none by it; "
                    "accepted: an array without one, as detach() and jax.lax.stop_gradient return it"
                )

    def cotangents(
        self,
        wanted: tuple[bool, ...],
        given: Any,
        facts: tuple[Facts | None, ...],
        arguments: list[Any],
        results: Any,
        fused: bool,
    ) -> tuple[Any, ...]:
        return self.backward(wanted, given, facts, fused)(given, arguments, results)

    def backward(self, wanted: tuple[bool, ...], given: Any, facts: tuple[Facts | None, ...], fused: bool) -> Backward:
        steps = Steps(self._rule, self._names, self._parameters, wanted, facts)
        if not self._rule.fuses:
            return steps
        if not (fused and _is_hashable(facts)):  # a fused function holds for the sizes of its trace
            return in_float32(steps) if self._rounds_often(wanted, given, facts) else steps
        passed = tuple([each and self._passes(place, given, facts[place]) for place, each in enumerate(wanted)])
        if not any(passed):
            return self._fuse(wanted, given, facts)
        rest = tuple([each and not own for each, own in zip(wanted, passed, strict=True)])
        return passing(passed, self._fuse(rest, given, facts) if any(rest) else None)

    def _passes(self, place: int, given: Any, fact: Facts | None) -> bool:
        """Whether the cotangent of an operand is that of the result, as it is."""
        bound = self._rule.each[place] if place < len(self._rule.each) else None
        return bound is not None and bound.function is same and NAMESPACE.facts(given) == fact

    def _rounds_often(self, wanted: tuple[bool, ...], given: Any, facts: tuple[Facts | None, ...]) -> bool:
        """Whether there are halves, and a cotangent takes several operators. Each of them would round its result."""
        own = tuple(map(NAMESPACE.facts, given if isinstance(given, tuple) else (given,)))
        if not any(fact.dtype in dt.HALVES for fact in (*own, *facts) if fact is not None):
            return False
        return not (_is_hashable(facts) and self._fuse(wanted, given, facts).rounds_once(own, facts))

    def _fuse(self, wanted: tuple[bool, ...], given: Any, facts: tuple[Facts | None, ...]) -> FusedSteps:
        """The cotangents of `wanted` arguments by one fused function."""
        found = self._fused.get((wanted, facts))
        if found is None:
            steps = Steps(self._rule, self._names, self._parameters, wanted, facts)
            several = len(given) if isinstance(given, tuple) else 0
            found = self._fused[wanted, facts] = FusedSteps(steps, wanted, *self.saved(wanted), several)
        return found

    def _bounds(self, wanted: tuple[bool, ...]) -> tuple[Bound | None, ...]:
        """The derivatives that `wanted` arguments need."""
        if self._rule.whole is not None:
            return (self._rule.whole,)
        return tuple(bound for bound, each in zip(self._rule.each, wanted, strict=False) if each)


def _is_hashable(key: tuple[Any, ...]) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def call_named(name: str) -> RecordedCall:
    """The call that has this name, in this process or in the one that made a program."""
    found = _named.get(name)
    if found is None:
        from xpops.dispatch.gradients.names import decode

        kind, *arguments = decode(name)
        found = _named[name] = makers[kind](*arguments)
    return found


differentiable.call_named = call_named


def recorder_of(arguments: tuple[Any, ...]) -> Adapter | None:
    """The framework that records the gradient of a call on these arguments.

    None if none needs a gradient, or if the arrays belong to several frameworks: then the result is none of theirs.
    """
    for x in arguments:
        adapter = adapter_of(x.__class__)
        if adapter is not None and adapter.records(x):
            for other in arguments:
                if adapter_of(other.__class__) not in (adapter, None):
                    return None
            return adapter
    return None


def require_no_gradient(function: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to write into given memory in a call of which a framework would have to record the gradient.

    A framework that traces a program without gradients may take the write into it.

    Raises
    ------
    RuntimeError
        As torch does.
    """
    for x in arguments:
        adapter = adapter_of(x.__class__)
        if adapter is not None and adapter.records(x) and not adapter.overwrites(x):
            if adapter.is_traced(x):
                raise RuntimeError(
                    f"{function}: out cannot be written in a traced call; accepted: the call without out"
                )
            raise RuntimeError(
                f"{function}: an argument requires grad, and out has no gradient; "
                "accepted: the call without out, or within torch.no_grad()"
            )


def overwriter_of(arguments: tuple[Any, ...]) -> Adapter | None:
    """The framework that traces a program with a call on these arguments, and takes a write into it."""
    for x in arguments:
        adapter = adapter_of(x.__class__)
        if adapter is not None and adapter.overwrites(x):
            return adapter
    return None


def remember_recorded(
    way: Any, arguments: tuple[Any, ...], results: Any, framework: Adapter, call: RecordedCall
) -> None:
    """Keep a call of which the framework records the gradient for later calls like it."""
    record = framework.recorder(call, arguments, results)
    if record is not None:
        steady.read_by_framework(arguments, framework)
        specs = tuple(map(steady.spec_of, arguments))
        if None not in specs:
            steady.launches[way, *specs] = Record(record)
