"""The derivatives of plan functions and rows, in the form in which a backward pass calls them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from xpops.ops.derivatives.elementwise import Derivative
from xpops.ops.operator import Operator
from xpops.ops.softmax import Softmax

F = TypeVar("F", bound=Callable[..., Any])


class Bound(NamedTuple):
    """A derivative, and the names of the facts that it takes after the namespace."""

    function: Derivative
    names: tuple[str, ...]


class Rule(NamedTuple):
    """The derivatives of a call. Without any, its results do not change with its operands.

    Attributes
    ----------
    each : tuple of Bound or None
        The derivatives by the operands, one by one. None, or nothing for the last operands: there is none.
    whole : Bound or None
        Instead, one function of the cotangents of all operands. It may take ``operands`` and ``shapes``, tuples.
    fuses : bool
        Whether `xpops.fuse` accepts the derivatives.
    """

    each: tuple[Bound | None, ...]
    whole: Bound | None = None
    fuses: bool = False


_RULE = "rule"


def differentiable(*each: Derivative | None, whole: Derivative | None = None, fuses: bool = False) -> Callable[[F], F]:
    """A decorator that gives a plan function its derivatives; see `Rule`."""

    def decorate(plan: F) -> F:
        plan.__dict__[_RULE] = Rule(tuple(map(_bind, each)), _bind(whole), fuses)
        return plan

    return decorate


def rule_of(plan: Any, parameters: tuple[Any, ...]) -> Rule | None:
    """The derivatives of a call of a plan function: those of a row among the parameters, or of the function itself."""
    found: Rule | None = getattr(plan, _RULE, None)
    if found is None and parameters and hasattr(parameters[0], "derivative"):
        return _rule_of_row(parameters[0])
    return found


@lru_cache(None)
def _rule_of_row(row: Any) -> Rule | None:
    if row.derivative is not None:
        return Rule((_bind(row.derivative),), fuses=isinstance(row, Softmax))
    return Rule(()) if row.is_constant else None


@lru_cache(None)
def rule_of_operator(op: Operator) -> Rule | None:
    """The derivatives of an elementwise operator; None if it has none, and its results change with its operands."""
    return Rule(tuple(map(_bind, op.derivatives)), fuses=True) if op.derivatives or op.is_constant else None


@lru_cache(None)
def parameters_of(plan: Any) -> dict[str, Any]:
    """The parameters of a plan function after the engine and the operands, and their default values."""
    return {name: each.default for name, each in list(inspect.signature(plan).parameters.items())[2:]}


def _bind(derivative: Derivative | None) -> Bound | None:
    return None if derivative is None else Bound(derivative, tuple(inspect.signature(derivative).parameters)[1:])
