"""Correlation and convolution of vectors."""

from __future__ import annotations

from typing import Any

from xpops.api.data_types import astype, result_type
from xpops.api.manipulation.shapes import reshape
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.primitives import call
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.numpy.arguments import on_arrays
from xpops.plan.signals.correlation import MODES, correlation_of

__all__ = ["convolve", "correlate"]


@on_arrays(2)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """As `numpy.convolve`: one kernel, without temporary arrays."""
    return _correlation("convolve", a, v, True, mode)


@on_arrays(2)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """As `numpy.correlate`: one kernel, without temporary arrays."""
    return _correlation("correlate", a, v, False, mode)


def _correlation(function: str, a: Any, v: Any, convolves: bool, mode: str) -> Any:
    if a.ndim > 1 or v.ndim > 1 or not v.size or not a.size:
        raise ValueError(f"{function}: the shapes are {a.shape} and {v.shape}; accepted: vectors that are not empty")
    if mode not in MODES:
        raise ValueError(f"{function}: mode is {mode!r}; accepted: {', '.join(map(repr, MODES))}")
    dtype: DType = result_type(a, v)
    if dtype not in dt.CATEGORIES["arithmetic"]:
        raise TypeError(f"{function}: dtype {dtype} is not accepted; accepted: numbers and booleans, no float8")
    operands = tuple(reshape(astype(each, dtype, copy=False), (-1,)) for each in (a, v))
    return call(_plan, function, ("a", "v"), operands, convolves, mode)


def _plan(engine: Engine, specs: tuple[Layout, Layout], convolves: bool, mode: str) -> Program:
    a, v = specs
    found = correlation_of(convolves, mode, (a.size, v.size))
    out = layout_of(a.dtype, (found.outputs,), None, a.device)
    return Program((out,), engine.correlate(a, v, out, convolves, mode))
