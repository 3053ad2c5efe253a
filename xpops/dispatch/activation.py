"""Elementwise calls of one array with scalar parameters, and optionally with another dtype for the result."""

from __future__ import annotations

from typing import Any

from xpops.core.dtypes import DType
from xpops.dispatch import elementwise, state
from xpops.dispatch.state import inline, launches
from xpops.ops.operator import Operator


def activation(
    op: Operator, x: Any, parameters: tuple[float, ...] = (), dtype: DType | None = None, out: Any = None
) -> Any:
    """`op` of one array and its parameters. Looks for the steady state first.

    Parameters
    ----------
    op : Operator
    x : array
        Of any framework.
    parameters : tuple of float
    dtype : numpy.dtype, optional
        The result's.
    out : array, optional
        The call writes and returns it.
    """
    kind = x.__class__
    if kind is state.array_class:
        if out is None:
            key = (op, x._layout, *(float,) * len(parameters))
            launch = launches.get(key if dtype is None else (*key, dtype))
            if launch is not None:
                return launch(x._data, *parameters)
    elif kind in inline:
        way = op if dtype is None else (op, dtype)
        if (result := inline[kind].call(way, x, parameters or None, out)) is not None:
            return result
    return elementwise(op, (x, *parameters), out, dtype)
