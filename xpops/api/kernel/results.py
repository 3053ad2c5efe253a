"""Checks of the arrays that a caller passes for results."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor
from xpops.dispatch.operands import Operands
from xpops.frameworks.registry import adapter_of
from xpops.plan.strides.overlap import overlaps_itself
from xpops.plan.user import Operation

SCALARS = (*SCALAR_TYPES, np.generic)


def split_arguments(args: tuple[Any, ...], out: Any, operation: Operation) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The operands, and the arrays for results, which may follow the operands or be in `out`.

    Raises
    ------
    TypeError
        If there are too few or too many of either.
    """
    count, results = len(operation.ins), len(operation.outs)
    outs = () if out is None else tuple(out) if isinstance(out, (list, tuple)) else (out,)
    if len(args) == count + results and out is None:
        args, outs = args[:count], args[count:]
    if len(args) != count or len(outs) not in (0, results):
        raise TypeError(
            f"{operation.name}: {len(args)} arguments and {len(outs)} in out; accepted: {count}, and {results} or none"
        )
    return args, outs


def require_writable(operation: Operation, outs: tuple[Any, ...]) -> None:
    """TypeError if a result is not an array, ValueError if it is read-only. Tells its framework that it is written."""
    if all(isinstance(out, Tensor) and out._writable for out in outs):
        return
    names = tuple(each.name for each in operation.outs)
    for name, out in zip(names, outs, strict=True):
        if isinstance(out, SCALARS):
            raise TypeError(f"{operation.name}: {name} is {out!r}; accepted: an array")
    operands = Operands(operation.name, names, outs)
    operands.release()
    for name, out, writable in zip(names, outs, operands.writable, strict=True):
        if not writable:
            raise ValueError(f"{operation.name}: {name} is read-only; accepted: a writable array")
        adapter = adapter_of(type(out)) if not isinstance(out, Tensor) else None
        if adapter is not None:
            adapter.written(out)


def require_no_repeats(operation: Operation, outs: tuple[Layout, ...]) -> None:
    """ValueError if elements of a result may share memory."""
    for parameter, layout in zip(operation.outs, outs, strict=True):
        if not parameter.raw and overlaps_itself(layout):
            raise ValueError(
                f"{operation.name}: {parameter.name} may have several elements at one address; accepted: an array "
                "without repeats"
            )
