"""Shapes and axes: views where the strides allow them."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api.manipulation import axes as _axes
from xpops.api.manipulation import repetition, shapes
from xpops.api.manipulation.padding import pad as _pad
from xpops.arrays.regions import view_of
from xpops.numpy.arguments import arrays_of, as_axes, given, on_arrays
from xpops.plan.strides.views import Region, axis_of

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "expand_dims", "flip",
    "fliplr", "flipud", "moveaxis", "pad", "permute_dims", "ravel", "repeat", "reshape", "resize", "roll",
    "rollaxis", "rot90", "sliding_window_view", "squeeze", "swapaxes", "tile", "transpose",
]  # fmt: skip


def _require_c(order: str, function: str) -> None:
    if order not in ("C", "A", "K"):
        raise TypeError(f"{function}: order is {order!r}; accepted: 'C'")


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """As `numpy.reshape`, in C order."""
    _require_c(order, "reshape")
    return shapes.reshape(given(a), as_axes(shape), copy=copy)


def ravel(a: Any, order: str = "C") -> Any:
    """As `numpy.ravel`, in C order."""
    _require_c(order, "ravel")
    return shapes.reshape(given(a), (-1,))


def transpose(a: Any, axes: Any = None) -> Any:
    """As `numpy.transpose`."""
    a = given(a)
    return _axes.permute_dims(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


permute_dims = transpose


@on_arrays()
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Any:
    """As `numpy.lib.stride_tricks.sliding_window_view`: a read-only view, in which windows share elements."""
    lengths = window_shape if isinstance(window_shape, tuple) else (window_shape,)
    given_axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [axis_of(each, x.ndim, "sliding_window_view") for each in given_axes]
    shape, strides = list(x.shape), x._layout.strides
    if len(lengths) != len(axes):
        raise ValueError(f"sliding_window_view: window_shape is {window_shape!r}; accepted: {len(axes)} lengths")
    for length, along in zip(lengths, axes, strict=True):
        if not 0 <= length <= shape[along]:
            raise ValueError(f"sliding_window_view: a window has {length} elements; accepted: up to {shape[along]}")
        shape[along] -= length - 1
    region = Region(0, (*shape, *lengths), (*strides, *(strides[along] for along in axes)))
    return view_of(x, region, writable=False)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """As `numpy.swapaxes`."""
    a = given(a)
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _axes.permute_dims(a, tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """As `numpy.moveaxis`."""
    return _axes.moveaxis(given(a), as_axes(source), as_axes(destination))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """As `numpy.rollaxis`."""
    a = given(a)
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return _axes.moveaxis(a, axis, start - 1 if axis < start else start)


def expand_dims(a: Any, axis: Any) -> Any:
    """As `numpy.expand_dims`."""
    return shapes.expand_dims(given(a), as_axes(axis))


def squeeze(a: Any, axis: Any = None) -> Any:
    """As `numpy.squeeze`."""
    a = given(a)
    single = tuple(place for place, length in enumerate(a.shape) if length == 1)
    return shapes.squeeze(a, single if axis is None else as_axes(axis))


def broadcast_to(array: Any, shape: Any) -> Any:
    """As `numpy.broadcast_to`."""
    return shapes.broadcast_to(given(array), as_axes(shape))


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """As `numpy.broadcast_arrays`."""
    arrays = arrays_of(args, scalars=True)
    shape = numpy.broadcast_shapes(*(tuple(each.shape) for each in arrays))
    return tuple([shapes.broadcast_to(each, shape) for each in arrays])


def _at_least(count: int, place: Any, arys: tuple[Any, ...]) -> Any:
    found = []
    for a in arrays_of(arys, scalars=True):
        missing = max(count - a.ndim, 0)
        before, after = place(missing, a.ndim)
        found.append(shapes.reshape(a, (*[1] * before, *a.shape, *[1] * after)) if missing else a)
    return found[0] if len(found) == 1 else tuple(found)


def atleast_1d(*arys: Any) -> Any:
    """As `numpy.atleast_1d`."""
    return _at_least(1, lambda missing, ndim: (missing, 0), arys)


def atleast_2d(*arys: Any) -> Any:
    """As `numpy.atleast_2d`."""
    return _at_least(2, lambda missing, ndim: (missing, 0), arys)


def atleast_3d(*arys: Any) -> Any:
    """As `numpy.atleast_3d`: a vector becomes ``(1, N, 1)``, a matrix ``(M, N, 1)``."""
    return _at_least(3, lambda missing, ndim: (missing - 1, 1) if ndim < 2 else (0, missing), arys)


def tile(A: Any, reps: Any) -> Any:
    """As `numpy.tile`."""
    return repetition.tile(given(A), reps if isinstance(reps, int) else tuple(reps))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """As `numpy.repeat`."""
    a = given(a)
    return repetition.repeat(
        shapes.reshape(a, (-1,)) if axis is None else a, _numbers(repeats), axis=0 if axis is None else axis
    )


def _numbers(repeats: Any) -> Any:
    return given(list(repeats)) if isinstance(repeats, (list, tuple)) else repeats


def flip(m: Any, axis: Any = None) -> Any:
    """As `numpy.flip`."""
    return _axes.flip(given(m), axis=as_axes(axis))


def fliplr(m: Any) -> Any:
    """As `numpy.fliplr`."""
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """As `numpy.flipud`."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """As `numpy.rot90`."""
    first, second = axes
    turns = k % 4
    if turns == 0:
        return flip(m, ())
    if turns == 2:
        return flip(m, (first, second))
    return swapaxes(flip(m, second), first, second) if turns == 1 else flip(swapaxes(m, first, second), second)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """As `numpy.roll`."""
    return repetition.roll(given(a), as_axes(shift), axis=as_axes(axis))


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    """As `numpy.pad`, in the modes that `xpops.pad` has."""
    return _pad(given(array), pad_width, mode, **kwargs)


@on_arrays()
def resize(a: Any, new_shape: Any) -> Any:
    """As `numpy.resize`: the elements are repeated as often as needed."""
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    count = 1
    for length in shape:
        count *= length
    line = shapes.reshape(a, (-1,))
    if count <= line.size:
        return shapes.reshape(line[:count], shape, copy=True)
    copies = -(-count // max(line.size, 1))
    return shapes.reshape(repetition.tile(line, (copies,))[:count], shape)
