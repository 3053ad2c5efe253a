"""Functions that change shapes. All return views, except `reshape` if it has to copy."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from xpops.api.foreign import adopt_all, keeps_framework
from xpops.api.signatures import array_function
from xpops.arrays import Array, contiguous_copy, view_of
from xpops.arrays.viewing import Step, view
from xpops.core.guards import copies
from xpops.core.operands import Axes, Shape
from xpops.plan.strides import broadcast, views

__all__ = ["broadcast_arrays", "broadcast_shapes", "broadcast_to", "expand_dims", "reshape", "squeeze"]


def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    """Arrays broadcast to their common shape.

    Parameters
    ----------
    *arrays : array

    Returns
    -------
    tuple of Array
        Views; read-only if elements repeat.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> x, y = xp.broadcast_arrays(xp.zeros((3, 1)), xp.zeros(4))
    >>> x.shape, y.shape
    ((3, 4), (3, 4))
    """
    given = adopt_all(arrays, "broadcast_arrays")
    shapes = [x._layout.shape for x in given]
    shape = _common_shape(*shapes)
    return tuple(
        [
            x if own == shape else view(_plan_broadcast, "broadcast_to", x, shape)
            for x, own in zip(given, shapes, strict=True)
        ]
    )


@lru_cache(1024)
def _common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    return broadcast.broadcast_shapes(*shapes, function="broadcast_arrays")


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The common shape to which shapes broadcast.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If they do not broadcast.

    Examples
    --------
    >>> xp.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return broadcast.broadcast_shapes(
        *(views.shape_of(shape, "broadcast_shapes", f"shapes[{i}]") for i, shape in enumerate(shapes))
    )


@array_function
def broadcast_to(x: Any, /, shape: Shape) -> Any:
    """An array broadcast to a shape.

    Parameters
    ----------
    x : array
    shape : tuple of int

    Returns
    -------
    array
        A read-only view.

    Raises
    ------
    ValueError
        If `x` does not broadcast to `shape`.

    Examples
    --------
    >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int64, device='cpu')
    """
    return view(_plan_broadcast, "broadcast_to", x, shape)


@array_function
def expand_dims(x: Any, /, axis: Axes = 0) -> Any:
    """An array with new axes of length 1.

    Parameters
    ----------
    x : array
    axis : int or tuple of int
        The positions of the new axes in the result; negative ones count from its end.

    Returns
    -------
    array
        A view.

    Raises
    ------
    IndexError
        If a position is out of range for the result.
    ValueError
        If a position is named twice.

    Examples
    --------
    >>> xp.expand_dims(xp.zeros((3, 4)), axis=(0, -1)).shape
    (1, 3, 4, 1)
    """
    return view(_plan_expand, "expand_dims", x, axis)


@array_function
def reshape(x: Any, /, shape: Shape, *, copy: bool | None = None) -> Any:
    """The elements, in C order, in another shape.

    Parameters
    ----------
    x : array
    shape : tuple of int
        One length may be -1: it follows from the number of elements.
    copy : bool, optional
        True: always copy. False: never, raise ValueError if a copy is needed. None: a view if the strides allow it.

    Returns
    -------
    array

    Raises
    ------
    ValueError
        If `shape` has another number of elements than `x`, or `copy` is False and a copy is needed.

    Examples
    --------
    >>> xp.reshape(xp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int64, device='cpu')
    """
    return view(_plan_reshape, "reshape", x, shape) if copy is None else _reshape(x, shape, copy)


@array_function
def squeeze(x: Any, /, axis: Axes) -> Any:
    """An array without some axes of length 1.

    Parameters
    ----------
    x : array
    axis : int or tuple of int

    Returns
    -------
    array
        A view.

    Raises
    ------
    ValueError
        If an axis is longer than 1.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.squeeze(xp.zeros((1, 3, 1)), axis=(0, 2)).shape
    (3,)
    """
    return view(_plan_squeeze, "squeeze", x, axis)


def _plan_broadcast(shape: tuple[int, ...], target: Any) -> Step:
    return Step(
        "broadcast_to",
        views.require_broadcast(shape, views.shape_of(target, "broadcast_to"), "broadcast_to"),
    )


def _plan_expand(shape: tuple[int, ...], axis: Any) -> Step:
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    lengths = list(shape)
    for place in sorted(views.axes_of(axis, len(shape) + count, "expand_dims")):
        lengths.insert(place, 1)
    return Step("reshape", tuple(lengths))


def _plan_reshape(shape: tuple[int, ...], target: Any) -> Step:
    return Step("reshape", views.fill_shape(views.shape_of(target, "reshape", lowest=-1), prod(shape)))


def _plan_squeeze(shape: tuple[int, ...], axis: Any) -> Step:
    axes = views.axes_of(axis, len(shape), "squeeze")
    for one in axes:
        if shape[one] != 1:
            raise ValueError(f"squeeze: axis {one} has length {shape[one]}; accepted: axes of length 1")
    return Step("reshape", tuple(length for place, length in enumerate(shape) if place not in axes))


@keeps_framework
def _reshape(x: Array, /, shape: Shape, copy: bool) -> Array:
    """`reshape` with a `copy` of True or False."""
    if copy:
        if copies.is_open:
            copies.report(f"reshape: an array of shape {x.shape} is copied")
        copied: Array = view(_plan_reshape, "reshape", contiguous_copy(x), shape)
        return copied
    target = _plan_reshape(x.shape, shape).argument
    region = views.reshape(x._layout, target)
    if region is None:
        raise ValueError(f"reshape: copy is False, but strides cannot show the array in the shape {target}")
    return view_of(x, region)
