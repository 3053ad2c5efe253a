"""Medians and quantiles, beyond the standard: one sort, then the elements at some ranks."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from xpops.api.checks import Operand as CheckedOperand
from xpops.api.checks import operand_of
from xpops.api.creation.conversion import asarray
from xpops.api.creation.filling import full
from xpops.api.data_types import astype
from xpops.api.elementwise.arithmetic import add, multiply, subtract
from xpops.api.elementwise.comparison import equal
from xpops.api.elementwise.floating_point import isnan
from xpops.api.elementwise.limits import maximum
from xpops.api.elementwise.logical import logical_not
from xpops.api.foreign import keeps_framework
from xpops.api.fusion import plan_expression
from xpops.api.indexing import take, take_along_axis
from xpops.api.manipulation.axes import moveaxis, permute_dims
from xpops.api.manipulation.shapes import expand_dims, reshape
from xpops.api.searching import count_nonzero, where
from xpops.api.signatures import array_function
from xpops.api.sorting import sort
from xpops.arrays import Array, adopt_foreign
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.core.operands import Axes
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.primitives import unary
from xpops.dispatch.sorting import sort as sort_rows
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY
from xpops.plan.ranks import METHODS, ranks
from xpops.plan.signature import Operand
from xpops.plan.strides import views

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
    return unary(_plan_median, "median", x, axis, keepdims)


def _plan_median(engine: Engine, specs: tuple[Operand], axis: Any, keepdims: bool) -> Program:
    """The program that sorts lines in memory of its own, and writes their middle."""
    x = require_array(specs[0], "median", "x")
    given = operand_of("median", x, axis, "real-valued")
    kept = [i for i in range(x.ndim) if i not in given.axes]
    length = prod(x.shape[i] for i in given.axes)
    shape = tuple([1 if i in given.axes else x.shape[i] for i in range(x.ndim) if keepdims or i in kept])
    out = layout_of(_result_dtype(x.dtype), shape, None, x.device)
    if out.size == 0:
        return Program((out,), lambda stream, *data: None)
    if length == 0:
        fill = call_for(IDENTITY, (float,), x.device, out.dtype, out).kernel
        return Program((out,), lambda stream, out, x: fill(stream, out, float("nan")))
    region = views.permute(x, (*kept, *given.axes))
    turned = layout_of(x.dtype, region.shape, region.strides, x.device, x.align)
    lines, prepare = make_dense(engine, turned, (*(x.shape[i] for i in kept), length))
    rows = layout_of(x.dtype, lines.shape, None, x.device)
    order, allocate = sort_rows(engine, (lines,), "median", ("values",), -1, False).kernel, engine.allocator(rows)
    places = [_place(rows, place) for place in (*sorted({(length - 1) // 2, length // 2}), length - 1)]
    middle = plan_expression(engine, "median", _median_of_places, tuple(part for _, part in places))

    def kernel(stream: int, out: Data, x: Data) -> None:
        source, owner = prepare(stream, x)
        ordered, rows_owner = allocate(stream)
        order(stream, ordered, source)
        target = engine.view(out, 0, middle.layouts[0])
        middle.kernel(stream, target, *[engine.view(ordered, offset, part) for offset, part in places])
        del owner, rows_owner  # kept until the kernels were launched

    return Program((out,), kernel)


def _place(rows: Layout, place: int) -> tuple[int, Layout]:
    """The offset and the layout of one element of each row."""
    region = views.index(rows, (..., place))
    align = alignment(region.offset * rows.dtype.itemsize)
    return region.offset, layout_of(rows.dtype, region.shape, region.strides, rows.device, align)


def _median_of_places(*places: Any) -> Any:
    """The medians, from the one or two elements in the middle of sorted rows, and the last ones."""
    *middle, last = places
    found = _widen(*middle) if len(middle) == 1 else _midpoint(*middle)
    return astype(where(isnan(last), float("nan"), found), _result_dtype(last.dtype), copy=False)


@keeps_framework
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
    count = expand_dims(count_nonzero(logical_not(isnan(lines)), axis=-1), -1)
    # The middle elements of the first `count`. If `count` is 0, the first element, which is a NaN.
    low, high = maximum(subtract(count, 1) // 2, 0), count // 2
    below, above = (take_along_axis(ordered, index)[..., 0] for index in (low, high))
    middle = where(equal(below, above), _widen(below), _midpoint(below, above))
    return _finish(middle, given, keepdims)


@keeps_framework
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
    low, high, weight = ranks(lines.shape[-1], parts.reshape(-1), method)
    ordered = sort(lines)
    found = _interpolate(ordered, low, high, weight)
    found = where(isnan(ordered[..., -1:]), float("nan"), found)
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


def _lines(x: Array, given: CheckedOperand) -> Array:
    """`x` with the reduced axes merged into one, which is the last."""
    kept = [i for i in range(len(given.shape)) if i not in given.axes]
    length = int(np.prod([given.shape[i] for i in given.axes], dtype=np.int64))
    lines: Array = reshape(permute_dims(x, (*kept, *given.axes)), (*(given.shape[i] for i in kept), length))
    return lines


def _nan_results(lines: Array) -> Array:
    made: Array = full(lines.shape[:-1], float("nan"), dtype=dt.float64, device=lines.device)
    return made


def _widen(x: Array) -> Array:
    """`x` in the dtype for computations: float32 for 16-bit floats, float64 for integers."""
    return x if x.dtype in (dt.float32, dt.float64) else astype(x, _result_dtype(x.dtype, dt.float32))


def _result_dtype(dtype: DType, half: DType | None = None) -> DType:
    """The dtype of results for operands of `dtype`. If given, `half` replaces 16-bit floats."""
    if dtype in dt.CATEGORIES["integer"]:
        return dt.DEFAULT_FLOAT
    return half if half is not None and dtype in (dt.float16, dt.bfloat16) else dtype


def _midpoint(low: Array, high: Array) -> Array:
    """The means of two arrays. Each is halved first, so that sums do not overflow."""
    mean: Array = add(multiply(_widen(low), 0.5), multiply(_widen(high), 0.5))
    return mean


def _interpolate(ordered: Array, low: NDArray, high: NDArray, weight: NDArray) -> Array:
    """Interpolate between the elements at two ranks, from the nearer one, so that both ends are exact."""
    ends = (asarray(each, device=ordered.device) for each in (low, high))
    below, above = (_widen(take(ordered, each, axis=-1)) for each in ends)
    part = asarray(weight, dtype=below.dtype, device=ordered.device)
    difference = subtract(above, below)
    near = where(part < 0.5, below + difference * part, above - difference * (1 - part))
    found: Array = where(equal(below, above), below, near)  # infinities have no difference
    return found


def _finish(found: Array, given: CheckedOperand, keepdims: bool, front: int = 0) -> Array:
    """Convert results to their dtype. With `keepdims`, insert the reduced axes, after `front` other axes."""
    made: Array = astype(found, _result_dtype(given.dtype), copy=False)
    if not keepdims:
        return made
    shape = (1 if i in given.axes else length for i, length in enumerate(given.shape))
    kept: Array = reshape(made, (*made.shape[:front], *shape))
    return kept
