"""Set functions of the standard."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xpops.api.elementwise.comparison import equal, greater_equal, less, not_equal
from xpops.api.elementwise.logical import logical_not
from xpops.api.indexing import take
from xpops.api.manipulation.joining import concat_named
from xpops.api.manipulation.shapes import reshape
from xpops.api.signatures import array_function, scalar_function
from xpops.api.signatures.results import (
    UniqueAll,
    UniqueCounts,
    UniqueInverse,
    unique_all_function,
    unique_counts_function,
    unique_inverse_function,
)
from xpops.api.utility import any
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.promotion import SCALAR_TYPES, promote
from xpops.dispatch.primitives import call
from xpops.dispatch.sets import plan_membership, plan_unique

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


@scalar_function
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether each element of `x1` is equal to any element of `x2`. NaN is equal to nothing.

    Parameters
    ----------
    x1, x2 : array or scalar
        Any dtype but float8; at least one is an array.
    invert : bool
        Whether to negate the result.

    Returns
    -------
    array
        bool, of the shape of `x1`.

    Raises
    ------
    TypeError
        If the dtypes have none in common, or both are scalars.
    OverflowError
        If a scalar is an integer that is out of range for the dtype of the other operand.
    ValueError
        If the arrays are on different devices.

    Examples
    --------
    >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1, 7]))
    Array([ True, False,  True], dtype=bool, device='cpu')
    """
    common = _common_dtype(x1, x2)
    if _is_scalar(x2):
        return (not_equal if invert else equal)(x1, x2)
    if _is_scalar(x1):
        found = any(equal(x2, x1))
        return logical_not(found) if invert else found
    if common in dt.COMPLEX_FLOATS:
        return _isin_complex(x1, x2, invert)
    return call(plan_membership, "isin", ("x1", "x2"), (x1, x2), bool(invert))


@unique_all_function
def unique_all(x: Any, /) -> UniqueAll[Any]:
    """The distinct elements, the indices of their first occurrences, the inverse indices, and the counts.

    Waits for the device.

    Parameters
    ----------
    x : array
        Any dtype but float8. Flattened in C order. Each NaN counts as a different element; -0.0 and 0.0 are the same.

    Returns
    -------
    values : array
        One-dimensional, in ascending order; NaNs come last. Complex elements are ordered by their real parts, then by
        their imaginary parts.
    indices : array
        int64: the index of the first occurrence of each value in the flattened array.
    inverse_indices : array
        int64, of the shape of `x`: for each element its index in `values`.
    counts : array
        int64: how often each value occurs.

    Raises
    ------
    TypeError
        If `x` is not an array, or has a float8 dtype.

    Examples
    --------
    >>> found = xp.unique_all(xp.asarray([3, 1, 3]))
    >>> found.values, found.indices
    (Array([1, 3], dtype=int64, device='cpu'), Array([1, 0], dtype=int64, device='cpu'))
    >>> found.inverse_indices, found.counts
    (Array([1, 0, 1], dtype=int64, device='cpu'), Array([1, 2], dtype=int64, device='cpu'))
    """
    return UniqueAll(*call(plan_unique, "unique_all", ("x",), (x,), "unique_all", UniqueAll._fields))


@unique_counts_function
def unique_counts(x: Any, /) -> UniqueCounts[Any]:
    """The distinct elements, and how often each occurs; see `unique_all`.

    Examples
    --------
    >>> xp.unique_counts(xp.asarray([3, 1, 3])).counts
    Array([1, 2], dtype=int64, device='cpu')
    """
    return UniqueCounts(*call(plan_unique, "unique_counts", ("x",), (x,), "unique_counts", UniqueCounts._fields))


@unique_inverse_function
def unique_inverse(x: Any, /) -> UniqueInverse[Any]:
    """The distinct elements, and for each element of `x` the index of the equal one; see `unique_all`.

    Examples
    --------
    >>> xp.unique_inverse(xp.asarray([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int64, device='cpu')
    """
    return UniqueInverse(*call(plan_unique, "unique_inverse", ("x",), (x,), "unique_inverse", UniqueInverse._fields))


@array_function
def unique_values(x: Any, /) -> Any:
    """The distinct elements, in ascending order; see `unique_all`.

    Examples
    --------
    >>> xp.unique_values(xp.asarray([3, 1, 3]))
    Array([1, 3], dtype=int64, device='cpu')
    """
    return call(plan_unique, "unique_values", ("x",), (x,), "unique_values", ("values",))


def _isin_complex(x1: Any, x2: Any, invert: bool) -> Any:
    """`isin` by `unique_all` of `x2` and `x1` joined: elements of `x2` have their first occurrence in `x2`."""
    found, size = unique_all(concat_named("isin", {"x2": x2, "x1": x1}, None)), math.prod(x2.shape)
    firsts = take(found.indices, reshape(found.inverse_indices[size:], x1.shape))
    return (greater_equal if invert else less)(firsts, size)


def _common_dtype(x1: Any, x2: Any) -> DType:
    """The dtype in which the operands of `isin` are compared."""
    given = {"x1": x1, "x2": x2}
    scalars = {name: x.item() if isinstance(x, np.generic) else x for name, x in given.items() if _is_scalar(x)}
    if len(scalars) == len(given):
        raise TypeError("isin: x1 and x2 are scalars; accepted: at least one array")
    dtypes = [array_layout(x, "isin", name).dtype for name, x in given.items() if name not in scalars]
    common = promote([*dtypes, *map(type, scalars.values())], "isin")
    for name, value in scalars.items():
        if isinstance(value, int) and common in dt.CATEGORIES["integer"]:
            low, high = int(np.iinfo(common).min), int(np.iinfo(common).max)
            if not low <= value <= high:
                raise OverflowError(f"isin: {name} is {value}, which {common} cannot hold; accepted: {low} to {high}")
    return common


def _is_scalar(x: Any) -> bool:
    return isinstance(x, (*SCALAR_TYPES, np.generic))
