"""Reductions that ignore NaNs."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api.creation.conversion import asarray
from xpops.api.data_types import astype
from xpops.api.elementwise import floating_point
from xpops.api.elementwise.limits import maximum
from xpops.api.elementwise.logical import logical_not
from xpops.api.elementwise.rounding import ceil, floor
from xpops.api.indexing import take_along_axis
from xpops.api.manipulation.axes import moveaxis, permute_dims
from xpops.api.manipulation.shapes import reshape
from xpops.api.sorting import sort
from xpops.api.statistics import nan_extremes, nan_moments, nan_sums, order_statistics
from xpops.api.statistics.sums import sum
from xpops.core import dtypes as dt
from xpops.numpy.arguments import as_axes, floating, given, on_arrays, store
from xpops.numpy.statistics import host_fractions

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
]  # fmt: skip


def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.nansum`."""
    return store(nan_sums.nansum(given(a), axis=as_axes(axis), dtype=dtype, keepdims=keepdims), out, "nansum")


def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.nanprod`."""
    return store(nan_sums.nanprod(given(a), axis=as_axes(axis), dtype=dtype, keepdims=keepdims), out, "nanprod")


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.nanmean`."""
    return store(nan_moments.nanmean(given(a), axis=as_axes(axis), dtype=dtype, keepdims=keepdims), out, "nanmean")


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False
) -> Any:
    """As `numpy.nanstd`."""
    found = nan_moments.nanstd(given(a), axis=as_axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims)
    return store(found, out, "nanstd")


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False
) -> Any:
    """As `numpy.nanvar`."""
    found = nan_moments.nanvar(given(a), axis=as_axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims)
    return store(found, out, "nanvar")


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.nanmax`."""
    return store(nan_extremes.nanmax(given(a), axis=as_axes(axis), keepdims=keepdims), out, "nanmax")


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.nanmin`."""
    return store(nan_extremes.nanmin(given(a), axis=as_axes(axis), keepdims=keepdims), out, "nanmin")


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.nanargmax`."""
    return store(nan_extremes.nanargmax(given(a), axis=axis, keepdims=keepdims), out, "nanargmax")


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.nanargmin`."""
    return store(nan_extremes.nanargmin(given(a), axis=axis, keepdims=keepdims), out, "nanargmin")


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """As `numpy.nancumsum`."""
    return store(nan_sums.nancumsum(given(a), axis=axis, dtype=dtype), out, "nancumsum")


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """As `numpy.nancumprod`."""
    return store(nan_sums.nancumprod(given(a), axis=axis, dtype=dtype), out, "nancumprod")


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """As `numpy.nanmedian`; `a` is never overwritten."""
    return store(order_statistics.nanmedian(given(a), axis=as_axes(axis), keepdims=keepdims), out, "nanmedian")


@on_arrays()
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """As `numpy.nanquantile`, of the method "linear". `q` is read on the host."""
    if method != "linear":
        raise ValueError(f"nanquantile: method is {method!r}; accepted: 'linear'")
    return store(_nan_quantiles(a, host_fractions(q, 1), as_axes(axis), keepdims), out, "nanquantile")


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """As `numpy.nanpercentile`, of the method "linear". `q` is read on the host."""
    return nanquantile(a, host_fractions(q, 100), axis, out, overwrite_input, method, keepdims)


def _nan_quantiles(a: Any, q: Any, axis: Any, keepdims: bool) -> Any:
    a = floating(a)
    axes = tuple(range(a.ndim)) if axis is None else tuple(each % a.ndim for each in _sequence(axis))
    kept = tuple(place for place in range(a.ndim) if place not in axes)
    rest = tuple(a.shape[place] for place in kept)
    ordered = sort(reshape(permute_dims(a, (*kept, *axes)), (*rest, -1)))
    count = sum(logical_not(floating_point.isnan(ordered)), axis=-1, keepdims=True)
    parts = asarray(numpy.ravel(q), dtype=a.dtype, device=a.device)
    rank = parts * astype(maximum(count - 1, 0), a.dtype)
    low = floor(rank)
    below, above = (take_along_axis(ordered, astype(each, dt.int64)) for each in (low, ceil(rank)))
    found = moveaxis(below + (above - below) * (rank - low), -1, 0)
    shape = tuple(1 if place in axes else length for place, length in enumerate(a.shape)) if keepdims else rest
    return reshape(found, (*numpy.shape(q), *shape))


def _sequence(axis: Any) -> tuple[int, ...]:
    return (axis,) if isinstance(axis, int) else tuple(axis)
