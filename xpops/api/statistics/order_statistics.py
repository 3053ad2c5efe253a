"""Medians and quantiles, beyond the standard: one sort, then the elements at some ranks."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from xpops.api.checks import Operand, operand_of
from xpops.api.creation.conversion import asarray
from xpops.api.creation.filling import full
from xpops.api.data_types import astype
from xpops.api.families import Family
from xpops.api.foreign import keeps_framework
from xpops.api.indexing import take, take_along_axis
from xpops.api.manipulation.axes import moveaxis, permute_dims
from xpops.api.manipulation.shapes import reshape
from xpops.api.signatures import array_function
from xpops.api.sorting import sort
from xpops.api.statistics.order_plans import (
    interpolate,
    mean_of_two,
    places_of_middle,
    plan_median,
    result_dtype,
    wide_dtype,
)
from xpops.arrays import Array, adopt_foreign
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.operands import Axes
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import unary
from xpops.engine import engine_of
from xpops.frameworks.registry import adapter_of
from xpops.ops.derivatives.movement import from_lines, lines_of
from xpops.ops.derivatives.movement import take_along_axis as take_cotangent
from xpops.plan.ranks import METHODS, ranks

__all__ = ["median", "nanmedian", "quantile"]

NDArray = np.ndarray[Any, Any]


@array_function
def median(x: Any, /, axis: Axes | None = None, *, keepdims: bool = False) -> Any:
    """The medians: the middle elements, or the means of the two middle ones; NaN if there is a NaN, or no elements.

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
        The dtype of `x`; float64 for integers.

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
    >>> xp.median(xp.asarray([[3, 1, 2, 10], [0, 0, 1, 1]]), axis=1)
    Array([2.5, 0.5], dtype=float64, device='cpu')
    """
    return unary(plan_median, "median", x, axis, keepdims)


def _by_median(xp: Any, g: Any, x: Any, x_shape: tuple[int, ...], axis: Any) -> Any:
    """The cotangents of the one or two middle elements that are not NaN."""
    lines = lines_of(xp, x, x_shape, axis)
    order, shape = xp.argsort(lines), xp.facts(lines).shape
    shares = xp.divide(xp.reshape(g, (*shape[:-1], 1)), 2)
    found = [
        take_cotangent(xp, shares, xp.take_along_axis(order, places), shape, -1) for places in _middle_places((), lines)
    ]
    return from_lines(xp, xp.add(*found), x_shape, axis)


def _by_quantile(xp: Any, g: Any, x: Any, x_shape: tuple[int, ...], q: Any, axis: Any, method: str) -> Any:
    """The cotangents of the elements between which the quantiles are."""
    lines = lines_of(xp, x, x_shape, axis)
    order, shape = xp.argsort(lines), xp.facts(lines).shape
    low, high, weight = (xp.like(x, asarray(each)) for each in ranks(int(shape[-1]), _fractions(q).reshape(-1), method))
    shares = xp.moveaxis(xp.reshape(g, (-1, *shape[:-1])), 0, -1)
    above = xp.multiply(shares, weight)
    found = [
        take_cotangent(xp, share, xp.take(order, places, axis=-1), shape, -1)
        for share, places in ((xp.subtract(shares, above), low), (above, high))
    ]
    return from_lines(xp, xp.add(*found), x_shape, axis)


@keeps_framework
@differentiable(_by_median)
def nanmedian(x: Array, /, axis: Axes | None = None, *, keepdims: bool = False) -> Array:
    """The medians, ignoring NaNs; NaN for a slice without other elements.

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
        The dtype of `x`; float64 for integers.

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
    >>> xp.nanmedian(xp.asarray([3.0, xp.nan, 1.0, 2.0]))
    Array(2., dtype=float64, device='cpu')
    """
    given = operand_of("nanmedian", x, axis, "real-valued")
    lines = _lines(x, given)
    if lines.shape[-1] == 0:
        return _finish(_nan_results(lines), given, keepdims)
    ordered = sort(lines)
    below, above = (take_along_axis(ordered, index)[..., 0] for index in _middle_places((), lines))
    return _finish(_middle_of_two((), below, above), given, keepdims)


@keeps_framework
@differentiable(_by_quantile)
def quantile(x: Array, q: Any, /, axis: Axes | None = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """The quantiles: the values that a fraction `q` of the elements does not exceed; NaN if there is a NaN.

    Parameters
    ----------
    x : array
        Real-valued.
    q : float or array or sequence of float
        From 0 to 1. Read on the host.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    method : str
        How to choose a value between two elements: a method of `numpy.quantile`.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        The dtype of `x`; float64 for integers. Has the axes of `q` first.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice or has no elements, `q` is out of range, or the method is unknown.

    Examples
    --------
    >>> xp.quantile(xp.asarray([4.0, 1.0, 3.0, 2.0]), [0.25, 0.5])
    Array([1.75, 2.5 ], dtype=float64, device='cpu')
    """
    given = operand_of("quantile", x, axis, "real-valued", nonempty=True)
    parts = _fractions(q)
    if method not in METHODS:
        raise ValueError(f"quantile: method is {method!r}; accepted: {', '.join(map(repr, METHODS))}")
    lines = _lines(x, given)
    ordered = sort(lines)
    stream = engine_of(x.device).current_stream()
    low, high, weight = _ranks_of(
        lines.shape[-1], tuple(parts.reshape(-1).tolist()), method, wide_dtype(x.dtype), x.device, stream
    )
    below, above = take(ordered, low, axis=-1), take(ordered, high, axis=-1)
    found = _interpolated((), below, above, weight, ordered[..., -1:])
    each = _finish(moveaxis(found, -1, 0), given, keepdims, front=1)
    shaped: Array = reshape(each, (*parts.shape, *each.shape[1:]))
    return shaped


def _fractions(q: Any) -> NDArray:
    host = adopt_foreign(q, "quantile", "q").to_numpy() if adapter_of(type(q)) or isinstance(q, Array) else q
    try:
        parts = np.asarray(host, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"quantile: q is {q!r}; accepted: a float or an array of them") from None
    if not ((parts >= 0) & (parts <= 1)).all():
        raise ValueError(f"quantile: q is {q!r}; accepted: from 0 to 1")
    return parts


def _lines(x: Array, given: Operand) -> Array:
    """`x` with the reduced axes merged into one, which is the last."""
    kept = [i for i in range(len(given.shape)) if i not in given.axes]
    length = int(np.prod([given.shape[i] for i in given.axes], dtype=np.int64))
    lines: Array = reshape(permute_dims(x, (*kept, *given.axes)), (*(given.shape[i] for i in kept), length))
    return lines


def _nan_results(lines: Array) -> Array:
    made: Array = full(lines.shape[:-1], float("nan"), dtype=dt.float64, device=lines.device)
    return made


@lru_cache(256)
def _ranks_of(
    length: int, parts: tuple[float, ...], method: str, dtype: DType, device: Device, stream: int
) -> tuple[Array, Array, Array]:
    """What `ranks` returns, on a device. Kept for each stream, because memory belongs to a stream."""
    low, high, weight = ranks(length, np.asarray(parts), method)
    return asarray(low, device=device), asarray(high, device=device), asarray(weight, dtype=dtype, device=device)


def _finish(found: Array, given: Operand, keepdims: bool, front: int = 0) -> Array:
    """Convert results to their dtype. With `keepdims`, insert the reduced axes, after `front` other axes."""
    made: Array = astype(found, result_dtype(given.dtype), copy=False)
    if not keepdims:
        return made
    shape = (1 if i in given.axes else length for i, length in enumerate(given.shape))
    kept: Array = reshape(made, (*made.shape[:front], *shape))
    return kept


_interpolated = Family(interpolate, "quantile", "x", "x", "q", "x")
_middle_places = Family(places_of_middle, "nanmedian", "x")
_middle_of_two = Family(mean_of_two, "nanmedian", "x", "x")
