"""`numpy.linalg`, for arrays of any framework. Integers become float64."""

from __future__ import annotations

import builtins
from functools import reduce
from math import prod
from typing import Any, NamedTuple

from xpops.api import linear_algebra
from xpops.api.data_types import astype, finfo
from xpops.api.elementwise.complex_numbers import conj, real
from xpops.api.linalg import decompositions, norms, products, solutions
from xpops.api.manipulation.axes import matrix_transpose, moveaxis, permute_dims
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import count_nonzero, where
from xpops.api.statistics.extremes import max
from xpops.api.statistics.sums import sum
from xpops.core import dtypes as dt
from xpops.core.errors import LinAlgError
from xpops.numpy.arguments import arrays_of, as_axes, floating, given, on_arrays, store
from xpops.numpy.products import cross, outer

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip

# Functions whose names and signatures are the standard's.
matmul, tensordot, vecdot = linear_algebra.matmul, linear_algebra.tensordot, linear_algebra.vecdot
diagonal, trace = products.diagonal, products.trace
matrix_norm, vector_norm = norms.matrix_norm, norms.vector_norm


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.linalg.norm`: of vectors along an axis, or of matrices along two."""
    x, axis = floating(x), as_axes(axis)
    if ord is None and (axis is None or isinstance(axis, int) or len(axis) <= 2):
        return norms.vector_norm(x, axis=axis, keepdims=keepdims)
    if axis is None:
        if x.ndim not in (1, 2):
            raise ValueError(f"norm: x has {x.ndim} axes and ord is {ord!r}; accepted: 1 or 2 axes, or `axis`")
        axis = tuple(range(x.ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(each % x.ndim for each in axis)
    if len(axes) == 1:
        return norms.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=ord)
    found = norms.matrix_norm(moveaxis(x, axes, (-2, -1)), ord=ord)
    shape = [1 if place in axes else length for place, length in enumerate(x.shape)]
    return reshape(found, shape) if keepdims else found


def inv(a: Any) -> Any:
    """As `numpy.linalg.inv`. Waits for the device."""
    return solutions.inv(floating(a))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """As `numpy.linalg.pinv`; `hermitian` changes nothing. By default `rtol` is that of the array API standard."""
    return solutions.pinv(floating(a), rtol=rcond if rtol is None else rtol)


def solve(a: Any, b: Any) -> Any:
    """As `numpy.linalg.solve`. Waits for the device."""
    return solutions.solve(*map(floating, arrays_of((a, b))))


class LstsqResult(NamedTuple):
    """The results of `lstsq`."""

    x: Any
    residuals: Any
    rank: Any
    s: Any


@on_arrays(2)
def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """As `numpy.linalg.lstsq`, by singular values. The rank is read on the host, because it decides a shape."""
    a, b = floating(a), floating(b)
    rows, columns = a.shape
    u, s, vh = decompositions.svd(a, full_matrices=False)
    least = finfo(a.dtype).eps * builtins.max(rows, columns) if rcond is None else rcond
    kept = s > least * max(s)
    inverse = where(kept, 1 / where(kept, s, 1), 0)
    right = b if b.ndim == 2 else reshape(b, (-1, 1))
    parts = conj(u).T @ right
    found = conj(vh).T @ (reshape(inverse, (-1, 1)) * parts)
    rank = count_nonzero(kept)
    wrong = right - a @ found
    squares = sum(real(wrong * conj(wrong)), axis=0)
    residuals = squares if rows > columns and int(rank) == columns else squares[:0]
    return LstsqResult(found if b.ndim == 2 else found[:, 0], residuals, astype(rank, dt.int32), s)


def det(a: Any) -> Any:
    """As `numpy.linalg.det`."""
    return solutions.det(floating(a))


def slogdet(a: Any) -> Any:
    """As `numpy.linalg.slogdet`."""
    return solutions.slogdet(floating(a))


def cond(x: Any, p: Any = None) -> Any:
    """As `numpy.linalg.cond`."""
    x = floating(x)
    if p in (None, 2, -2):
        s = decompositions.svdvals(x)
        largest, least = s[..., 0], s[..., -1]
        return least / largest if p == -2 else largest / least
    return norms.matrix_norm(x, ord=p) * norms.matrix_norm(solutions.inv(x), ord=p)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """As `numpy.linalg.matrix_rank`; `hermitian` changes nothing."""
    A = floating(A)
    if A.ndim < 2:
        return count_nonzero(reshape(max(A != 0), (1,)))
    if tol is None:
        return solutions.matrix_rank(A, rtol=rtol)
    return count_nonzero(decompositions.svdvals(A) > tol, axis=-1)


def matrix_power(a: Any, n: int) -> Any:
    """As `numpy.linalg.matrix_power`."""
    return products.matrix_power(floating(a) if n < 0 else given(a), n)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """As `numpy.linalg.multi_dot`, from left to right."""
    return store(reduce(linear_algebra.matmul, arrays_of(arrays)), out, "multi_dot")


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """As `numpy.linalg.cholesky`. Waits for the device."""
    return decompositions.cholesky(floating(a), upper=upper)


def qr(a: Any, mode: str = "reduced") -> Any:
    """As `numpy.linalg.qr`, of the modes "reduced", "complete" and "r"."""
    if mode == "r":
        return decompositions.qr(floating(a)).R
    return decompositions.qr(floating(a), mode=mode)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """As `numpy.linalg.svd`; `hermitian` changes nothing."""
    if not compute_uv:
        return svdvals(a)
    return decompositions.svd(floating(a), full_matrices=full_matrices)


def svdvals(x: Any, /) -> Any:
    """As `numpy.linalg.svdvals`."""
    return decompositions.svdvals(floating(x))


def eig(a: Any) -> Any:
    """As `numpy.linalg.eig`; always complex. Waits for the device."""
    return decompositions.eig(floating(a))


def eigh(a: Any, UPLO: str = "L") -> Any:
    """As `numpy.linalg.eigh`."""
    return decompositions.eigh(_lower(a, UPLO))


def eigvals(a: Any) -> Any:
    """As `numpy.linalg.eigvals`; always complex. Waits for the device."""
    return decompositions.eigvals(floating(a))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """As `numpy.linalg.eigvalsh`."""
    return decompositions.eigvalsh(_lower(a, UPLO))


def _lower(a: Any, triangle: str) -> Any:
    """Matrices whose lower triangle is the given one."""
    a = floating(a)
    return a if triangle.upper() == "L" else matrix_transpose(conj(a))


@on_arrays(2)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """As `numpy.linalg.tensorsolve`. Waits for the device."""
    a, b = floating(a), floating(b)
    if axes is not None:
        moved = [each % a.ndim for each in axes]
        a = permute_dims(a, (*(place for place in range(a.ndim) if place not in moved), *moved))
    shape = a.shape[b.ndim :]
    return reshape(solutions.solve(reshape(a, (b.size, prod(shape))), reshape(b, (-1,))), shape)


@on_arrays()
def tensorinv(a: Any, ind: int = 2) -> Any:
    """As `numpy.linalg.tensorinv`. Waits for the device."""
    a = floating(a)
    rest = a.shape[ind:]
    return reshape(solutions.inv(reshape(a, (-1, prod(rest)))), (*rest, *a.shape[:ind]))
