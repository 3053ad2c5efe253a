"""Statistical functions of the standard that accumulate along an axis."""

from __future__ import annotations

from typing import Any

from xpops.core.dtypes import as_dtype
from xpops.dispatch.primitives import unary
from xpops.dispatch.scans import scan
from xpops.ops.scan import SCANS as op

__all__ = ["cumulative_prod", "cumulative_sum"]


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The products of the elements up to each one, along an axis.

    Parameters
    ----------
    x : array
        Any dtype but float8; at least one axis. Half types are multiplied in float32, and rounded once.
    axis : int, optional
        Needed unless `x` has exactly one.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`, for integers and bool the default integer
        dtype (unsigned ones stay unsigned), which wraps.
    include_initial : bool
        Whether the result begins with a 1, and so is one longer.

    Returns
    -------
    array
        The shape of `x`, but for `include_initial`.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `axis` is no integer.
    IndexError
        If there is no such axis.
    ValueError
        If `axis` is None and `x` does not have one axis.

    Examples
    --------
    >>> xp.cumulative_prod(xp.asarray([2, 3, 4]), include_initial=True)
    Array([ 1,  2,  6, 24], dtype=int64, device='cpu')
    """
    return _scan("cumulative_prod", x, axis, dtype, include_initial)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The sums of the elements up to each one, along an axis.

    Parameters
    ----------
    x : array
        Any dtype but float8; at least one axis. Half types are added in float32, and rounded once.
    axis : int, optional
        Needed unless `x` has exactly one.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`, for integers and bool the default integer
        dtype (unsigned ones stay unsigned), which wraps.
    include_initial : bool
        Whether the result begins with a 0, and so is one longer.

    Returns
    -------
    array
        The shape of `x`, but for `include_initial`.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `axis` is no integer.
    IndexError
        If there is no such axis.
    ValueError
        If `axis` is None and `x` does not have one axis.

    Examples
    --------
    >>> xp.cumulative_sum(xp.asarray([[1, 2], [3, 4]]), axis=0)
    Array([[1, 2],
           [4, 6]], dtype=int64, device='cpu')
    """
    return _scan("cumulative_sum", x, axis, dtype, include_initial)


def _scan(name: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Any:
    found = as_dtype(dtype, name) if dtype is not None else None
    return unary(scan, name, x, op[name], axis, found, bool(include_initial))
