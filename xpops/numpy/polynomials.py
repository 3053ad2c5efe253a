"""Polynomials: vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.creation.filling import ones, zeros
from xpops.api.creation.matrices import eye
from xpops.api.data_types import finfo, result_type
from xpops.api.elementwise.complex_numbers import real
from xpops.api.elementwise.powers import sqrt
from xpops.api.fusion import fuse
from xpops.api.linalg.decompositions import eigvals
from xpops.api.manipulation.joining import concat
from xpops.api.manipulation.padding import pad
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import nonzero
from xpops.api.statistics.sums import sum
from xpops.core import dtypes as dt
from xpops.numpy.arguments import dtype_of, floating, on_arrays
from xpops.numpy.convolution import convolve
from xpops.numpy.creation import vander
from xpops.numpy.linalg import lstsq

__all__ = [
    "poly", "polyadd", "polyfit", "polymul", "polyval", "roots",
]  # fmt: skip


@fuse
def _step(found: Any, x: Any, coefficient: Any) -> Any:
    return found * x + coefficient


@on_arrays(2)
def polyval(p: Any, x: Any) -> Any:
    """As `numpy.polyval`: Horner's rule, one kernel for each coefficient."""
    found = x * 0
    for place in range(p.size):
        found = _step(found, x, p[place])
    return found


@on_arrays(2)
def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None) -> Any:
    """As `numpy.polyfit`, without `cov`."""
    x, y = floating(x), floating(y)
    matrix = vander(x, deg + 1)
    if w is not None:
        weights = reshape(asarray(w, device=x.device), (-1, 1))
        matrix, y = matrix * weights, y * (reshape(weights, (-1,)) if y.ndim == 1 else weights)
    scale = sqrt(sum(matrix * matrix, axis=0))
    least = x.size * finfo(result_type(x)).eps if rcond is None else rcond
    found, residuals, rank, s = lstsq(matrix / scale, y, least)
    coefficients = found / (scale if y.ndim == 1 else reshape(scale, (-1, 1)))
    return (coefficients, residuals, rank, s, least) if full else coefficients


@on_arrays()
def poly(seq_of_zeros: Any) -> Any:
    """As `numpy.poly`: the polynomial with given roots, or the characteristic polynomial of a matrix."""
    roots_ = floating(eigvals(floating(seq_of_zeros)) if seq_of_zeros.ndim == 2 else seq_of_zeros)
    found = ones((1,), dtype=roots_.dtype, device=roots_.device)
    for place in range(roots_.size):
        shifted = pad(found, (1, 0)) * roots_[place]
        found = pad(found, (0, 1)) - shifted
    if seq_of_zeros.ndim == 2 and dtype_of(seq_of_zeros) not in dt.COMPLEX_FLOATS:
        return real(found)
    return found


@on_arrays()
def roots(p: Any) -> Any:
    """As `numpy.roots`; always complex. Waits for the device, which has to know where the coefficients are 0."""
    p = floating(p)
    (places,) = nonzero(p)
    if not places.size:
        return zeros((0,), dtype=result_type(p, 1j), device=p.device)
    first, last = int(places[0]), int(places[-1])
    zero_roots, p = p.size - last - 1, p[first : last + 1]
    count = p.size - 1
    kind = result_type(p, 1j)
    found = zeros((0,), dtype=kind, device=p.device)
    if count:
        matrix = eye(count, k=-1, dtype=p.dtype, device=p.device)
        matrix[0, :] = -p[1:] / p[0]
        found = eigvals(matrix)
    return concat((found, zeros((zero_roots,), dtype=kind, device=p.device)))


@on_arrays(2)
def polyadd(a1: Any, a2: Any) -> Any:
    """As `numpy.polyadd`."""
    size = max(a1.size, a2.size)
    left, right = (pad(reshape(each, (-1,)), (size - each.size, 0)) for each in (a1, a2))
    return left + right


@on_arrays(2)
def polymul(a1: Any, a2: Any) -> Any:
    """As `numpy.polymul`."""
    return convolve(reshape(a1, (-1,)), reshape(a2, (-1,)))
