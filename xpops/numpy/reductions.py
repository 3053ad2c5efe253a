"""Sums, products, extremes, means, and cumulative ones."""

from __future__ import annotations

import math
from typing import Any

from xpops.api import searching, utility
from xpops.api.data_types import astype
from xpops.api.elementwise import arithmetic, limits
from xpops.api.elementwise.comparison import equal
from xpops.api.manipulation.shapes import broadcast_to, reshape
from xpops.api.searching import where as _where
from xpops.api.statistics import extremes, moments, sums
from xpops.core import dtypes as dt
from xpops.numpy.arguments import arrays_of, as_axes, dtype_of, given, on_device_of, store
from xpops.numpy.elementwise import is_boolean

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "max",
    "mean", "min", "prod", "ptp", "std", "sum", "var",
]  # fmt: skip


def _chosen(a: Any, where: Any, identity: Any) -> Any:
    """`a`, with `identity` for the elements that `where` leaves out."""
    a = given(a)
    return a if where is True else _where(on_device_of(a, where), a, identity)


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """As `numpy.sum`."""
    found = sums.sum(_chosen(a, where, False), axis=as_axes(axis), dtype=dtype, keepdims=keepdims)
    return store(found if initial is None else arithmetic.add(found, initial), out, "sum")


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """As `numpy.prod`."""
    found = sums.prod(_chosen(a, where, True), axis=as_axes(axis), dtype=dtype, keepdims=keepdims)
    return store(found if initial is None else arithmetic.multiply(found, initial), out, "prod")


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.mean`."""
    return store(moments.mean(given(a), axis=as_axes(axis), dtype=dtype, keepdims=keepdims), out, "mean")


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    correction: float | None = None,
) -> Any:  # fmt: skip
    """As `numpy.std`."""
    count = ddof if correction is None else correction
    found = moments.std(_real(a), axis=as_axes(axis), dtype=dtype, correction=count, keepdims=keepdims)
    return store(found, out, "std")


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    correction: float | None = None,
) -> Any:  # fmt: skip
    """As `numpy.var`."""
    count = ddof if correction is None else correction
    found = moments.var(_real(a), axis=as_axes(axis), dtype=dtype, correction=count, keepdims=keepdims)
    return store(found, out, "var")


def _real(a: Any) -> Any:
    a = given(a)
    return astype(a, dt.float64) if is_boolean(a) else a


def _extreme(name: str, function: Any, both: Any, of_booleans: Any) -> Any:
    def call(
        a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        if where is not True and initial is None:
            raise TypeError(f"{name}: where without initial; accepted: where with initial")
        a = _chosen(a, where, initial)
        reduce = of_booleans if is_boolean(a) else function
        if initial is not None and 0 in a.shape:
            kept = sums.sum(a, axis=as_axes(axis), keepdims=keepdims, dtype=dtype_of(a))
            return store(arithmetic.add(kept, initial), out, name)
        found = reduce(a, axis=as_axes(axis), keepdims=keepdims)
        return store(found if initial is None else both(found, initial), out, name)

    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = f"As `numpy.{name}`."
    return call


max = amax = _extreme("max", extremes.max, limits.maximum, utility.any)
min = amin = _extreme("min", extremes.min, limits.minimum, utility.all)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """As `numpy.ptp`: the largest minus the smallest."""
    found = arithmetic.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))
    return store(found, out, "ptp")


def _ordered(a: Any) -> Any:
    a = given(a)
    return astype(a, dt.uint8) if is_boolean(a) else a


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.argmax`."""
    return store(searching.argmax(_ordered(a), axis=axis, keepdims=keepdims), out, "argmax")


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.argmin`."""
    return store(searching.argmin(_ordered(a), axis=axis, keepdims=keepdims), out, "argmin")


def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """As `numpy.all`."""
    return store(utility.all(_chosen(a, where, True), axis=as_axes(axis), keepdims=keepdims), out, "all")


def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """As `numpy.any`."""
    return store(utility.any(_chosen(a, where, False), axis=as_axes(axis), keepdims=keepdims), out, "any")


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.count_nonzero`; the result is an array."""
    return searching.count_nonzero(given(a), axis=as_axes(axis), keepdims=keepdims)


def line(a: Any, axis: int | None) -> tuple[Any, int]:
    """`a` and an axis; without one, all elements in one axis."""
    a = given(a)
    return (reshape(a, (-1,)), 0) if axis is None else (a, axis)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """As `numpy.cumsum`."""
    x, along = line(a, axis)
    return store(sums.cumulative_sum(x, axis=along, dtype=dtype), out, "cumsum")


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """As `numpy.cumprod`."""
    x, along = line(a, axis)
    return store(sums.cumulative_prod(x, axis=along, dtype=dtype), out, "cumprod")


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """As `numpy.average`."""
    a, axis = given(a), as_axes(axis)
    if weights is None:
        found = mean(a, axis, keepdims=keepdims)
        count = math.prod(a.shape) // _maximum(math.prod(found.shape), 1)
        total: Any = astype(_where(equal(found, found), count, count), dtype_of(found))
        return (found, total) if returned else found
    a, w = arrays_of((a, weights))
    if w.ndim != a.ndim:
        if not isinstance(axis, int) or w.ndim != 1:
            raise TypeError(
                f"average: weights have {w.ndim} axes, a has {a.ndim}; accepted: one axis, which `axis` names"
            )
        w = reshape(w, [-1 if place == axis % a.ndim else 1 for place in range(a.ndim)])
    wide = dt.float64 if dtype_of(a) in dt.CATEGORIES["integer or boolean"] else dtype_of(a)
    a, w = (astype(each, wide, copy=False) if is_boolean(each) or each is a else each for each in (a, w))
    w = broadcast_to(w, tuple(a.shape))
    total = sums.sum(w, axis=axis, keepdims=keepdims)
    found = arithmetic.divide(sums.sum(arithmetic.multiply(a, w), axis=axis, keepdims=keepdims), total)
    return (found, astype(total, dtype_of(found), copy=False)) if returned else found


def _maximum(x: int, y: int) -> int:
    return x if x > y else y
