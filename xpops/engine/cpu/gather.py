"""Gather and scatter elements by integer indices, on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.engine.program import Kernel, Program
from xpops.plan.gather import gathered_shape, require_in_range

NDArray = np.ndarray[Any, Any]


def gather(
    x: Layout, axes: tuple[int, ...], indices: tuple[Layout, ...], position: int, names: tuple[str, ...]
) -> Program:
    """See `xpops.engine.protocol.Engine.gather`."""
    count = indices[0].ndim

    def kernel(stream: int, out: NDArray, x: NDArray, *indices: NDArray) -> None:
        found = _valid_indices(x, axes, indices, names)
        if axes == (position,):
            np.take(x, found[0], axis=position, out=out, mode="wrap")
        else:
            _to_front(out, range(position, position + count))[...] = _to_front(x, axes)[found]

    return Program((layout_of(x.dtype, gathered_shape(x, axes, indices[0].shape, position), None, CPU),), kernel)


def take_along(x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take_along`."""

    def kernel(stream: int, out: NDArray, x: NDArray, indices: NDArray) -> None:
        (found,) = _valid_indices(x, (axis,), (indices,), ("take_along_axis: indices",))
        out[...] = np.take_along_axis(x, found, axis)

    return Program((layout_of(x.dtype, indices.shape, None, CPU),), kernel)


def scatter(
    x: Layout,
    axes: tuple[int, ...],
    indices: tuple[Layout, ...],
    position: int,
    value: Layout,
    names: tuple[str, ...],
) -> Kernel:
    """See `xpops.engine.protocol.Engine.scatter`."""
    count = indices[0].ndim

    def kernel(stream: int, x: NDArray, value: NDArray, *indices: NDArray) -> None:
        values = _to_front(value, range(position, position + count))
        # C-contiguous, so that NumPy writes the values in this order, and the last of several values wins.
        _to_front(x, axes)[_valid_indices(x, axes, indices, names)] = np.ascontiguousarray(values).reshape(values.shape)

    return kernel


def _to_front(x: NDArray, axes: Any) -> NDArray:
    return np.moveaxis(x, tuple(axes), range(len(axes)))


def _valid_indices(
    x: NDArray, axes: tuple[int, ...], indices: tuple[NDArray, ...], names: tuple[str, ...]
) -> tuple[NDArray, ...]:
    """The indices as C-contiguous int64 arrays, all in range."""
    for axis, each, name in zip(axes, indices, names, strict=True):
        require_in_range(each, x.shape[axis], name)
    return tuple(np.ascontiguousarray(each, np.int64).reshape(each.shape) for each in indices)
