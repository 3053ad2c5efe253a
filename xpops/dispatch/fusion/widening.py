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
from xpops.plan.signature import Operand

_HALVES = (dt.float16, dt.bfloat16)


def without_rounding(name: str, function: Callable[..., Any], specs: tuple[Operand, ...]) -> Callable[..., Any]:
    """The function on float32 in place of half arrays. Its results have the dtypes that they have otherwise.

    Both this function and the result take traced values; `specs` are those of the arguments.
    """
    devices = [spec.device for spec in specs if isinstance(spec, Layout) and spec.dtype in _HALVES]
    if not devices:
        return function
    rounded = results_of(name, function(*Trace(name, specs, devices[0]).arguments()), Traced)

    @functools.wraps(function)
    def widened(*values: Any) -> Any:
        results = function(*map(_wide, values))
        if not isinstance(results, tuple):
            return _as(results, rounded[0].dtype)
        return tuple(_as(result, each.dtype) for result, each in zip(results, rounded, strict=True))

    return widened


def _wide(value: Any) -> Any:
    return _as(value, dt.float32) if isinstance(value, Traced) and value.dtype in _HALVES else value


def _as(x: Any, dtype: dt.DType) -> Any:
    """A traced array as another dtype. What is none is refused where all results are."""
    return x.trace.convert(x, dtype) if isinstance(x, Traced) and x.dtype != dtype else x
