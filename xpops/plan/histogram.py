"""The bins of histograms: one bin for each integer, or equal parts of an interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

# The bins for values from here on fit in no memory.
_TOO_LARGE = 2**40


def bins_for(largest: int, minlength: int, dtype: DType) -> int:
    """The bins for values up to `largest`.

    Parameters
    ----------
    largest : int
        As an unsigned 64-bit integer, so that a negative value exceeds all others; -1 if there are no values.
    minlength : int
    dtype : numpy.dtype
        The dtype of the values.

    Raises
    ------
    ValueError
        If a value is negative, or so large that its bins fit in no memory.

    Examples
    --------
    >>> bins_for(7, 0, dt.int32), bins_for(7, 10, dt.int32)
    (8, 10)
    """
    if dtype in dt.SIGNED_INTEGERS and largest >= 2**63:
        raise ValueError("bincount: x holds a negative value; accepted: 0 and more")
    if largest >= _TOO_LARGE:
        raise ValueError(f"bincount: x holds {largest}; accepted: values below {_TOO_LARGE}, a bin for each")
    return max(largest + 1, minlength)


class EqualBins(NamedTuple):
    """Equal bins of an interval, with the numbers that find the bin of an element as `numpy.histogram` does.

    Attributes
    ----------
    first, last : number
        The given ends, or 0.5 below and above them if both are equal. The dtype of a NumPy scalar takes part in
        promotion; a Python scalar has none.
    edges : ndarray
    width : numpy scalar
        The difference of the ends, in the dtype of NumPy's divisor.
    quotient : numpy.dtype
        The dtype of a number divided by `width`.
    margin : float
        The place of a number x is ``(x - first) * (bins / width)``, in the dtype of edges (float32 for narrower ones).
        If it is farther than this from every integer, its integer part is the bin. With 0.5 or more none is.
    """

    first: Any
    last: Any
    edges: np.ndarray[Any, Any]
    width: Any
    quotient: DType
    margin: float


# A place computed as a product differs from NumPy's, which is a quotient, by at most this many epsilons of it.
_ROUNDINGS = 4


def equal_bins(dtype: DType, count: int, first: Any, last: Any) -> EqualBins:
    """`count` bins for numbers of `dtype` from `first` to `last`, which are finite and in order.

    Raises
    ------
    ValueError
        If two edges are the same number, or their dtype cannot hold one.

    Examples
    --------
    >>> equal_bins(dt.float32, 4, 0.0, 1.0).edges
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if first == last:
        first, last = first - 0.5, last + 0.5
    edge = np.result_type(first, last, dtype)
    edge = np.result_type(edge, float) if edge in dt.CATEGORIES["integer"] else edge
    with np.errstate(all="ignore"):
        edges = np.linspace(first, last, count + 1, dtype=edge)
        if not np.all(np.isfinite(edges)):
            raise ValueError(f"histogram: range is from {first} to {last}; accepted: ends that {edge} can hold")
        if not np.all(edges[:-1] < edges[1:]):
            raise ValueError(
                f"histogram: bins is {count}; accepted: as many as {edge} tells apart in {first} to {last}"
            )
        width = _width(first, last)
        places = (np.subtract(edges, first, dtype=edge) / width) * count
        off = float(np.max(np.abs(places.astype(np.float64) - np.arange(count + 1))))
    quotient = places.dtype
    eps = max(float(ml_dtypes.finfo(each).eps) for each in (quotient, np.result_type(edge, np.float32)))
    margin = off + _ROUNDINGS * eps * count
    return EqualBins(first, last, edges, width, quotient, margin if margin < 0.5 else 1.0)


def _width(first: Any, last: Any) -> Any:
    """``last - first`` without overflow of signed integers, as NumPy computes it."""
    dtype = np.result_type(first, last)
    if dtype not in dt.SIGNED_INTEGERS:
        return np.subtract(last, first, dtype=dtype)
    wide = (np.asarray(each, dtype) for each in (last, first))
    return np.subtract(*wide, casting="unsafe", dtype=f"u{dtype.itemsize}")
