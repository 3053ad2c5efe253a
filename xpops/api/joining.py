"""Joining arrays."""

from __future__ import annotations

from typing import Any

from xpops.core.layouts import Layout, alignment, contiguous_strides, layout_of
from xpops.core.promotion import promote
from xpops.dispatch.dense import require_array
from xpops.dispatch.primitives import compute, copier
from xpops.engine.protocol import Data, Engine, Program
from xpops.plan import views
from xpops.plan.signature import Operand

__all__ = ["concat"]


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Arrays one after the other along an axis.

    Parameters
    ----------
    arrays : tuple or list of array
        Of the same shape but along `axis`.
    axis : int or None
        None: all are flattened first, in the order of C.

    Returns
    -------
    array
        Has the dtype that those of all promote to.

    Raises
    ------
    TypeError
        If `arrays` is no tuple or list, holds anything but arrays, or their dtypes have none in common.
    ValueError
        If there is no array, or the shapes differ along another axis.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.concat([xp.asarray([[1], [2]]), xp.asarray([[3, 4], [5, 6]])], axis=1)
    Array([[1, 3, 4],
           [2, 5, 6]], dtype=int64, device='cpu')
    """
    if not isinstance(arrays, (tuple, list)):
        raise TypeError(f"concat: arrays is a {type(arrays).__qualname__}; accepted: a tuple or list of arrays")
    if not arrays:
        raise ValueError("concat: arrays is empty; accepted: one array or more")
    return joined("concat", {f"arrays[{i}]": x for i, x in enumerate(arrays)}, axis)


def joined(function: str, arrays: dict[str, Any], axis: int | None) -> Any:
    """`concat` of arrays by the names that they have in the public `function`, for errors."""
    return compute(_plan, function, tuple(arrays), tuple(arrays.values()), axis, function, tuple(arrays))


def _plan(engine: Engine, specs: tuple[Operand, ...], axis: Any, function: str, names: tuple[str, ...]) -> Program:
    parts = [require_array(spec, function, name) for spec, name in zip(specs, names, strict=True)]
    dtype, device = promote([part.dtype for part in parts], function), parts[0].device
    if axis is None:
        out = layout_of(dtype, (sum(part.size for part in parts),), None, device)
        step = 1
    else:
        axis = views.axis_of(axis, parts[0].ndim, function)
        _require_alike(parts, axis, function, names)
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        out = layout_of(dtype, tuple(shape), None, device)
        step = contiguous_strides(out.shape)[axis]
    pieces, start = [], 0
    for part in parts:
        strides = contiguous_strides(part.shape) if axis is None else out.strides
        offset = start * step
        region = layout_of(dtype, part.shape, strides, device, alignment(offset * dtype.itemsize))
        if part.size:
            pieces.append((offset, region, copier(part, region)))
        start += part.size if axis is None else part.shape[axis]
    present = [part.size > 0 for part in parts]

    def kernel(stream: int, out: Data, *operands: Data) -> None:
        full = (data for data, there in zip(operands, present, strict=True) if there)
        for (offset, region, copy), data in zip(pieces, full, strict=True):
            copy(stream, engine.view(out, offset, region), data)

    return Program((out,), kernel)


def _require_alike(parts: list[Layout], axis: int, function: str, names: tuple[str, ...]) -> None:
    first = parts[0]
    for part, name in zip(parts, names, strict=True):
        if part.ndim != first.ndim or _without(part, axis) != _without(first, axis):
            raise ValueError(
                f"{function}: {name} has shape {part.shape} and {names[0]} {first.shape}; "
                f"accepted: the same but along axis {axis}"
            )


def _without(layout: Layout, axis: int) -> tuple[int, ...]:
    return layout.shape[:axis] + layout.shape[axis + 1 :]
