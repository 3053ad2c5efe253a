"""Functions that reorder, reverse or separate axes. All return views."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function, tuple_function
from xpops.arrays.viewing import Step, view
from xpops.core.operands import Axes
from xpops.plan.strides import views

__all__ = ["flip", "matrix_transpose", "moveaxis", "permute_dims", "unstack"]


@array_function
def flip(x: Any, /, *, axis: Axes | None = None) -> Any:
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
    return view(_plan_flip, "flip", x, axis)


@array_function
def matrix_transpose(x: Any, /) -> Any:
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
    return view(_plan_transpose, "matrix_transpose", x)


@array_function
def moveaxis(x: Any, source: Axes, destination: Axes, /) -> Any:
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
    return view(_plan_move, "moveaxis", x, source, destination)


@array_function
def permute_dims(x: Any, /, axes: Axes) -> Any:
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
    return view(_plan_permute, "permute_dims", x, axes)


@tuple_function
def unstack(x: Any, /, *, axis: Axes = 0) -> tuple[Any, ...]:
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
    parts: tuple[Any, ...] = view(_plan_unstack, "unstack", x, axis)
    return parts


def _plan_flip(shape: tuple[int, ...], axis: Any) -> Step:
    return Step("flip", tuple(range(len(shape))) if axis is None else views.axes_of(axis, len(shape), "flip"))


def _plan_transpose(shape: tuple[int, ...]) -> Step:
    if len(shape) < 2:
        raise ValueError(f"matrix_transpose: x has shape {shape}; accepted: two axes or more")
    return Step("permute", (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2))


def _plan_move(shape: tuple[int, ...], source: Any, destination: Any) -> Step:
    sources = views.axes_of(source, len(shape), "moveaxis", "source")
    places = views.axes_of(destination, len(shape), "moveaxis", "destination")
    if len(sources) != len(places):
        raise ValueError(f"moveaxis: source is {source!r} and destination {destination!r}; accepted: as many of each")
    order = [axis for axis in range(len(shape)) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return Step("permute", tuple(order))


def _plan_permute(shape: tuple[int, ...], axes: Any) -> Step:
    order = views.axes_of(axes, len(shape), "permute_dims", "axes")
    if len(order) != len(shape):
        raise ValueError(f"permute_dims: axes is {axes!r}; accepted: each of the {len(shape)} axes once")
    return Step("permute", order)


def _plan_unstack(shape: tuple[int, ...], axis: Any) -> Step:
    return Step("unstack", views.axis_of(axis, len(shape), "unstack"))
