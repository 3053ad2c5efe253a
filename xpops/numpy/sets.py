"""Sets: distinct elements. Every function but `isin` waits for the device, which counts the elements."""

from __future__ import annotations

from math import isnan
from typing import Any

from xpops.api import sets
from xpops.api.elementwise.comparison import equal
from xpops.api.elementwise.logical import logical_not
from xpops.api.indexing import take
from xpops.api.manipulation.joining import concat
from xpops.api.manipulation.shapes import reshape
from xpops.api.sorting import argsort
from xpops.core import dtypes as dt
from xpops.dispatch.primitives import call
from xpops.dispatch.sets import plan_unique
from xpops.numpy.arguments import arrays_of, dtype_of, given, on_arrays

__all__ = [
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique",
]  # fmt: skip


@on_arrays()
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, *,
    equal_nan: bool = True,
) -> Any:  # fmt: skip
    """As `numpy.unique`, of all elements, without `axis`."""
    asked = {"values": True, "indices": return_index, "inverse_indices": return_inverse, "counts": return_counts}
    parts = tuple(part for part, wanted in asked.items() if wanted)
    found = call(plan_unique, "unique", ("ar",), (ar,), "unique", parts)
    results = dict(zip(parts, (found,) if len(parts) == 1 else found, strict=True))
    if equal_nan and dtype_of(ar) in dt.CATEGORIES["real floating-point"]:
        _make_one_nan(results)
    return results["values"] if len(parts) == 1 else tuple(results.values())


def _make_one_nan(results: dict[str, Any]) -> None:
    """Make one element of all NaNs, which are the last ones."""
    values = results["values"]
    if values.size < 2 or not isnan(float(values[-2])):
        return
    kept = values.size - int((values != values).sum()) + 1
    results["values"] = values[:kept]
    if "indices" in results:
        indices = results["indices"]
        results["indices"] = concat((indices[: kept - 1], reshape(indices[kept - 1 :].min(), (1,))))
    if "inverse_indices" in results:
        results["inverse_indices"] = results["inverse_indices"].clip(0, kept - 1)
    if "counts" in results:
        counts = results["counts"]
        results["counts"] = concat((counts[: kept - 1], reshape(counts[kept - 1 :].sum(), (1,))))


@on_arrays(2)
def union1d(ar1: Any, ar2: Any) -> Any:
    """As `numpy.union1d`."""
    return unique(concat((reshape(ar1, (-1,)), reshape(ar2, (-1,)))))


@on_arrays(2)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """As `numpy.intersect1d`."""
    parts = [reshape(each, (-1,)) for each in (ar1, ar2)]
    firsts = [None, None]
    if not assume_unique:
        parts, firsts = map(list, zip(*(unique(each, return_index=True) for each in parts), strict=True))
    whole = concat(parts)
    order = argsort(whole)
    ordered = take(whole, order)
    twice = equal(ordered[1:], ordered[:-1])
    values = ordered[:-1][twice]
    if not return_indices:
        return values
    places = order[:-1][twice], order[1:][twice] - parts[0].size
    found = (each if first is None else take(first, each) for each, first in zip(places, firsts, strict=True))
    return values, *found


@on_arrays(2)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """As `numpy.setdiff1d`."""
    first = reshape(ar1, (-1,)) if assume_unique else unique(ar1)
    return first[logical_not(sets.isin(first, reshape(ar2, (-1,))))]


@on_arrays(2)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """As `numpy.setxor1d`."""
    parts = [reshape(each, (-1,)) if assume_unique else unique(each) for each in (ar1, ar2)]
    values, counts = sets.unique_counts(concat(parts))
    return values[counts == 1]


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """As `numpy.isin`."""
    element, tested = arrays_of((element, test_elements))
    return sets.isin(given(element), tested, invert=invert)
