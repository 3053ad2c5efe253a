"""Recurrences along an axis."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function
from xpops.dispatch.primitives import call
from xpops.dispatch.scans import scan
from xpops.ops.scan import SCANS

__all__ = ["discounted_cumsum"]


@array_function
def discounted_cumsum(x: Any, gamma: float, /, *, axis: int = -1) -> Any:
    """Discounted cumulative sums from the end, ``y[i] = x[i] + gamma * y[i + 1]``: the returns if `x` are rewards.

    Parameters
    ----------
    x : array
        Real floating-point with at least one axis; integers and bool become float64. Half types are computed in
        float32, and rounded once.
    gamma : float
        The discount. Other values use the same kernel. If it is infinite, results on CUDA may be NaN where those on
        the CPU are not.
    axis : int
        The axis along which elements follow each other.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted, `gamma` is not a real scalar, or `axis` is not an integer.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.nn.discounted_cumsum(xp.asarray([1.0, 0.0, 2.0]), 0.5)
    Array([1.5, 1. , 2. ], dtype=float64, device='cpu')
    """
    return call(scan, "discounted_cumsum", ("x", "gamma"), (x, gamma), SCANS["discounted_cumsum"], axis)
