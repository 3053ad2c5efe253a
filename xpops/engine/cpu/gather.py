"""Gather and scatter elements by integer indices, on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.engine.program import Kernel, Program
from xpops.plan.gather import gathered_shape, require_places

NDArray = np.ndarray[Any, Any]


def gather(
    x: Layout, axes: tuple[int, ...], indices: tuple[Layout, ...], place: int, names: tuple[str, ...]
) -> Program:
    """See `xpops.engine.protocol.Engine.gather`."""
    count = indices[0].ndim

    def kernel(stream: int, out: NDArray, x: NDArray, *indices: NDArray) -> None:
        places = _places(x, axes, indices, names)
        if axes == (place,):
            np.take(x, places[0], axis=place, out=out, mode="wrap")
        else:
            _to_front(out, range(place, place + count))[...] = _to_front(x, axes)[places]

    return Program((layout_of(x.dtype, gathered_shape(x, axes, indices[0].shape, place), None, CPU),), kernel)


def take_along(x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take_along`."""

    def kernel(stream: int, out: NDArray, x: NDArray, indices: NDArray) -> None:
        (places,) = _places(x, (axis,), (indices,), ("take_along_axis: indices",))
        out[...] = np.take_along_axis(x, places, axis)

    return Program((layout_of(x.dtype, indices.shape, None, CPU),), kernel)


def scatter(
    x: Layout,
    axes: tuple[int, ...],
    indices: tuple[Layout, ...],
    place: int,
    value: Layout,
    names: tuple[str, ...],
) -> Kernel:
    """See `xpops.engine.protocol.Engine.scatter`."""
    count = indices[0].ndim

    def kernel(stream: int, x: NDArray, value: NDArray, *indices: NDArray) -> None:
        values = _to_front(value, range(place, place + count))
        # C-contiguous, so that NumPy writes the values in this order, and the last of several values wins.
        _to_front(x, axes)[_places(x, axes, indices, names)] = np.ascontiguousarray(values).reshape(values.shape)

    return kernel


def _to_front(x: NDArray, axes: Any) -> NDArray:
    return np.moveaxis(x, tuple(axes), range(len(axes)))


def _places(
    x: NDArray, axes: tuple[int, ...], indices: tuple[NDArray, ...], names: tuple[str, ...]
) -> tuple[NDArray, ...]:
    """The indices as C-contiguous int64 arrays, all in range."""
    for axis, each, name in zip(axes, indices, names, strict=True):
        require_places(each, x.shape[axis], name)
    return tuple(np.ascontiguousarray(each, np.int64).reshape(each.shape) for each in indices)
