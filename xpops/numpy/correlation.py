"""Covariance, correlation, interpolation, and convolution."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api import linear_algebra
from xpops.api.creation.conversion import asarray
from xpops.api.creation.ranges import arange
from xpops.api.data_types import astype, result_type
from xpops.api.elementwise import complex_numbers
from xpops.api.elementwise.limits import clip
from xpops.api.elementwise.powers import sqrt
from xpops.api.indexing import take
from xpops.api.manipulation.axes import flip
from xpops.api.manipulation.joining import concat
from xpops.api.manipulation.padding import pad
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import searchsorted, where
from xpops.api.sorting import argsort
from xpops.api.statistics import sums
from xpops.core import dtypes as dt
from xpops.numpy.arguments import dtype_of, floating, on_arrays

__all__ = [
    "convolve", "corrcoef", "correlate", "cov", "interp",
]  # fmt: skip


@on_arrays(2)
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """As `numpy.cov`."""
    x = _variables(m, y, rowvar, dtype)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights, count = _weights(x, fweights, aweights, correction)
    mean = sums.sum(x * weights, axis=1, keepdims=True) / sums.sum(weights * (x[:1] * 0 + 1))
    centred = x - mean
    found = linear_algebra.matmul(centred * weights, complex_numbers.conj(centred).T) / count
    return reshape(found, ()) if found.size == 1 else found


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """The variables as rows."""
    parts = []
    for each in (m, y):
        if each is not None:
            rows = floating(each) if dtype is None else astype(each, dtype)
            rows = reshape(rows, (1, -1)) if rows.ndim < 2 else rows
            parts.append(rows.T if not rowvar and each.ndim == 2 and rows.shape[0] != 1 else rows)
    return parts[0] if len(parts) == 1 else concat(parts, axis=0)


def _weights(x: Any, fweights: Any, aweights: Any, ddof: int) -> tuple[Any, Any]:
    """The weights of the columns, and the number by which products are divided."""
    if fweights is None and aweights is None:
        return 1.0, max(x.shape[1] - ddof, 0) or numpy.nan
    frequency = 1.0 if fweights is None else asarray(fweights, device=x.device)
    weights: Any = frequency if aweights is None else asarray(aweights, device=x.device) * frequency
    total = sums.sum(weights)
    if aweights is None:
        return weights, total - ddof
    return weights, total - ddof * sums.sum(weights * asarray(aweights, device=x.device)) / total


@on_arrays(2)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """As `numpy.corrcoef`."""
    found = cov(x, y, rowvar, dtype=dtype)
    if found.ndim == 0:
        return found / found
    size = sqrt(complex_numbers.real(reshape(found, (-1,))[:: found.shape[0] + 1]))
    scaled = found / reshape(size, (-1, 1)) / size
    if dtype_of(scaled) in dt.COMPLEX_FLOATS:
        return scaled
    return clip(scaled, -1.0, 1.0)


@on_arrays(3)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """As `numpy.interp`: linear interpolation between points whose `xp` ascend."""
    x, xp = astype(x, dt.float64, copy=False), astype(xp, dt.float64, copy=False)
    fp = astype(fp, dt.complex128 if dtype_of(fp) in dt.COMPLEX_FLOATS else dt.float64, copy=False)
    if period is not None:
        x, xp = x % abs(period), xp % abs(period)
        order = argsort(xp)
        xp, fp = take(xp, order), take(fp, order)
        xp = concat((xp[-1:] - abs(period), xp, xp[:1] + abs(period)))
        fp = concat((fp[-1:], fp, fp[:1]))
    flat = reshape(x, (-1,))
    if xp.size == 1:
        found = fp[0] + flat * 0
    else:
        low = clip(searchsorted(xp, flat, side="right") - 1, 0, xp.size - 2)
        x0, f0 = take(xp, low), take(fp, low)
        slope = (take(fp, low + 1) - f0) / (take(xp, low + 1) - x0)
        found = slope * (flat - x0) + f0
    found = where(flat >= xp[-1], fp[-1], where(flat < xp[0], fp[0], found))
    if period is None:
        found = found if left is None else where(flat < xp[0], left, found)
        found = found if right is None else where(flat > xp[-1], right, found)
    return reshape(where(flat != flat, flat, found), x.shape)


@on_arrays(2)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """As `numpy.convolve`: a product of a matrix of windows, so memory of ``N * min(M, N)`` elements."""
    if a.size < v.size:
        a, v = v, a
    return _sliding(a, flip(v), mode, "convolve")


@on_arrays(2)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """As `numpy.correlate`: a product of a matrix of windows, so memory of ``N * min(M, N)`` elements."""
    if a.size >= v.size:
        return _sliding(a, complex_numbers.conj(v), mode, "correlate")
    return flip(complex_numbers.conj(_sliding(v, complex_numbers.conj(a), mode, "correlate")))


def _sliding(a: Any, v: Any, mode: str, function: str) -> Any:
    """The products of `v` and every window of `a`, which is not shorter."""
    if a.ndim > 1 or v.ndim > 1 or not v.size or not a.size:
        raise ValueError(f"{function}: the shapes are {a.shape} and {v.shape}; accepted: vectors that are not empty")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{function}: mode is {mode!r}; accepted: 'full', 'same', 'valid'")
    dtype = result_type(a, v)
    a, v = (reshape(astype(each, dtype, copy=False), (-1,)) for each in (a, v))
    more = v.size - 1
    before, after = {"full": (more, more), "same": (more // 2 + more % 2, more // 2), "valid": (0, 0)}[mode]
    wide = pad(a, (before, after))
    count = wide.size - more
    places = reshape(arange(count, device=a.device), (-1, 1)) + arange(v.size, device=a.device)
    return linear_algebra.matmul(wide[places], v)
