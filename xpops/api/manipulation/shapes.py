"""Functions that change shapes. All return views, except `reshape` if it has to copy."""

from __future__ import annotations

from typing import Any

from xpops.api.foreign import keeps_framework
from xpops.arrays import Array, adopt_foreign, contiguous_copy, view_of
from xpops.core.layouts import contiguous_strides
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
    given = [adopt_foreign(x, "broadcast_arrays", f"arrays[{i}]") for i, x in enumerate(arrays)]
    shape = broadcast.broadcast_shapes(*(x.shape for x in given), function="broadcast_arrays")
    return tuple(x if x.shape == shape else broadcast_to(x, shape) for x in given)


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


@keeps_framework
def broadcast_to(x: Array, /, shape: Shape) -> Array:
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
    target = views.shape_of(shape, "broadcast_to")
    return view_of(x, views.broadcast_to(x._layout, target), writable=False)


@keeps_framework
def expand_dims(x: Array, /, axis: Axes = 0) -> Array:
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
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    return view_of(x, views.expand_dims(x._layout, views.axes_of(axis, x.ndim + count, "expand_dims")))


@keeps_framework
def reshape(x: Array, /, shape: Shape, *, copy: bool | None = None) -> Array:
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
    target = views.fill_shape(views.shape_of(shape, "reshape", lowest=-1), x.size)
    region = None if copy else views.reshape(x._layout, target)
    if region is None:
        if copy is False:
            raise ValueError(f"reshape: copy is False, but strides cannot show the array in the shape {target}")
        x = contiguous_copy(x)
        region = views.Region(0, target, contiguous_strides(target))
    return view_of(x, region)


@keeps_framework
def squeeze(x: Array, /, axis: Axes) -> Array:
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
    axes = views.axes_of(axis, x.ndim, "squeeze")
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"squeeze: axis {one} has length {x.shape[one]}; accepted: axes of length 1")
    return view_of(x, views.squeeze(x._layout, axes))
