"""The searching function of the standard whose result's size depends on data."""

from __future__ import annotations

from typing import Any

from xpops.dispatch.dense import on_dense, require_array
from xpops.dispatch.primitives import compute
from xpops.engine.protocol import Engine, Measure, Program
from xpops.plan.signature import Operand

__all__ = ["nonzero"]


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The indices of the elements that are not 0, in the order of C. Waits for the device.

    Parameters
    ----------
    x : array
        Has one axis or more, and any dtype. NaN is not 0.

    Returns
    -------
    tuple of array
        int64 arrays of one axis, an array for each axis of `x`: the indices along it.

    Raises
    ------
    ValueError
        If `x` has no axes.

    Examples
    --------
    >>> xp.nonzero(xp.asarray([[0, 2], [3, 0]]))
    (Array([0, 1], dtype=int64, device='cpu'), Array([1, 0], dtype=int64, device='cpu'))
    """
    found = compute(_plan, "nonzero", ("x",), (x,))
    return found if isinstance(found, tuple) else (found,)


def _plan(engine: Engine, specs: tuple[Operand, ...]) -> Program | Measure:
    x = require_array(specs[0], "nonzero", "x")
    if x.ndim == 0:
        raise ValueError("nonzero: x has no axes; accepted: one or more")
    return on_dense(engine, (x,), engine.nonzero)
