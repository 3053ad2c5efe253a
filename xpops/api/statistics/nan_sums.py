"""Sums and products that ignore NaNs, beyond the standard: the functions without "nan", of `x` with NaNs replaced."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import DTypeLike

from xpops.api.checks import operand_of
from xpops.api.elementwise.floating_point import isnan
from xpops.api.families import Family
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import where
from xpops.api.signatures import array_function
from xpops.api.statistics.sums import cumulative_prod, cumulative_sum, prod, sum
from xpops.core import dtypes as dt
from xpops.core.dtypes import as_dtype
from xpops.core.operands import Axes
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.reduction import HOST_REDUCTIONS

__all__ = ["nancumprod", "nancumsum", "nanprod", "nansum"]


@array_function
def nancumprod(x: Any, /, axis: int | None = None, *, dtype: DTypeLike | None = None) -> Any:
    """The cumulative products, where NaNs count as 1.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int, optional
        By default the array is flattened.
    dtype : numpy.dtype, optional
        As for `cumulative_prod`.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.nancumprod(xp.asarray([2.0, xp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float64, device='cpu')
    """
    return _scan_without_nan("nancumprod", cumulative_prod, 1, x, axis, dtype)


@array_function
def nancumsum(x: Any, /, axis: int | None = None, *, dtype: DTypeLike | None = None) -> Any:
    """The cumulative sums, where NaNs count as 0.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int, optional
        By default the array is flattened.
    dtype : numpy.dtype, optional
        As for `cumulative_sum`.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.nancumsum(xp.asarray([2.0, xp.nan, 3.0]))
    Array([2., 2., 5.], dtype=float64, device='cpu')
    """
    return _scan_without_nan("nancumsum", cumulative_sum, 0, x, axis, dtype)


@array_function
def nanprod(x: Any, /, axis: Axes | None = None, *, dtype: DTypeLike | None = None, keepdims: bool = False) -> Any:
    """The products, where NaNs count as 1.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    dtype : numpy.dtype, optional
        As for `prod`.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nanprod(xp.asarray([2.0, xp.nan, 3.0]))
    Array(6., dtype=float64, device='cpu')
    """
    return _nanprod((axis, dtype, keepdims), x)


@array_function
def nansum(x: Any, /, axis: Axes | None = None, *, dtype: DTypeLike | None = None, keepdims: bool = False) -> Any:
    """The sums, where NaNs count as 0.

    Parameters
    ----------
    x : array
        Any dtype but float8.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    dtype : numpy.dtype, optional
        As for `sum`.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.nansum(xp.asarray([[1.0, xp.nan], [xp.nan, xp.nan]]), axis=1)
    Array([1., 0.], dtype=float64, device='cpu')
    """
    return _nansum((axis, dtype, keepdims), x)


def _prod_without_nan(axis: Any, dtype: Any, keepdims: bool, x: Any) -> Any:
    filled = where(isnan(x), 1, x) if operand_of("nanprod", x, axis).has_nan else x
    return prod(filled, axis=axis, dtype=dtype, keepdims=keepdims)


def _sum_without_nan(axis: Any, dtype: Any, keepdims: bool, x: Any) -> Any:
    filled = where(isnan(x), 0, x) if operand_of("nansum", x, axis).has_nan else x
    return sum(filled, axis=axis, dtype=dtype, keepdims=keepdims)


def _scan_without_nan(
    function: str, scan: Callable[..., Any], neutral: int, x: Any, axis: int | None, dtype: Any
) -> Any:
    given = operand_of(function, x, axis)
    filled = where(isnan(x), neutral, x) if given.has_nan else x
    return scan(reshape(filled, (-1,)) if axis is None else filled, axis=0 if axis is None else axis, dtype=dtype)


def _on_host(name: str, function: Callable[..., Any], axis: Any, dtype: Any, keepdims: bool, x: Any) -> Any:
    """The reduction of a function of floating-point elements, else `function`."""
    loop = None if dtype is None else as_dtype(dtype, name)
    if operand_of(name, x, axis).has_nan and (loop is None or loop in dt.CATEGORIES["floating-point"]):
        return unary(reduction, name, x, HOST_REDUCTIONS[name], axis, keepdims, loop, 0.0)
    return function(axis, dtype, keepdims, x)


_nanprod = Family(_prod_without_nan, "nanprod", "x", host=partial(_on_host, "nanprod", _prod_without_nan))
_nansum = Family(_sum_without_nan, "nansum", "x", host=partial(_on_host, "nansum", _sum_without_nan))
