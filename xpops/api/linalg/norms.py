"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from xpops.api.data_types import astype
from xpops.api.elementwise.comparison import not_equal
from xpops.api.elementwise.powers import pow, reciprocal, sqrt, square
from xpops.api.elementwise.signs import abs
from xpops.api.families import Family
from xpops.api.linalg.decompositions import svdvals
from xpops.api.manipulation.shapes import expand_dims
from xpops.api.signatures import array_function
from xpops.api.statistics.extremes import max, min
from xpops.api.statistics.sums import sum
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.core.operands import Axes
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.primitives import unary
from xpops.dispatch.reductions import reduction
from xpops.frameworks.differentiable import Facts
from xpops.ops.derivatives import linalg as derivative
from xpops.ops.reduction import HOST_REDUCTIONS, SHORT_SUM, Reduction
from xpops.plan.strides.views import axes_of

__all__ = ["matrix_norm", "vector_norm"]

# Powers that take fewer instructions as products.
_PRODUCTS = range(3, 17)
# Orders with functions of their own; another is a parameter of one function.
_ORDERS = {order: order for order in (0, 1, 2, -1, math.inf, -math.inf, *_PRODUCTS)}
# The reductions that these orders need on the host.
_HOST_ROWS: dict[float | None, Reduction] = {1: HOST_REDUCTIONS["sum_of_sizes"], 2: HOST_REDUCTIONS["sum_of_squares"]}
_MATRIX_ORDERS = (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc", None)


@array_function
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of matrices.

    Parameters
    ----------
    x : array
        Floating-point, of shape ``(..., M, N)``.
    keepdims : bool
        Whether the result keeps both axes, with length 1.
    ord : {1, -1, 2, -2, inf, -inf, "fro", "nuc"}
        1, -1: the largest and the smallest sum of absolute values of a column. inf, -inf: the same for rows. 2, -2: the
        largest and the smallest singular value. "fro" or None: the square root of the sum of squares. "nuc": the sum of
        singular values. Singular values are those of `svdvals`, which does not accept float16 and bfloat16.

    Returns
    -------
    array
        Real. Matrices without elements have the norm 0, except for -1, -2 and -inf.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    ValueError
        If `x` has fewer than two axes, or there is no such `ord`.
    LinAlgError
        As for `svd`, if `ord` needs singular values.

    Examples
    --------
    >>> x = xp.asarray([[3.0, 0.0], [4.0, 1.0]])
    >>> xp.linalg.matrix_norm(x, ord=1)
    Array(7., dtype=float64, device='cpu')
    """
    if ord not in _MATRIX_ORDERS:
        raise ValueError(f"matrix_norm: ord is {ord!r}; accepted: {', '.join(map(str, _MATRIX_ORDERS))}")
    if ord not in ("nuc", 2, -2):
        return _matrix_norm((bool(keepdims), ord), x)
    given = _require_matrices(x)
    if 0 in given.shape[-2:] and ord == 2:
        return _vector_norm(((-2, -1), keepdims, 2), x)
    values = svdvals(x)
    found = sum(values, axis=-1) if ord == "nuc" else max(values, axis=-1) if ord == 2 else min(values, axis=-1)
    return expand_dims(found, axis=(-2, -1)) if keepdims else found


def _norm_of_matrices(keepdims: bool, ord: Any, x: Any) -> Any:
    """The norms that need no singular values, as one fused function."""
    given = _require_matrices(x)
    if ord in ("fro", None) or (0 in given.shape[-2:] and ord in (1, math.inf)):
        return _vector_norm(((-2, -1), keepdims, 2), x)
    if given.dtype in dt.HALVES:
        return astype(_norm_of_matrices(keepdims, ord, astype(x, dt.float32)), given.dtype)
    along, across = (-2, -1) if ord in (1, -1) else (-1, -2)
    sums = sum(abs(x), axis=along, keepdims=keepdims)
    return (max if ord > 0 else min)(sums, axis=across if keepdims else -1, keepdims=keepdims)


@array_function
def vector_norm(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norms of vectors. A vector may extend along several axes.

    Parameters
    ----------
    x : array
        Floating-point.
    axis : int or tuple of int, optional
        By default all.
    keepdims : bool
        Whether the result keeps these axes, with length 1.
    ord : float
        p of ``sum(abs(x) ** p) ** (1 / p)``; inf and -inf: the largest and the smallest absolute value; 0: the number
        of elements that are not 0.

    Returns
    -------
    array
        Real.

    Raises
    ------
    TypeError
        If the dtype is not accepted, or `ord` is no number.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or `ord` is inf or -inf and there are no elements.

    Examples
    --------
    >>> xp.linalg.vector_norm(xp.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1)
    Array([ 5., 10.], dtype=float64, device='cpu')
    """
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise TypeError(f"vector_norm: ord is {ord!r}; accepted: a number")
    order = _ORDERS.get(ord)
    parameters = (axis, bool(keepdims), order)
    return _vector_norm(parameters, x) if order is not None else _vector_norm(parameters, x, float(ord), 1 / ord)


def _norm(axis: Any, keepdims: bool, ord: float | None, x: Any, power: Any = None, root: Any = None) -> Any:
    """The norm of a floating-point array, as one fused function. If `ord` is None, `power` is the order."""
    given = _require_axes(x, axis)
    how: Any = {"axis": axis, "keepdims": keepdims}
    real = dt.REAL_OF.get(given.dtype, given.dtype)
    if ord == 0:
        return astype(sum(not_equal(x, 0.0), **how), real)
    if ord is not None and _is_single(given, axis):  # not of an order that may be NaN
        return max(abs(x), **how)
    size = x if ord == 2 and given.dtype == real else abs(x)
    if ord is not None and math.isinf(ord):
        return (max if ord > 0 else min)(size, **how)
    if real in dt.HALVES:  # their squares overflow early
        return astype(_root_of_powers(_short_sum, how, ord, astype(size, dt.float32), power, root), real)
    return _root_of_powers(sum, how, ord, size, power, root)


def _root_of_powers(total: Callable[..., Any], how: Any, ord: float | None, x: Any, power: Any, root: Any) -> Any:
    """The norm of real numbers, of a finite order but 0. They are not negative, unless `ord` is 2."""
    if ord is None:
        return pow(total(pow(x, power), **how), root)
    if ord == 2:
        return sqrt(total(square(x), **how))
    if ord == 1:
        return total(x, **how)
    if ord == -1:
        return reciprocal(total(reciprocal(x), **how))
    return _root(total(_product(x, int(ord)), **how), int(ord))


def _short_sum(x: Any, axis: Any, keepdims: bool) -> Any:
    return unary(reduction, "sum", x, SHORT_SUM, axis, keepdims, None, 0.0)


def _norm_on_host(axis: Any, keepdims: bool, ord: float | None, x: Any, *power_and_root: Any) -> Any:
    """The norm of an array on the host: real elements are squared or made positive as they are added up."""
    given = _require_floating(x, "vector_norm")
    row = _HOST_ROWS.get(ord)
    if row is None or given.dtype in dt.REAL_OF or _is_single(given, axis):
        return _norm(axis, keepdims, ord, x, *power_and_root)
    loop = dt.float32 if given.dtype in dt.HALVES else given.dtype
    found = unary(reduction, "vector_norm", x, row, axis, keepdims, loop, 0.0)
    found = sqrt(found) if ord == 2 else found
    return found if loop == given.dtype else astype(found, given.dtype)


def _product(x: Any, count: int) -> Any:
    """``x ** count``, by multiplications."""
    if count == 1:
        return x
    half = _product(x, count // 2)
    return half * half * x if count % 2 else half * half


def _root(x: Any, count: int) -> Any:
    """``x ** (1 / count)`` for x >= 0. Kernels take roots, which cost less; NumPy's cube roots cost more."""
    if count == 1:
        return x
    if count % 2 == 0:
        return sqrt(_root(x, count // 2))
    if count % 3 or not isinstance(x, Traced):
        return pow(x, 1 / count)
    from xpops.api.special.elementary import cbrt

    return cbrt(_root(x, count // 3))


def _require_floating(x: Any, function: str) -> Layout | Facts | Traced:
    given = x if isinstance(x, Traced) else array_layout(x, function, "x")
    if given.dtype not in dt.CATEGORIES["floating-point"]:
        raise TypeError(f"{function}: x has dtype {given.dtype}; accepted: floating-point dtypes")
    return given


def _is_single(x: Layout | Facts | Traced, axis: Any) -> bool:
    """Whether vectors along these axes have one element each."""
    if 1 not in x.shape:  # as a rule; every call on the host asks
        return not x.shape or axis == ()
    along = range(len(x.shape)) if axis is None else axes_of(axis, len(x.shape), "vector_norm")
    return all(x.shape[place] == 1 for place in along)


def _require_axes(x: Any, axis: Any) -> Layout | Facts | Traced:
    given = _require_floating(x, "vector_norm")
    if axis is not None:  # the parts of the expression would name themselves
        axes_of(axis, given.ndim, "vector_norm")
    return given


def _require_matrices(x: Any) -> Layout | Facts | Traced:
    given = _require_floating(x, "matrix_norm")
    if given.ndim < 2:
        raise ValueError(f"matrix_norm: x has shape {given.shape}; accepted: two axes or more")
    return given


_vector_norm = Family(_norm, "vector_norm", "x", "ord", "ord", host=_norm_on_host, derivative=derivative.vector_norm)
_matrix_norm = Family(_norm_of_matrices, "matrix_norm", "x")
