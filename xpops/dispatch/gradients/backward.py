"""Backward passes of one call, for operands whose shapes and dtypes are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.devices import NOWHERE
from xpops.core.layouts import layout_of
from xpops.dispatch.gradients.namespace import NAMESPACE, is_scalar, stand_in
from xpops.dispatch.gradients.rules import Rule
from xpops.frameworks.differentiable import Backward, Facts

# The name of all arguments together among those that a derivative takes.
OPERANDS = "operands"


class Steps:
    """The cotangents of `wanted` arguments, function by function.

    Parameters
    ----------
    rule : Rule
    names : tuple of str
        The public names of the arguments.
    parameters : dict
    wanted : tuple of bool
    facts : tuple of Facts or None
        Those of the arguments; None for scalars.
    """

    def __init__(
        self,
        rule: Rule,
        names: tuple[str, ...],
        parameters: dict[str, Any],
        wanted: tuple[bool, ...],
        facts: tuple[Facts | None, ...],
    ) -> None:
        self._names, self._parameters, self._facts, self._wanted = names, parameters, facts, wanted
        self._is_whole = rule.whole is not None
        bounds = (rule.whole,) if rule.whole is not None else rule.each[: len(wanted)]
        self._steps = [
            None if bound is None else (bound.function, [self._getter(name) for name in bound.names])
            for bound in (
                bound if self._is_whole or each else None for bound, each in zip(bounds, wanted, strict=False)
            )
        ]
        self._steps += [None] * (0 if self._is_whole else len(wanted) - len(bounds))

    def __call__(self, given: Any, arguments: list[Any], results: Any) -> tuple[Any, ...]:
        found: Any = [
            None if step is None else step[0](NAMESPACE, *[get(given, arguments, results) for get in step[1]])
            for step in self._steps
        ]
        made = found[0] if self._is_whole else found
        like = given[0] if isinstance(given, tuple) else given
        return tuple(
            [
                NAMESPACE.fit(value, like, *fact) if each and value is not None and fact is not None else None
                for each, value, fact in zip(self._wanted, made, self._facts, strict=True)
            ]
        )

    def _getter(self, name: str) -> Callable[[Any, list[Any], Any], Any]:
        """What finds a fact that a derivative names."""
        if name == "g":
            return lambda given, arguments, results: given
        if name == "y":
            return lambda given, arguments, results: results
        if name == OPERANDS:
            return lambda given, arguments, results: tuple(arguments)
        if name in self._names:
            place = self._names.index(name)
            return lambda given, arguments, results: arguments[place]
        constant = self._constant(name)
        return lambda given, arguments, results: constant

    def _constant(self, name: str) -> Any:
        if name == "shapes":
            return tuple(None if fact is None else fact.shape for fact in self._facts)
        operand, _, part = name.rpartition("_")
        if part in ("shape", "dtype") and operand in self._names:
            fact = self._facts[self._names.index(operand)]
            return None if fact is None else getattr(fact, part)
        return self._parameters[name]


def in_float32(steps: Steps) -> Backward:
    """The same cotangents, with float32 in place of halves until they are done: as fused ones, and as torch's."""

    def backward(given: Any, arguments: list[Any], results: Any) -> tuple[Any, ...]:
        return steps(_wide(given), [_wide(x) for x in arguments], _wide(results))

    return backward


def _wide(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(_wide, x))
    is_half = x is not None and not is_scalar(x) and NAMESPACE.facts(x).dtype in dt.HALVES
    return NAMESPACE.astype(x, dt.float32) if is_half else x


class FusedSteps:
    """The cotangents of `wanted` arguments by one fused function of what they need.

    Parameters
    ----------
    steps : Steps
        Those of the same arguments, for what cannot be fused.
    wanted : tuple of bool
    places : tuple of int
        Those of the arguments that the cotangents need.
    needs_results : bool
    several : int
        The number of results, of which each has a cotangent; 0 if there is only one.
    """

    def __init__(
        self, steps: Steps, wanted: tuple[bool, ...], places: tuple[int, ...], needs_results: bool, several: int
    ) -> None:
        self._steps, self._alone, self._wanted, self._places = steps, in_float32(steps), wanted, places
        self._needs_results, self._several = needs_results, several
        self.function: Any = NAMESPACE.fuse(self._backward, round_each=False)
        self._rounds_once: bool | None = None  # not known yet

    def rounds_once(self, given: tuple[Facts, ...], facts: tuple[Facts | None, ...]) -> bool:
        """Whether each cotangent is one operator of what has these facts, so that halves need no float32.

        `given` are those of the results, and of their cotangents.
        """
        if self._rounds_once is None:
            self._rounds_once = self._find_rounds_once(given, facts)
        return self._rounds_once

    def _find_rounds_once(self, given: tuple[Facts, ...], facts: tuple[Facts | None, ...]) -> bool:
        from xpops.dispatch.fusion.widening import rounds_once

        needed = [*given, *(facts[place] for place in self._places), *(given if self._needs_results else ())]
        specs = [float if each is None else layout_of(each.dtype, each.shape, None, NOWHERE) for each in needed]
        try:
            return rounds_once("gradient", self._backward, tuple(specs))
        except TypeError:  # they cannot be fused
            return False

    def __call__(self, given: Any, arguments: list[Any], results: Any) -> tuple[Any, ...]:
        if self.function is None:
            return self._alone(given, arguments, results)
        values = [*given] if self._several else [given]
        values += [arguments[place] for place in self._places]
        if self._needs_results:
            values.append(results)
        try:
            if NAMESPACE.is_traced(values[0]):  # the program runs later: find out now whether a GPU can
                self.function.source(*map(stand_in, values))
            made = self.function(*values)
        except TypeError:  # if something else is wrong, the functions one by one raise it again
            self.function = None
            return self._alone(given, arguments, results)
        rest = iter(made if isinstance(made, tuple) else (made,))
        return tuple([next(rest) if each else None for each in self._wanted])

    def _backward(self, *values: Any) -> Any:
        """The function that is fused: of the cotangents, and of what was saved."""
        own: list[Any] = [None] * len(self._wanted)
        for place, value in zip(self._places, values[self._several or 1 :], strict=False):
            own[place] = value
        given = values[: self._several] if self._several else values[0]
        found = self._steps(given, own, values[-1] if self._needs_results else None)
        made = tuple([each for each in found if each is not None])
        return made if len(made) > 1 else made[0]


def passing(passed: tuple[bool, ...], rest: Backward | None) -> Backward:
    """A backward pass in which the cotangent of some operands is that of the result, as it is.

    Parameters
    ----------
    passed : tuple of bool
        These arguments.
    rest : Backward or None
        That of the others, if any of them needs a cotangent.
    """
    nothing = (None,) * len(passed)

    def backward(given: Any, arguments: list[Any], results: Any) -> tuple[Any, ...]:
        made = nothing if rest is None else rest(given, arguments, results)
        return tuple([given if own else value for own, value in zip(passed, made, strict=True)])

    return backward
