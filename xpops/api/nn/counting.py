"""Counting integers."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.signatures import array_function
from xpops.core import dtypes as dt
from xpops.dispatch.dense import plan_on_dense, require_array
from xpops.dispatch.primitives import call
from xpops.engine.program import Guessing, Program
from xpops.engine.protocol import Engine
from xpops.plan.signature import Operand

__all__ = ["bincount"]


@array_function
def bincount(x: Any, /, *, minlength: int = 0) -> Any:
    """The number of occurrences of each of the integers 0, 1, 2, ... Waits for the device.

    It is fastest if `minlength` is above every value: then `x` is read only once.

    Parameters
    ----------
    x : array
        One-dimensional; integers that are not negative, or booleans.
    minlength : int
        The least length of the result.

    Returns
    -------
    array
        int64, a count for each integer up to the largest in `x`.

    Raises
    ------
    TypeError
        If `x` has another dtype, or `minlength` is not an integer.
    ValueError
        If `x` does not have one axis or contains a negative value, or `minlength` is negative.

    Examples
    --------
    >>> xp.nn.bincount(xp.asarray([0, 1, 1, 3]), minlength=6)
    Array([1, 2, 0, 1, 0, 0], dtype=int64, device='cpu')
    """
    try:
        length = operator.index(minlength)
    except TypeError:
        raise TypeError(f"bincount: minlength is {minlength!r}; accepted: an integer") from None
    if length < 0:
        raise ValueError(f"bincount: minlength is {length}; accepted: 0 and more")
    return call(_plan, "bincount", ("x",), (x,), length)


def _plan(engine: Engine, specs: tuple[Operand, ...], minlength: int) -> Program | Guessing:
    x = require_array(specs[0], "bincount", "x")
    if x.dtype not in dt.CATEGORIES["integer or boolean"]:
        raise TypeError(f"bincount: dtype {x.dtype} is not accepted; accepted: integer dtypes and bool")
    if x.ndim != 1:
        raise ValueError(f"bincount: x has shape {x.shape}; accepted: one axis")
    return plan_on_dense(engine, (x,), engine.bincount, minlength)
