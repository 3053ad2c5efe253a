"""Functions of half arrays that keep float32 between their operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.tracing import Trace
from xpops.plan.fused.expression import Node
from xpops.plan.signature import Operand

_HALVES = (dt.float16, dt.bfloat16)


def without_rounding(name: str, function: Callable[..., Any], specs: tuple[Operand, ...]) -> Callable[..., Any]:
    """The function on float32 in place of half arrays. Its results have the dtypes that they have otherwise.

    Both this function and the result take traced values; `specs` are those of the arguments. A function whose
    results are each one operator of arrays stays as it is: it rounds once, and some operators of halves are faster.
    """
    devices = [spec.device for spec in specs if isinstance(spec, Layout) and spec.dtype in _HALVES]
    if not devices:
        return function
    trace = Trace(name, specs, devices[0])
    rounded = results_of(name, function(*trace.arguments()), Traced)
    if all(_rounds_once(trace.node(each), specs) for each in rounded):
        return function

    @functools.wraps(function)
    def widened(*values: Any) -> Any:
        results = function(*map(_wide, values))
        if not isinstance(results, tuple):
            return _as(results, rounded[0].dtype)
        return tuple(_as(result, each.dtype) for result, each in zip(results, rounded, strict=True))

    return widened


def _rounds_once(made: Node | None, specs: tuple[Operand, ...]) -> bool:
    """Whether a value is one operator of arguments that are arrays. A scalar would become a half before it is used."""
    arrays = {place for place, spec in enumerate(specs) if isinstance(spec, Layout)}
    return made is not None and arrays.issuperset(made.operands)


def _wide(value: Any) -> Any:
    return _as(value, dt.float32) if isinstance(value, Traced) and value.dtype in _HALVES else value


def _as(x: Any, dtype: dt.DType) -> Any:
    """A traced array as another dtype. What is none is refused where all results are."""
    return x.trace.convert(x, dtype) if isinstance(x, Traced) and x.dtype != dtype else x
