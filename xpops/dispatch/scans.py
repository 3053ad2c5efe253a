"""Scans: the checks of a call, and its program over the primitive."""

from __future__ import annotations

from typing import Any

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.dispatch.dense import require_array
from xpops.dispatch.lines import plan_on_lines
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.ops.scan import Scan, scan_dtype
from xpops.plan.result import scan_result
from xpops.plan.signature import Operand
from xpops.plan.strides.views import axis_of


def scan(
    engine: Engine,
    specs: tuple[Operand, ...],
    op: Scan,
    axis: Any = None,
    dtype: DType | None = None,
    initial: bool = False,
) -> Program:
    """The program that scans the first operand. A recurrence has a second operand, its factor `gamma`.

    Raises
    ------
    TypeError
        If the scan does not take the dtype, the first operand is a scalar, or the second is not a real Python scalar.
    IndexError
        If `axis` is out of range.
    ValueError
        If `axis` is None and the array does not have one axis.
    """
    x, factor = require_array(specs[0], op.name, "x"), specs[1:]
    if factor and factor[0] not in (float, int, bool):
        given = factor[0]
        found = f"an array of {given.dtype}" if isinstance(given, Layout) else f"a Python {given.__name__}"
        raise TypeError(f"{op.name}: gamma is {found}; accepted: a real Python scalar")
    found_dtype = scan_dtype(op, x.dtype, dtype)
    if axis is None and x.ndim != 1:
        raise ValueError(f"{op.name}: axis is None for an array of {x.ndim} axes; accepted: None for 1 axis only")
    along = axis_of(0 if axis is None else axis, x.ndim, op.name)
    out = scan_result(x, along, found_dtype, initial)
    if out.size == 0:
        return Program((out,), lambda stream, out, *operands: None)

    def plan(x: Layout, out: Layout) -> Program:
        return Program((out,), engine.scan(op, x, along, out, initial))

    return plan_on_lines(engine, x, (along,), (out,), plan)
