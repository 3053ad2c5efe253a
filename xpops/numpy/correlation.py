"""Covariance, correlation coefficients, and interpolation."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api import linear_algebra
from xpops.api.creation.conversion import asarray
from xpops.api.data_types import astype
from xpops.api.elementwise import complex_numbers
from xpops.api.elementwise.limits import clip
from xpops.api.elementwise.powers import sqrt
from xpops.api.fusion import fuse
from xpops.api.indexing import take
from xpops.api.manipulation.joining import concat, stack
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import searchsorted, where
from xpops.api.sorting import argsort
from xpops.api.statistics import sums
from xpops.core import dtypes as dt
from xpops.numpy.arguments import dtype_of, floating, on_arrays

__all__ = [
    "corrcoef", "cov", "interp",
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
    if xp.size == 1:  # as in NumPy, NaN gives the one value then
        flat = where(flat != flat, xp, flat)
    first, last = (fp[:1], fp[-1:])
    left = first if left is None or period is not None else left
    right = last if right is None or period is not None else right
    found = _interpolate(flat, *_segments(flat, xp, fp), xp[:1], xp[-1:], last, left, right)
    return reshape(found, x.shape)


def _segments(x: Any, xp: Any, fp: Any) -> tuple[Any, Any, Any]:
    """For each element the first point of its segment, and the slope."""
    if xp.size == 1:
        return xp, fp, fp * 0
    segment = searchsorted(xp[1:-1], x, side="right")
    if x.size < xp.size:
        x0, f0 = take(xp, segment), take(fp, segment)
        return x0, f0, (take(fp, segment + 1) - f0) / (take(xp, segment + 1) - x0)
    points = (xp[:-1], fp[:-1], _slope(xp[:-1], xp[1:], fp[:-1], fp[1:]))
    if dtype_of(xp) != dtype_of(fp):
        x0, f0, slope = (take(each, segment) for each in points)
        return x0, f0, slope
    lines = take(stack(points), segment, axis=1)  # one kernel reads the places once
    return lines[0], lines[1], lines[2]


@fuse
def _slope(x0: Any, x1: Any, f0: Any, f1: Any) -> Any:
    return (f1 - f0) / (x1 - x0)


@fuse
def _interpolate(
    x: Any, x0: Any, f0: Any, slope: Any, start: Any, end: Any, last: Any, left: Any, right: Any
) -> Any:  # fmt: skip
    found = slope * (x - x0) + f0
    found = where(x >= end, last, where(x < start, left, found))
    return where(x != x, x, where(x > end, right, found))
