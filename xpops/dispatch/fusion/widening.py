"""Functions of half arrays that keep float32 between their operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.tracing import ReducedInput, Trace
from xpops.plan.signature import Operand


def without_rounding(name: str, function: Callable[..., Any], specs: tuple[Operand, ...]) -> Callable[..., Any]:
    """The function on float32 in place of half arrays. Its results have the dtypes that they have otherwise.

    Both this function and the result take traced values; `specs` are those of the arguments. A function that rounds
    once stays as it is: some operators of halves are faster.
    """
    if not any(spec.dtype in dt.HALVES for spec in specs if isinstance(spec, Layout)):
        return function
    trace, rounded = _run(name, function, specs)
    if _rounds_once(trace, rounded, specs):
        return function

    @functools.wraps(function)
    def widened(*values: Any) -> Any:
        results = function(*map(_wide, values))
        if not isinstance(results, tuple):
            return _as(results, rounded[0].dtype)
        return tuple(_as(result, each.dtype) for result, each in zip(results, rounded, strict=True))

    return widened


def rounds_once(name: str, function: Callable[..., Any], specs: tuple[Operand, ...]) -> bool:
    """Whether each result of a function of traced values is an argument, or one operator or reduction of arguments."""
    return _rounds_once(*_run(name, function, specs), specs)


def _run(name: str, function: Callable[..., Any], specs: tuple[Operand, ...]) -> tuple[Trace, tuple[Traced, ...]]:
    device = next(spec.device for spec in specs if isinstance(spec, Layout))
    trace = Trace(name, specs, device)
    return trace, results_of(name, function(*trace.arguments()), Traced)


def _rounds_once(trace: Trace, results: tuple[Traced, ...], specs: tuple[Operand, ...]) -> bool:
    whole, derived, _ = trace.expression(results)
    # Only arrays count. An operator of halves rounds a scalar to a half before it uses it.
    arrays = {place for place, spec in enumerate(specs) if isinstance(spec, Layout)}

    def is_near(number: int) -> bool:
        if number < len(specs):
            return True
        if number < len(whole.inputs):
            made = derived[number - len(specs)]
            return isinstance(made, ReducedInput) and made.place in arrays
        return arrays.issuperset(whole.nodes[number - len(whole.inputs)].operands)

    return all(map(is_near, whole.results))


def _wide(value: Any) -> Any:
    return _as(value, dt.float32) if isinstance(value, Traced) and value.dtype in dt.HALVES else value


def _as(x: Any, dtype: dt.DType) -> Any:
    """A traced array as another dtype. What is none is refused where all results are."""
    return x.trace.convert(x, dtype) if isinstance(x, Traced) and x.dtype != dtype else x
