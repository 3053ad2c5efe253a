"""Counting numbers in bins."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from xpops.api.creation.conversion import asarray
from xpops.api.elementwise.comparison import equal, greater
from xpops.api.foreign import keeps_framework
from xpops.api.manipulation.shapes import reshape
from xpops.api.nn.counting import bincount
from xpops.api.searching import searchsorted, where
from xpops.api.signatures import tuple_function
from xpops.api.statistics.extremes import max, min
from xpops.api.utility import any
from xpops.arrays import Array, adopt_foreign
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.primitives import call, unary
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.plan.histogram import equal_bins
from xpops.plan.signature import Operand

__all__ = ["histogram"]

_FUNCTION = "histogram"


@tuple_function
def histogram(x: Any, /, bins: Any = 10, range: Any = None) -> tuple[Any, Any]:
    """The number of elements in each bin, exactly as `numpy.histogram` counts them.

    Parameters
    ----------
    x : array
        Real-valued. Flattened.
    bins : int or array
        The number of equal bins; or the edges, in ascending order, as a one-dimensional array or a sequence.
    range : (number, number), optional
        The first and the last edge of equal bins, as Python numbers. By default the least and the greatest element,
        which waits for the device. Ignored if `bins` are edges.

    Returns
    -------
    counts : array
        int64. A bin includes its lower edge, but not its upper edge; the last bin includes both. Elements outside all
        bins and NaNs are not counted.
    edges : array
        One element more than `counts`. In the dtype of `x`, or float64 for integers; `bins` itself if it is an array.

    Raises
    ------
    TypeError
        If the dtype of `x`, `bins` or `range` is not accepted.
    ValueError
        If there are no bins, so many that two edges are equal in their dtype, or edges that are not ascending or not
        one-dimensional; if `range`, or without it an element, is not finite, or `range` is not ascending.

    Notes
    -----
    Equal bins are computed in the dtype of the edges, as NumPy does: float32 for float32. Integers beyond 2^53 are
    compared as float64.

    Examples
    --------
    >>> counts, edges = xp.nn.histogram(xp.asarray([1.0, 2.0, 1.0, 4.0]), 3, (1, 4))
    >>> counts, edges
    (Array([2, 1, 1], dtype=int64, device='cpu'), Array([1., 2., 3., 4.], dtype=float64, device='cpu'))
    >>> xp.nn.histogram(xp.asarray([1, 2, 3, 9]), [0, 2, 9])[0]
    Array([1, 3], dtype=int64, device='cpu')
    """
    try:
        count = operator.index(bins) if getattr(bins, "ndim", 0) == 0 else None
    except TypeError:
        count = None
    if count is None:
        return _histogram_by_edges(x, bins)
    if count < 1:
        raise ValueError(f"{_FUNCTION}: bins is {count}; accepted: 1 and more")
    if range is None:
        counts, edges = call(_plan, _FUNCTION, ("x",), (x,), count, *_range_of(x), True, kept=False)
    else:
        counts, edges = unary(_plan, _FUNCTION, x, count, *_parse_range(range), False)
    return counts, edges


def _plan(engine: Engine, specs: tuple[Operand, ...], count: int, first: Any, last: Any, found: bool) -> Program:
    """The program of equal bins from `first` to `last`. `found`: they are elements of `x`, so NumPy scalars."""
    x = require_array(specs[0], _FUNCTION, "x")
    _require_numbers(x)
    bins = equal_bins(x.dtype, count, first, last)
    outs = tuple(
        layout_of(dtype, (length,), None, x.device)
        for dtype, length in ((dt.int64, count), (bins.edges.dtype, count + 1))
    )
    flat, flatten = make_dense(engine, x, (x.size,))
    kernel = engine.histogram(flat, bins)

    def run(stream: int, counts: Data, edges: Data, x: Data) -> None:
        given, owner = flatten(stream, x)
        kernel(stream, counts, edges, given)
        del owner  # freed after the launch: the pool reuses memory in stream order

    return Program(outs, run)


def _range_of(x: Any) -> tuple[Any, Any]:
    """The least and the greatest element, as NumPy scalars of their dtype."""
    ours = adopt_foreign(x, _FUNCTION, "x")
    _require_numbers(ours._layout)
    if ours._layout.size == 0:
        return 0, 1
    first, last = (each(ours).to_numpy()[()] for each in (min, max))
    return _require_order(first, last, "x holds numbers")


def _parse_range(range: Any) -> tuple[Any, Any]:
    """The two numbers of `range`, as Python numbers."""
    try:
        first, last = (each.item() if isinstance(each, np.generic) else each for each in range)
    except (TypeError, ValueError):
        first = last = None
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (first, last)):
        raise TypeError(f"{_FUNCTION}: range is {range!r}; accepted: two numbers")
    first, last = _require_order(first, last, "range is")
    whole = isinstance(first, int) and isinstance(last, int) and first >= -(2**63) and last < 2**63
    return (first, last) if whole else (float(first), float(last))


def _require_order(first: Any, last: Any, what: str) -> tuple[Any, Any]:
    if not (_is_finite(first) and _is_finite(last) and first <= last):
        raise ValueError(f"{_FUNCTION}: {what} from {first} to {last}; accepted: finite, and in ascending order")
    return first, last


def _is_finite(end: Any) -> bool:
    try:
        return math.isfinite(end)
    except OverflowError:  # an integer that no float can hold
        return False


def _require_numbers(x: Layout) -> None:
    if x.dtype not in dt.CATEGORIES["real-valued"]:
        raise TypeError(f"{_FUNCTION}: dtype {x.dtype} is not accepted; accepted: real-valued dtypes")


def _histogram_by_edges(x: Any, bins: Any) -> tuple[Any, Any]:
    ours = adopt_foreign(x, _FUNCTION, "x")
    _require_numbers(ours._layout)
    edges = _require_edges(bins, ours.device)
    counts, edges = _count_in_bins(x, edges)
    return counts, edges


def _require_edges(bins: Any, device: Device) -> Array:
    """The edges as an array, after a check that they ascend."""
    if isinstance(bins, (list, tuple)):
        bins = asarray(bins, device=device)
    edges = adopt_foreign(bins, _FUNCTION, "bins")
    if edges.ndim != 1 or edges.size == 0:
        raise ValueError(
            f"{_FUNCTION}: bins has shape {edges._layout.shape}; accepted: an integer, or one axis of edges"
        )
    _require_numbers(edges._layout)
    if edges.device != device:
        raise ValueError(f"{_FUNCTION}: x is on {device} and bins on {edges.device}; accepted: one device")
    if any(greater(edges[:-1], edges[1:])):
        raise ValueError(f"{_FUNCTION}: bins are not in ascending order")
    return edges


@keeps_framework
def _count_in_bins(x: Array, edges: Array) -> tuple[Array, Array]:
    """Search the bin of each element. Returns the counts and the edges."""
    flat, bins = reshape(x, (-1,)), edges.size - 1
    places = searchsorted(edges, flat, side="right")
    inside = where(equal(flat, edges[-1]), bins, places)
    return bincount(inside, minlength=bins + 2)[1 : bins + 1], edges
