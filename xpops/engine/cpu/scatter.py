"""Scatter reductions, on NumPy."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from xpops.core.compiled import compiled
from xpops.core.dtypes import REAL_FLOATS, DType
from xpops.core.layouts import Layout, contiguous_strides
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import ACCUMULATED, SINGLE, assign, buffer_of, cast, copied
from xpops.engine.program import Kernel
from xpops.plan.scatter import require_targets

NDArray = np.ndarray[Any, Any]

# Slices of so many elements are added one by one: each takes a microsecond, an element by itself 10 nanoseconds.
_SLICE = 128
# The compiled core adds slices of so many elements faster than elements.
_ROW = 8
_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def scatter_reduce(
    out: Layout,
    axis: int,
    index: Layout,
    source: Layout,
    reduction: str,
    include_self: bool,
    deterministic: bool,
    skipped: int,
    name: str,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.scatter_reduce`."""
    wide = ACCUMULATED.get(out.dtype, out.dtype)
    identity, ufunc = _identity(reduction, wide), _UFUNCS[reduction]

    # `index` has one index for each slice, broadcast along the other axes.
    shared = include_self and not any(index.strides[other] for other in range(index.ndim) if other != axis)
    width = source.size // max(source.shape[axis], 1)
    by_rows = shared and reduction == "sum" and width >= _ROW and _is_compiled(out, source, axis)
    by_slices = shared and reduction != "mean" and width >= _SLICE

    def add_slices(out: NDArray, index: NDArray, source: NDArray) -> None:
        state = copied(out, wide)
        targets = np.moveaxis(state, axis, 0)[:, *(slice(n) for at, n in enumerate(source.shape) if at != axis)]
        for place, values in zip(index.tolist(), np.moveaxis(source, axis, 0), strict=True):
            if place != skipped:
                ufunc(targets[place], values, out=targets[place])
        assign(out, state)

    def add_elements(out: NDArray, index: NDArray, source: NDArray) -> None:
        places, values = _places(index, axis, out.shape), cast(source, wide)
        kept = index != skipped
        places, values = (each.reshape(-1) if kept.all() else each[kept] for each in (places, values))
        state = copied(out, wide).reshape(-1)
        if not include_self:
            state[places] = identity
        ufunc.at(state, places, values)
        if reduction == "mean":
            _divide(state, places, include_self)
        assign(out, state.reshape(out.shape))

    def add_rows(out: NDArray, index: NDArray, source: NDArray) -> None:
        out, source = (np.moveaxis(each, axis, 0).reshape(each.shape[axis], -1) for each in (out, source))
        places = np.flatnonzero(index != skipped)
        places = places[np.argsort(index[places], kind="stable")]
        assert compiled is not None
        compiled.add_rows(index[places].astype(np.int64), places, buffer_of(out[:, None]), buffer_of(source[None]))

    run = add_rows if by_rows else add_slices if by_slices else add_elements

    def kernel(stream: int, out: NDArray, index: NDArray, source: NDArray) -> None:
        if by_rows or by_slices:
            index = index[tuple(slice(None) if at == axis else 0 for at in range(index.ndim))]
        require_targets(index, out.shape[axis], name)
        quietly(run, out, index, source)

    return kernel


def _is_compiled(out: Layout, source: Layout, axis: int) -> bool:
    """Whether the compiled core adds the slices of these arrays: they are rows or columns of matrices of one width."""
    if compiled is None or out.dtype not in SINGLE:
        return False
    around = [(*each.shape[:axis], *each.shape[axis + 1 :]) for each in (out, source)]
    return around[0] == around[1] and 1 in (prod(out.shape[:axis]), prod(out.shape[axis + 1 :]))


def _places(index: NDArray, axis: int, shape: tuple[int, ...]) -> NDArray:
    """The places of elements in a C-contiguous array of a shape, flattened. `index` has their coordinates on `axis`."""
    strides = contiguous_strides(shape)
    places: NDArray = index.astype(np.int64) * strides[axis]
    for other, (length, stride) in enumerate(zip(index.shape, strides, strict=True)):
        if other != axis:
            places += np.arange(length).reshape(-1, *(1,) * (index.ndim - 1 - other)) * stride
    return places


def _divide(sums: NDArray, places: NDArray, include_self: bool) -> None:
    """Divide each sum by its number of elements, if it has any; integers are rounded down."""
    counts = np.bincount(places, minlength=sums.size)
    found = counts > 0
    by = counts[found] + include_self
    if sums.dtype in REAL_FLOATS:
        sums[found] /= by.astype(sums.dtype)
    else:
        sums[found] = sums[found] // by.astype(np.uint64 if sums.dtype.kind == "u" else np.int64)


def _identity(reduction: str, dtype: DType) -> Any:
    if reduction == "prod":
        return 1
    floating = dtype in REAL_FLOATS
    if reduction in ("min", "max"):
        ends = (np.inf, -np.inf) if floating else (np.iinfo(dtype).max, np.iinfo(dtype).min)
        return ends[reduction == "max"]
    return -0.0 if floating else 0
