"""Order statistics, differences, covariance, interpolation, and products of neighbours."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api.data_types import astype
from xpops.api.elementwise import complex_numbers, floating_point
from xpops.api.elementwise.arithmetic import add, divide, multiply, subtract
from xpops.api.elementwise.comparison import equal
from xpops.api.fusion import fuse
from xpops.api.manipulation.axes import flip
from xpops.api.manipulation.joining import concat
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import where
from xpops.api.statistics import order_statistics, sums
from xpops.api.utility import diff as _diff
from xpops.arrays import Array, adopt_foreign
from xpops.core import dtypes as dt
from xpops.frameworks.registry import adapter_of
from xpops.numpy.arguments import arrays_of, as_axes, dtype_of, floating, given, is_scalar, on_device_of, store
from xpops.numpy.elementwise import is_boolean

__all__ = [
    "diff", "ediff1d", "gradient", "median", "nan_to_num", "percentile", "quantile", "trapezoid",
]  # fmt: skip


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """As `numpy.median`; `a` is never overwritten."""
    a = given(a)
    a = floating(a) if is_boolean(a) else a
    return store(order_statistics.median(a, axis=as_axes(axis), keepdims=keepdims), out, "median")


def host_fractions(q: Any, whole: float) -> Any:
    """Fractions of `whole`, as Python numbers and lists of them."""
    known = isinstance(q, Array) or adapter_of(type(q)) is not None
    return numpy.true_divide(adopt_foreign(q, "quantile", "q").to_numpy() if known else q, whole).tolist()


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """As `numpy.quantile`. `q` is read on the host."""
    found = order_statistics.quantile(
        given(a), host_fractions(q, 1), axis=as_axes(axis), method=method, keepdims=keepdims
    )
    return store(found, out, "quantile")


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """As `numpy.percentile`. `q` is read on the host."""
    return quantile(a, host_fractions(q, 100), axis, out, overwrite_input, method, keepdims)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """As `numpy.diff`."""
    a = given(a)
    if n == 0:
        return a
    ends = [None if each is None else _end(each, a, axis) for each in (prepend, append)]
    return _diff(a, n, axis=axis, prepend=ends[0], append=ends[1])


def _end(x: Any, a: Any, axis: int) -> Any:
    """`x`; a scalar as an array that is 1 long along the axis."""
    if not is_scalar(x):
        return on_device_of(a, x)
    places = [slice(None)] * a.ndim
    places[axis] = slice(0, 1)
    part = a[tuple(places)]
    return where(equal(part, part), x, x)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """As `numpy.ediff1d`."""
    steps = _diff(reshape(given(ary), (-1,)))
    given_parts = [part for part in (to_begin, steps, to_end) if part is not None]
    if len(given_parts) == 1:
        return steps
    parts = [reshape(part, (-1,)) for part in arrays_of(given_parts, scalars=True)]
    return astype(concat(parts), dtype_of(steps), copy=False)


def _part(x: Any, axis: int, *place: Any) -> Any:
    return x[(*(slice(None),) * axis, slice(*place))]


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """As `numpy.gradient`: second-order differences inside, first- or second-order ones at the ends."""
    f = floating(f)
    axes = tuple(range(f.ndim)) if axis is None else tuple(each % f.ndim for each in _sequence(axis))
    spacings = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: there are {len(varargs)} spacings; accepted: none, one, or {len(axes)}")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order}; accepted: 1 and 2")
    for each in axes:
        if f.shape[each] < edge_order + 1:
            raise ValueError(f"gradient: axis {each} has length {f.shape[each]}; accepted: {edge_order + 1} and more")
    found = [_gradient(f, spacing, each, edge_order) for spacing, each in zip(spacings, axes, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _sequence(axis: Any) -> tuple[int, ...]:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _gradient(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    steps = _steps(f, spacing, axis)
    h1, h2 = (steps, steps) if is_scalar(steps) else (_part(steps, axis, -1), _part(steps, axis, 1, None))
    low, here, high = _part(f, axis, -2), _part(f, axis, 1, -1), _part(f, axis, 2, None)
    inner = divide(subtract(high, low), 2.0 * h1) if is_scalar(steps) else _uneven(low, here, high, h1, h2)
    first, last = (_edge(f, steps, axis, edge_order, end) for end in (False, True))
    return concat((first, inner, last), axis=axis)


def _steps(f: Any, spacing: Any, axis: int) -> Any:
    """The spacing: a scalar, or differences of coordinates along the axis."""
    if is_scalar(spacing) or not given(spacing).ndim:
        return spacing
    steps = _diff(floating(on_device_of(f, spacing)))
    return reshape(steps, [-1 if place == axis else 1 for place in range(f.ndim)])


@fuse
def _uneven(low: Any, here: Any, high: Any, h1: Any, h2: Any) -> Any:
    both = h1 + h2
    return -h2 / (h1 * both) * low + (h2 - h1) / (h1 * h2) * here + h1 / (h2 * both) * high


def _edge(f: Any, steps: Any, axis: int, order: int, last: bool) -> Any:
    """The slope at the first or the last element."""
    f = flip(f, axis=axis) if last else f
    scalar = is_scalar(steps) or not steps.ndim
    h = steps if scalar else (flip(steps, axis=axis) if last else steps)
    h1 = h if scalar else _part(h, axis, 1)
    f0, f1 = _part(f, axis, 1), _part(f, axis, 1, 2)
    if order == 1:
        slope = divide(subtract(f1, f0), h1)
    else:
        h2 = h if scalar else _part(h, axis, 1, 2)
        slope = _one_sided(f0, f1, _part(f, axis, 2, 3), h1, h2)
    return multiply(slope, -1.0) if last else slope


@fuse
def _one_sided(f0: Any, f1: Any, f2: Any, h1: Any, h2: Any) -> Any:
    both = h1 + h2
    return -(2.0 * h1 + h2) / (h1 * both) * f0 + both / (h1 * h2) * f1 - h1 / (h2 * both) * f2


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """As `numpy.trapezoid`."""
    y = floating(y)
    axis %= y.ndim
    middles = divide(add(_part(y, axis, 1, None), _part(y, axis, -1)), 2)
    if x is None:
        return sums.sum(multiply(middles, dx), axis=axis)
    steps = _diff(given(x), axis=axis if given(x).ndim > 1 else 0)
    if steps.ndim == 1:
        steps = reshape(steps, [-1 if place == axis else 1 for place in range(y.ndim)])
    return sums.sum(multiply(middles, steps), axis=axis)


@fuse
def _numbers(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    finite = where(floating_point.isnan(x), nan, x)
    return where(floating_point.isinf(finite), where(finite > 0, posinf, neginf), finite)


def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """As `numpy.nan_to_num`; with ``copy=False``, `x` is written."""
    a = given(x)
    dtype = dtype_of(a)
    if dtype in dt.CATEGORIES["integer or boolean"]:
        return a if not copy else add(a, 0) if not is_boolean(a) else a
    most = float(numpy.finfo(dtype).max)
    limits = nan, most if posinf is None else posinf, -most if neginf is None else neginf
    if dtype in dt.COMPLEX_FLOATS:
        parts = [_numbers(each(a), *limits) for each in (complex_numbers.real, complex_numbers.imag)]
        found = add(parts[0], multiply(parts[1], 1j))
    else:
        found = _numbers(a, *limits)
    return found if copy else store(found, x, "nan_to_num")
