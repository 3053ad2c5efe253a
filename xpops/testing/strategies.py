"""Hypothesis strategies: dtypes, shapes, arrays of every framework, device and layout, keys and views.

Edge cases are drawn often: special values, empty and 0-d arrays, axes of length 1, misaligned starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.engine import devices
from xpops.testing.framework import Framework
from xpops.testing.frameworks import frameworks_on
from xpops.testing.layouts import LAYOUTS

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
except ImportError as error:
    raise ImportError("xpops.testing.strategies needs hypothesis: pip install hypothesis") from error

__all__ = [
    "arrays",
    "broadcastable_shapes",
    "dtypes",
    "elements",
    "keys",
    "numpy_arrays",
    "operands",
    "shapes",
    "views",
]

NDArray = np.ndarray[Any, Any]
Shape = tuple[int, ...]

_REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -1.5, 3.0, np.inf, -np.inf, np.nan, 1e-40, 1e30)


def dtypes(category: str = "arithmetic") -> st.SearchStrategy[DType]:
    """The dtypes of a category of the standard: "boolean", "integer", "real floating-point", "numeric", or others.

    "arithmetic" are all but float8, "any" are all.

    Examples
    --------
    >>> from xpops.testing import strategies
    >>> strategies.dtypes("complex floating-point")
    sampled_from((dtype('complex64'), dtype('complex128')))
    """
    if category not in dt.CATEGORIES:
        raise ValueError(f"dtypes: category is {category!r}; accepted: {', '.join(dt.CATEGORIES)}")
    return st.sampled_from(tuple(dtype for dtype in dt.INFO if dtype in dt.CATEGORIES[category]))


def shapes(*, min_dims: int = 0, max_dims: int = 4, min_side: int = 0, max_side: int = 5) -> st.SearchStrategy[Shape]:
    """Shapes, those of 0-d and empty arrays included.

    Examples
    --------
    >>> from xpops.testing import strategies
    >>> strategies.shapes(min_dims=2)
    array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=5)
    """
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side)


def broadcastable_shapes(count: int = 2, *, max_dims: int = 4, max_side: int = 5) -> st.SearchStrategy[Any]:
    """Tuples of shapes that broadcast to each other.

    Examples
    --------
    >>> from hypothesis import given
    >>> from xpops.testing import strategies
    >>> @given(strategies.broadcastable_shapes(3))
    ... def test(shapes):
    ...     assert xp.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    >>> test()
    """
    drawn = hnp.mutually_broadcastable_shapes(num_shapes=count, min_side=0, max_dims=max_dims, max_side=max_side)
    return drawn.map(lambda found: tuple(found.input_shapes))


def elements(dtype: DType) -> st.SearchStrategy[Any]:
    """Values of a dtype as Python scalars, special ones among them.

    Examples
    --------
    >>> from xpops.testing import strategies
    >>> strategies.elements(xp.bool)
    booleans()
    """
    if dtype == dt.bool:
        return st.booleans()
    if dtype in dt.CATEGORIES["integer"]:
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        edges = [value for value in (low, low + 1, -1, 0, 1, 2, 3, high - 1, high) if low <= value <= high]
        return st.sampled_from(edges) | st.integers(low, high)
    real = st.sampled_from(_REALS) | st.floats(-100, 100, width=16)
    return st.builds(complex, real, real) if dtype in dt.COMPLEX_FLOATS else real


@st.composite
def numpy_arrays(draw: st.DrawFn, dtype: Any = None, shape: Any = None) -> NDArray:
    """C-contiguous NumPy arrays.

    Parameters
    ----------
    dtype : numpy.dtype or strategy, optional
        By default any but float8.
    shape : tuple of int or strategy, optional
        By default `shapes()`.

    Examples
    --------
    >>> from hypothesis import given
    >>> from xpops.testing import strategies
    >>> @given(strategies.numpy_arrays(xp.float32))
    ... def test(x):
    ...     assert x.dtype == xp.float32
    >>> test()
    """
    found = as_dtype(_value(draw, dtype, dtypes()), "numpy_arrays")
    lengths = _value(draw, shape, shapes())
    size = int(np.prod(lengths))
    values = draw(st.lists(elements(found), min_size=size, max_size=size))
    is_exact = found in dt.CATEGORIES["integer or boolean"]
    wide = found if is_exact else np.complex128 if found in dt.COMPLEX_FLOATS else np.float64
    with np.errstate(all="ignore"):
        return np.array(values, wide).astype(found).reshape(lengths)


@st.composite
def arrays(
    draw: st.DrawFn,
    dtype: Any = None,
    shape: Any = None,
    *,
    framework: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Any:
    """Arrays of every framework that is installed, on every device that is there, in every layout.

    Parameters
    ----------
    dtype : numpy.dtype or strategy, optional
        By default any but float8.
    shape : tuple of int or strategy, optional
        By default `shapes()`.
    framework : str or strategy, optional
        "own" (xpops), "capsule" (objects that have ``__dlpack__`` and nothing else), "numpy", "torch", "cupy" or "jax";
        by default any that has arrays of the dtype on the device.
    device : Device, str or strategy, optional
        By default any where the framework has arrays of the dtype.
    layout : str or strategy, optional
        A name of `xpops.testing.LAYOUTS`; by default any that the framework has.

    Examples
    --------
    >>> from hypothesis import given
    >>> from xpops.testing import assert_allclose, strategies, to_numpy
    >>> @given(strategies.arrays(xp.float32, framework="numpy"))
    ... def test(x):
    ...     assert_allclose(xp.negative(x), -to_numpy(x), signed_zeros=True)
    >>> test()
    """
    (found,) = draw(_operands((shape,), dtype, framework, device, layout))
    return found


@st.composite
def operands(
    draw: st.DrawFn,
    count: int = 2,
    dtype: Any = None,
    *,
    framework: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Any:
    """Tuples of arrays for one call: shapes that broadcast, one dtype, framework and device, each its own layout.

    The parameters are those of `arrays`.

    Examples
    --------
    >>> from hypothesis import given
    >>> from xpops.testing import assert_allclose, strategies, to_numpy
    >>> @given(strategies.operands(2, xp.int32))
    ... def test(arrays):
    ...     x, y = map(to_numpy, arrays)
    ...     assert_allclose(xp.maximum(*arrays), np.maximum(x, y))
    >>> test()
    """
    lengths = draw(broadcastable_shapes(count))
    return draw(_operands(lengths, dtype, framework, device, layout))


@st.composite
def _operands(
    draw: st.DrawFn, lengths: tuple[Any, ...], dtype: Any, framework: Any, device: Any, layout: Any
) -> tuple[Any, ...]:
    found = as_dtype(_value(draw, dtype, dtypes()), "arrays")
    name = _value(draw, framework, st.none())
    on = {str(each): _frameworks_of(found, str(each)) for each in devices()}
    place = str(_value(draw, device, st.sampled_from([each for each in on if name in (None, *on[each])] or [*on])))
    there = on.get(place) or _frameworks_of(found, place)
    name = draw(st.sampled_from(sorted(there))) if name is None else name
    if name not in there:
        raise ValueError(f"arrays: no framework {name!r} has {found} on {place}; accepted: {', '.join(sorted(there))}")
    return tuple(draw(_array(there[name], found, each, layout)) for each in lengths)


def _frameworks_of(dtype: DType, device: str) -> dict[str, Framework]:
    return {name: each for name, each in frameworks_on(device).items() if dtype in each.dtypes}


@st.composite
def _array(draw: st.DrawFn, framework: Framework, dtype: DType, shape: Any, layout: Any) -> Any:
    names = tuple(name for name in LAYOUTS if framework.mirrors or name not in ("mirrored", "upside_down"))
    name = _value(draw, layout, st.sampled_from(names))
    if name not in names:
        raise ValueError(f"arrays: layout is {name!r}; accepted: {', '.join(names)}, which {framework.name} has")
    view = LAYOUTS[name](_value(draw, shape, shapes()))
    return framework.view(framework.make(draw(numpy_arrays(dtype, view.base))), view)


def keys(shape: Shape) -> st.SearchStrategy[Any]:
    """Keys of a shape: integers, slices with any step, ``...``, None and tuples of them, in range.

    Examples
    --------
    >>> from xpops.testing import strategies
    >>> strategies.keys((2, 3))
    basic_indices((2, 3), allow_newaxis=True)
    """
    return hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)


def views(shape: Shape) -> st.SearchStrategy[tuple[Any, tuple[int, ...]]]:
    """A key of a shape, and a permutation of the axes that it selects. Together they give any strides.

    Examples
    --------
    >>> from hypothesis import given
    >>> from xpops.testing import strategies
    >>> @given(strategies.views((4, 5)))
    ... def test(view):
    ...     key, order = view
    ...     assert xp.permute_dims(xp.ones((4, 5))[key], order).ndim == len(order)
    >>> test()
    """

    def orders(key: Any) -> st.SearchStrategy[tuple[Any, tuple[int, ...]]]:
        ndim = np.empty(shape, np.int8)[key].ndim
        return st.tuples(st.just(key), st.permutations(range(ndim)).map(tuple))

    return keys(shape).filter(lambda key: isinstance(np.empty(shape)[key], np.ndarray)).flatmap(orders)


def _value(draw: st.DrawFn, given: Any, default: st.SearchStrategy[Any]) -> Any:
    """A parameter: what is given, or a draw from a strategy."""
    chosen = default if given is None else given
    return draw(chosen) if isinstance(chosen, st.SearchStrategy) else chosen
