"""Scatter reductions, on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.dtypes import REAL_FLOATS, DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import ACCUMULATED, cast
from xpops.engine.program import Kernel
from xpops.plan.scatter import require_targets

NDArray = np.ndarray[Any, Any]

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

    def kernel(stream: int, out: NDArray, index: NDArray, source: NDArray) -> None:
        require_targets(index, out.shape[axis], name)
        places: list[NDArray] = list(np.indices(index.shape, sparse=True))
        places[axis] = index.astype(np.int64)
        kept = index != skipped
        at = tuple(np.broadcast_to(each, index.shape)[kept] for each in places)
        state = out.astype(wide)
        if not include_self:
            state[at] = identity
        with np.errstate(all="ignore"):
            ufunc.at(state, at, source[kept].astype(wide, copy=False))
            if reduction == "mean":
                _divide(state, at, include_self)
        out[...] = cast(state, out.dtype)

    return kernel


def _divide(sums: NDArray, at: tuple[NDArray, ...], include_self: bool) -> None:
    """Divide each sum by its number of elements, if it has any; integers are rounded down."""
    counts = np.zeros(sums.shape, np.int64)
    np.add.at(counts, at, 1)
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
