"""Sums and products, and cumulative ones."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from xpops.api.signatures import array_function
from xpops.core.dtypes import as_dtype
from xpops.core.operands import Axes
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.dispatch.scans import scan
from xpops.ops.reduction import REDUCTIONS as op
from xpops.ops.scan import SCANS

__all__ = ["cumulative_prod", "cumulative_sum", "prod", "sum"]


@array_function
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Any:
    """The cumulative products along an axis: the product of each element and all elements before it.

    Parameters
    ----------
    x : array
        Any dtype but float8; at least one axis. Half types are multiplied in float32 or wider, and rounded once.
    axis : int, optional
        May be omitted if `x` has one axis.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`; for integers and bool a
        64-bit integer of the same signedness, which wraps.
    include_initial : bool
        Whether the result begins with a 1, and so is one longer.

    Returns
    -------
    array
        Has the shape of `x`; with `include_initial` one element more along the axis.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `axis` is not an integer.
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


@array_function
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Any:
    """The cumulative sums along an axis: the sum of each element and all elements before it.

    Parameters
    ----------
    x : array
        Any dtype but float8; at least one axis. Half types are added in float32 or wider, and rounded once.
    axis : int, optional
        May be omitted if `x` has one axis.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`; for integers and bool a
        64-bit integer of the same signedness, which wraps.
    include_initial : bool
        Whether the result begins with a 0, and so is one longer.

    Returns
    -------
    array
        Has the shape of `x`; with `include_initial` one element more along the axis.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `axis` is not an integer.
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


@array_function
def prod(x: Any, /, *, axis: Axes | None = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Any:
    """The products; 1 if there are no elements. Half types accumulate in float32 or wider.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`; for integers and bool a
        64-bit integer of the same signedness.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        Has the dtype `dtype`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.prod(xp.asarray([2, 3, 4], dtype=xp.int8))
    Array(24, dtype=int64, device='cpu')
    """
    return unary(
        reduction, "prod", x, op["prod"], axis, keepdims, None if dtype is None else as_dtype(dtype, "prod"), 0.0
    )


@array_function
def sum(x: Any, /, *, axis: Axes | None = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Any:
    """The sums; 0 if there are no elements. Half types accumulate in float32 or wider.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    dtype : numpy.dtype, optional
        Numeric; elements are converted to it first. By default that of `x`; for integers and bool a
        64-bit integer of the same signedness.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        Has the dtype `dtype`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=1, keepdims=True)
    Array([[3],
           [7]], dtype=int64, device='cpu')
    """
    return unary(reduction, "sum", x, op["sum"], axis, keepdims, None if dtype is None else as_dtype(dtype, "sum"), 0.0)


def _scan(name: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Any:
    found = as_dtype(dtype, name) if dtype is not None else None
    return unary(scan, name, x, SCANS[name], axis, found, bool(include_initial))
