"""Searching functions of the standard."""

from __future__ import annotations

from typing import Any

from xpops.dispatch import elementwise
from xpops.ops.elementwise import OPERATORS as op

__all__ = ["where"]


def where(condition: Any, x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The elements of `x1` where a condition holds, of `x2` elsewhere.

    Parameters
    ----------
    condition : array
        bool.
    x1, x2 : array or scalar
        Any dtype but float8. They broadcast with `condition`.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If `condition` is not boolean, or `x1` and `x2` have no common dtype.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0)
    Array([1, 0], dtype=int64, device='cpu')
    """
    return elementwise(op["where"], (condition, x1, x2), out)
