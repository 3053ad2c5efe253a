"""Functions that reorder, reverse or separate axes. All return views."""

from __future__ import annotations

from xpops.api.foreign import keeps_framework
from xpops.arrays import Array, view_of
from xpops.core.operands import Axes
from xpops.plan.strides import views

__all__ = ["flip", "matrix_transpose", "moveaxis", "permute_dims", "unstack"]


@keeps_framework
def flip(x: Array, /, *, axis: Axes | None = None) -> Array:
    """The elements in reverse order along some axes.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.

    Returns
    -------
    array
        A view.

    Raises
    ------
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.flip(xp.asarray([[1, 2], [3, 4]]), axis=1)
    Array([[2, 1],
           [4, 3]], dtype=int64, device='cpu')
    """
    axes = tuple(range(x.ndim)) if axis is None else views.axes_of(axis, x.ndim, "flip")
    return view_of(x, views.flip(x._layout, axes))


@keeps_framework
def matrix_transpose(x: Array, /) -> Array:
    """The transposes of a stack of matrices.

    Parameters
    ----------
    x : array
        Has shape ``(..., M, N)``.

    Returns
    -------
    array
        A view of shape ``(..., N, M)``.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> xp.matrix_transpose(xp.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: x has shape {x.shape}; accepted: two axes or more")
    return view_of(x, views.permute(x._layout, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)))


@keeps_framework
def moveaxis(x: Array, source: Axes, destination: Axes, /) -> Array:
    """Move some axes to other positions. The other axes keep their order.

    Parameters
    ----------
    x : array
    source, destination : int or tuple of int
        The same number of axes in both.

    Returns
    -------
    array
        A view.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or the numbers of axes differ.

    Examples
    --------
    >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    sources = views.axes_of(source, x.ndim, "moveaxis", "source")
    places = views.axes_of(destination, x.ndim, "moveaxis", "destination")
    if len(sources) != len(places):
        raise ValueError(f"moveaxis: source is {source!r} and destination {destination!r}; accepted: as many of each")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return view_of(x, views.permute(x._layout, order))


@keeps_framework
def permute_dims(x: Array, /, axes: Axes) -> Array:
    """The axes in another order.

    Parameters
    ----------
    x : array
    axes : tuple of int
        Every axis of `x` once; the result's axis i is ``axes[i]``.

    Returns
    -------
    array
        A view.

    Raises
    ------
    ValueError
        If `axes` is not a permutation of all axes.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.permute_dims(xp.zeros((2, 3, 4)), (2, 0, -2)).shape
    (4, 2, 3)
    """
    order = views.axes_of(axes, x.ndim, "permute_dims", "axes")
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: axes is {axes!r}; accepted: each of the {x.ndim} axes once")
    return view_of(x, views.permute(x._layout, order))


@keeps_framework
def unstack(x: Array, /, *, axis: Axes = 0) -> tuple[Array, ...]:
    """The slices of an array along an axis.

    Parameters
    ----------
    x : array
        Has at least one axis.
    axis : int

    Returns
    -------
    tuple of array
        Views without that axis.

    Raises
    ------
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> first, second = xp.unstack(xp.asarray([[1, 2], [3, 4]]), axis=1)
    >>> first
    Array([1, 3], dtype=int64, device='cpu')
    """
    before = (slice(None),) * views.axis_of(axis, x.ndim, "unstack")
    return tuple(x[(*before, position)] for position in range(x.shape[len(before)]))
