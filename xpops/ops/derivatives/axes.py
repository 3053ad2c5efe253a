"""Helpers of derivatives: axes, the results of functions along them, and the identity matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from xpops.core import dtypes as dt

Shape = tuple[int, ...]


def reduced_axes(shape: Shape, axis: Any) -> tuple[int, ...]:
    """The reduced axes, counted from the front; all if `axis` is None.

    Examples
    --------
    >>> reduced_axes((2, 3, 4), -1), reduced_axes((2, 3), None)
    ((2,), (0, 1))
    """
    if axis is None:
        return tuple(range(len(shape)))
    return tuple(each % len(shape) for each in (axis if isinstance(axis, tuple) else (axis,)))


def reduced_size(shape: Shape, axis: Any) -> int:
    """The number of elements of each result.

    Examples
    --------
    >>> reduced_size((2, 3, 4), (0, 2))
    8
    """
    return prod(shape[each] for each in reduced_axes(shape, axis))


def kept(xp: Any, x: Any, shape: Shape, axis: Any) -> Any:
    """The result of a reduction of an array of `shape`, with the reduced axes as axes of length 1."""
    axes = reduced_axes(shape, axis)
    wanted = tuple(1 if each in axes else length for each, length in enumerate(shape))
    broadcasts = axes == tuple(range(len(axes)))  # without the axes, too
    return x if broadcasts or xp.facts(x).shape == wanted else xp.reshape(x, wanted)


def spread(xp: Any, x: Any, shape: Shape, axis: Any) -> Any:
    """The same, repeated along the reduced axes."""
    return xp.spread(kept(xp, x, shape, axis), shape)


def sliced(ndim: int, axis: int, part: slice) -> tuple[slice, ...]:
    """The key that selects a part of an array along an axis."""
    return (slice(None),) * (axis % ndim) + (part,)


def identity_matrix(xp: Any, x: Any, count: int) -> Any:
    """The identity beside `x`, real if `x` is complex: on a GPU torch's compiler cannot copy a complex constant."""
    dtype = xp.facts(x).dtype
    return xp.like(x, xp.eye(count, dtype=dt.REAL_OF.get(dtype, dtype)))
