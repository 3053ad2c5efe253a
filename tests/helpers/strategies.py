"""Hypothesis strategies: shapes, arrays of every dtype with special values, keys and the views that they select."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]

INTEGERS = dt.SIGNED_INTEGERS + dt.UNSIGNED_INTEGERS
ALL_DTYPES = tuple(dt.INFO)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
SPECIAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -1.5, 3.0, np.inf, -np.inf, np.nan, 1e-40, 1e30)


def elements(dtype: DType) -> st.SearchStrategy[Any]:
    """Values of a dtype. Edge cases are drawn often."""
    if dtype == dt.bool:
        return st.booleans()
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        edges = [value for value in (low, low + 1, -1, 0, 1, 2, 3, high - 1, high) if low <= value <= high]
        return st.sampled_from(edges) | st.integers(low, high)
    real = st.sampled_from(SPECIAL_FLOATS) | st.floats(-100, 100, width=16)
    return st.builds(complex, real, real) if dtype in dt.COMPLEX_FLOATS else real


@st.composite
def host_arrays(draw: st.DrawFn, dtype: DType, shapes: st.SearchStrategy[tuple[int, ...]] = SHAPES) -> NDArray:
    """A C-contiguous ndarray."""
    shape = draw(shapes)
    size = int(np.prod(shape))
    values = draw(st.lists(elements(dtype), min_size=size, max_size=size))
    wide = np.complex128 if dtype in dt.COMPLEX_FLOATS else np.float64
    with np.errstate(all="ignore"):
        host = np.array(values, dtype if dtype == dt.bool or dtype in INTEGERS else wide).astype(dtype)
    return host.reshape(shape)


def basic_keys(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Integers, slices with any step, ``...``, None and tuples of them, in range."""
    return hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)


def views_of(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[Any, tuple[int, ...]]]:
    """A key, and a permutation of the axes that it selects. Together they give any strides."""

    def orders(key: Any) -> st.SearchStrategy[tuple[Any, tuple[int, ...]]]:
        ndim = np.empty(shape, np.int8)[key].ndim
        return st.tuples(st.just(key), st.permutations(range(ndim)).map(tuple))

    return basic_keys(shape).filter(lambda key: isinstance(np.empty(shape)[key], np.ndarray)).flatmap(orders)
