"""Counting: histograms and bins."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.creation.filling import zeros
from xpops.api.creation.ranges import linspace
from xpops.api.data_types import astype, result_type
from xpops.api.manipulation.axes import flip
from xpops.api.manipulation.shapes import reshape
from xpops.api.nn import counting
from xpops.api.nn.histograms import histogram as _histogram
from xpops.api.nn.scattering import index_add
from xpops.api.searching import searchsorted, where
from xpops.api.statistics import extremes, sums
from xpops.api.utility import diff
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.numpy.arguments import given, on_arrays

__all__ = [
    "bincount", "digitize", "histogram", "histogram2d", "histogramdd",
]  # fmt: skip


@on_arrays()
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """As `numpy.bincount`. Waits for the device, which has to find the largest element."""
    counts = counting.bincount(x, minlength=minlength)
    if weights is None:
        return counts
    return _weighted(x, asarray(weights, device=x.device), counts.size)


def _weighted(places: Array, weights: Array, count: int) -> Array:
    """The sums of the weights of each place, in float64."""
    target = zeros(count, dtype=dt.float64, device=places.device)
    found: Array = index_add(target, astype(places, dt.int64), astype(weights, dt.float64))
    return found


def _edges(x: Array, bins: Any, range: Any) -> Array:
    """The edges of bins along one axis."""
    if not isinstance(bins, int):
        return asarray(bins, device=x.device)
    if range is None:
        low, high = (float(each(x)) for each in (extremes.min, extremes.max)) if x.size else (0.0, 1.0)
    else:
        low, high = range
    if low == high:
        low, high = low - 0.5, high + 0.5
    wide = dt.float64 if result_type(x) in dt.CATEGORIES["integer or boolean"] else result_type(x, 1.0)
    return linspace(float(low), float(high), bins + 1, dtype=wide, device=x.device)


def _places(x: Array, edges: Array) -> Array:
    """The bin of each element; -1 outside of all. The last bin includes its upper edge."""
    places = searchsorted(edges, x, side="right") - 1
    count = edges.size - 1
    places = where(x == edges[-1], count - 1, places)
    found: Array = where((places < 0) | (places >= count) | (x != x), -1, places)
    return found


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None) -> Any:
    """As `numpy.histogram`; `bins` is a number or edges. Without a range it waits for the device."""
    a = given(a)
    if not density and weights is None:
        return _histogram(a, given(bins) if isinstance(bins, (list, tuple)) else bins, range)
    return _histogram1d(a, bins, range, density, weights)


@on_arrays()
def _histogram1d(a: Any, bins: Any, range: Any, density: bool, weights: Any) -> Any:
    a = reshape(a, (-1,))
    counts, edges = histogramdd(reshape(a, (-1, 1)), [bins], None if range is None else [range], density, weights)
    return (counts if density or weights is None else astype(counts, result_type(asarray(weights)))), edges[0]


@on_arrays(2)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None) -> Any:
    """As `numpy.histogram2d`. Without ranges it waits for the device."""
    each = list(bins) if isinstance(bins, (list, tuple)) and len(bins) == 2 else [bins, bins]
    counts, edges = _counted([x, y], each, range, density, weights)
    return counts, *edges


@on_arrays()
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None) -> Any:
    """As `numpy.histogramdd`, of a sample of shape ``(N, D)``. Without ranges it waits for the device."""
    columns = [sample[:, place] for place in builtins.range(sample.shape[1])]
    each = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    return _counted(columns, each, range, density, weights)


def _counted(columns: list[Any], bins: list[Any], ranges: Any, density: bool, weights: Any) -> tuple[Any, Any]:
    limits = [None] * len(columns) if ranges is None else list(ranges)
    edges = [_edges(x, each, limit) for x, each, limit in zip(columns, bins, limits, strict=True)]
    shape = tuple(each.size - 1 for each in edges)
    whole: Any = 0
    inside: Any = True
    for x, each in zip(columns, edges, strict=True):
        places = _places(x, each)
        whole, inside = whole * (each.size - 1) + places, (places >= 0) & inside
    kept = where(inside, whole, prod(shape))
    share = zeros(kept.size, device=kept.device) + 1.0 if weights is None else asarray(weights, device=kept.device)
    counts = reshape(_weighted(kept, share, prod(shape) + 1)[:-1], shape)
    if density:
        counts = counts / sums.sum(counts)
        for place, each in enumerate(edges):
            counts = counts / reshape(diff(each), [-1 if axis == place else 1 for axis in builtins.range(len(edges))])
    return counts, edges


@on_arrays(2)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """As `numpy.digitize`. The host reads two bins to know whether they ascend."""
    side = "left" if right else "right"
    if bins.size < 2 or bool(bins[0] <= bins[-1]):
        return searchsorted(bins, x, side=side)
    return bins.size - searchsorted(flip(bins), x, side="right" if right else "left")
