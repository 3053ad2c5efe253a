"""Extremes that ignore NaNs, beyond the standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api.checks import operand_of
from xpops.api.elementwise.floating_point import isnan
from xpops.api.families import Family
from xpops.api.searching import where
from xpops.api.signatures import array_function
from xpops.api.statistics.extremes import max, min
from xpops.api.utility import all
from xpops.core.operands import Axes
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.ops.reduction import NUMBER_POSITIONS

__all__ = ["nanargmax", "nanargmin", "nanmax", "nanmin"]


@array_function
def nanargmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The positions of the largest elements, ignoring NaNs; the first of equal elements.

    Waits for the device, to find out whether there are slices of NaNs only.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int, optional
        The axis to search; by default the flattened array.
    keepdims : bool
        Whether the result keeps the searched axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If a slice has NaNs only, or no elements.

    Examples
    --------
    >>> xp.nanargmax(xp.asarray([1.0, xp.nan, 3.0]))
    Array(2, dtype=int64, device='cpu')
    """
    return _position("nanargmax", x, axis, keepdims)


@array_function
def nanargmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The positions of the smallest elements, ignoring NaNs; the first of equal elements.

    Waits for the device, to find out whether there are slices of NaNs only.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int, optional
        The axis to search; by default the flattened array.
    keepdims : bool
        Whether the result keeps the searched axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If a slice has NaNs only, or no elements.

    Examples
    --------
    >>> xp.nanargmin(xp.asarray([xp.nan, 1.0, 3.0]))
    Array(1, dtype=int64, device='cpu')
    """
    return _position("nanargmin", x, axis, keepdims)


@array_function
def nanmax(x: Any, /, axis: Axes | None = None, *, keepdims: bool = False) -> Any:
    """The largest elements, ignoring NaNs; NaN for a slice without other elements.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or there are no elements.

    Examples
    --------
    >>> xp.nanmax(xp.asarray([[1.0, xp.nan], [xp.nan, xp.nan]]), axis=1)
    Array([ 1., nan], dtype=float64, device='cpu')
    """
    return _nanmax(("nanmax", max, -float("inf"), axis, keepdims), x)


@array_function
def nanmin(x: Any, /, axis: Axes | None = None, *, keepdims: bool = False) -> Any:
    """The smallest elements, ignoring NaNs; NaN for a slice without other elements.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or there are no elements.

    Examples
    --------
    >>> xp.nanmin(xp.asarray([[1.0, xp.nan], [xp.nan, xp.nan]]), axis=1)
    Array([ 1., nan], dtype=float64, device='cpu')
    """
    return _nanmin(("nanmin", min, float("inf"), axis, keepdims), x)


def _extreme(function: str, reduce: Callable[..., Any], worst: float, axis: Any, keepdims: bool, x: Any) -> Any:
    """`reduce` (`min` or `max`) of `x` with NaNs replaced by `worst`; NaN for slices of NaNs only."""
    given = operand_of(function, x, axis, "real-valued", nonempty=True)
    if not given.has_nan:
        return reduce(x, axis=axis, keepdims=keepdims)
    missing = isnan(x)
    found = reduce(where(missing, worst, x), axis=axis, keepdims=keepdims)
    return where(all(missing, axis=axis, keepdims=keepdims), float("nan"), found)


_nanmax, _nanmin = Family(_extreme, "nanmax", "x"), Family(_extreme, "nanmin", "x")


def _position(function: str, x: Any, axis: int | None, keepdims: bool) -> Any:
    """The first position of the extreme number. The row gives -1 for slices of NaNs only."""
    if isinstance(axis, (tuple, list)):
        raise TypeError(f"{function}: axis is {axis!r}; accepted: one integer, or None for the flattened array")
    given = operand_of(function, x, axis, "real-valued", nonempty=True)
    found = unary(reduction, function, x, NUMBER_POSITIONS[function], axis, keepdims, None, 0.0)
    if given.has_nan and found.size and int(min(found) if found.ndim else found) < 0:
        raise ValueError(f"{function}: a slice of x along axis {axis} has NaNs only; accepted: a number in each")
    return found
