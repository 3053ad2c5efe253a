"""Functions of the standard that repeat or roll elements."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from xpops.api.creation.ranges import arange
from xpops.api.indexing import take
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import searchsorted
from xpops.api.signatures import array_function
from xpops.api.statistics.extremes import min
from xpops.api.statistics.sums import cumulative_sum
from xpops.arrays import Array, adopt_foreign
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.devices import NOWHERE
from xpops.core.layouts import Layout, layout_of
from xpops.core.operands import Axes, Shape
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call, copier
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.frameworks.registry import adapter_of
from xpops.ops.derivatives import movement as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides import views
from xpops.plan.strides.coalesce import Strides

__all__ = ["repeat", "roll", "tile"]


@array_function
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element, or each slice along an axis, several times.

    Parameters
    ----------
    x : array
    repeats : int or array
        How many times; an array of integers has one number for each element or slice, or one number for all. An array
        waits for the device.
    axis : int, optional
        By default `x` is flattened first, in C order.

    Returns
    -------
    array
        Has the dtype of `x`.

    Raises
    ------
    TypeError
        If `repeats` is neither an integer nor an array of integers.
    ValueError
        If `repeats` contains a negative number, has another length than the axis, or is on another device.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.repeat(xp.asarray([[1, 2], [3, 4]]), 2, axis=1)
    Array([[1, 1, 2, 2],
           [3, 3, 4, 4]], dtype=int64, device='cpu')
    >>> xp.repeat(xp.asarray([1, 2, 3]), xp.asarray([2, 0, 1]))
    Array([1, 1, 3], dtype=int64, device='cpu')
    """
    if isinstance(repeats, Array) or adapter_of(type(repeats)) is not None:
        counts = adopt_foreign(repeats, "repeat", "repeats")
        if counts.size != 1 or counts.ndim > 1:
            return _repeat_each(x, counts, axis)
        repeats = counts.item()
    return call(_plan_repeat, "repeat", ("x",), (x,), axis, _integer(repeats, "repeat", "repeats", lowest=0))


@array_function
def roll(x: Any, /, shift: Axes, *, axis: Axes | None = None) -> Any:
    """The elements shifted along axes. Elements shifted past the end continue at the beginning.

    Parameters
    ----------
    x : array
    shift : int or tuple of int
        By how many elements; a negative shift is towards the beginning. A tuple has one shift for each axis.
    axis : int or tuple of int, optional
        By default `x` is flattened, shifted, and reshaped to its shape.

    Returns
    -------
    array
        Has the dtype and shape of `x`.

    Raises
    ------
    TypeError
        If a shift or an axis is not an integer.
    ValueError
        If `shift` is a tuple, and `axis` is not a tuple of the same length.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.roll(xp.asarray([[1, 2, 3], [4, 5, 6]]), (1, -1), axis=(0, 1))
    Array([[5, 6, 4],
           [2, 3, 1]], dtype=int64, device='cpu')
    """
    given, several = (shift, True) if isinstance(shift, (tuple, list)) else ((shift,), False)
    shifts = tuple(_integer(each, "roll", "shift") for each in given)
    axes = None if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if several and (axes is None or len(axes) != len(shifts)):
        raise ValueError(f"roll: shift is {shift!r} and axis {axis!r}; accepted: as many axes as shifts")
    if axes is not None and not several:
        shifts *= len(axes)
    return call(_plan_roll, "roll", ("x",), (x,), shifts, axes)


@array_function
def tile(x: Any, repetitions: Shape, /) -> Any:
    """An array repeated along its axes.

    Parameters
    ----------
    x : array
    repetitions : tuple of int
        How many times along each axis. If it is shorter than the shape of `x`, it applies to the last axes; if it is
        longer, the result has new axes in front.

    Returns
    -------
    array
        Has the dtype of `x`.

    Raises
    ------
    TypeError
        If `repetitions` contains anything but integers.
    ValueError
        If one of them is negative.

    Examples
    --------
    >>> xp.tile(xp.asarray([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int64, device='cpu')
    """
    counts = views.shape_of(repetitions, "tile", "repetitions")
    return call(_plan_tile, "tile", ("x",), (x,), counts)


def _integer(value: Any, function: str, argument: str, lowest: int | None = None) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {argument} is {value!r}; accepted: integers") from None
    if lowest is not None and found < lowest:
        raise ValueError(f"{function}: {argument} is {found}; accepted: {lowest} and more")
    return found


def _repeat_each(given: Any, counts: Array, axis: Any) -> Any:
    """`repeat` by an array."""
    x = array_layout(given, "repeat", "x")
    if counts.dtype not in dt.CATEGORIES["integer"]:
        raise TypeError(f"repeat: repeats has dtype {counts.dtype}; accepted: an integer, and integer dtypes")
    if x.device not in (counts.device, NOWHERE):
        raise ValueError(
            f"repeat: x is on {x.device} and repeats on {counts.device}; move one with repeats.to_device(x.device)"
        )
    place = 0 if axis is None else views.axis_of(axis, x.ndim, "repeat")
    length = x.size if axis is None else x.shape[place]
    if counts.shape != (length,):
        raise ValueError(f"repeat: repeats has shape {counts.shape}; accepted: ({length},) or (1,)")
    lines = reshape(given, (length,)) if axis is None else given
    total, places = 0, counts
    if length:
        lowest = int(min(counts))
        if lowest < 0:
            raise ValueError(f"repeat: repeats holds {lowest}; accepted: 0 and more")
        ends = cumulative_sum(counts, dtype=dt.int64)
        total = int(ends[-1])
        places = searchsorted(ends, arange(total, device=counts.device), side="right")
    adapter = None if isinstance(given, Array) else adapter_of(type(given))
    if adapter is not None:
        places = adapter.constant(places, given) if adapter.is_traced(given) else adapter.export(places)
    return take(lines, places, axis=place)


@differentiable(derivative.repeat)
def _plan_repeat(engine: Engine, specs: tuple[Operand, ...], axis: Any, count: int) -> Program:
    x = require_array(specs[0], "repeat", "x")
    place = x.ndim - 1 if axis is None else views.axis_of(axis, x.ndim, "repeat")
    before, after = slice(place + 1), slice(place + 1, None)
    shape = (*x.shape[before], count, *x.shape[after])
    strides = (*x.strides[before], 0, *x.strides[after])
    result = (x.size * count,) if axis is None else (*x.shape[:place], x.shape[place] * count, *x.shape[after])
    return _copy_view(engine, x, shape, strides, result)


@differentiable(derivative.tile)
def _plan_tile(engine: Engine, specs: tuple[Operand, ...], counts: tuple[int, ...]) -> Program:
    x = require_array(specs[0], "tile", "x")
    ndim = max(x.ndim, len(counts))
    times = (1,) * (ndim - len(counts)) + counts
    lengths, steps = (1,) * (ndim - x.ndim) + x.shape, (0,) * (ndim - x.ndim) + x.strides
    shape = tuple(n for pair in zip(times, lengths, strict=True) for n in pair)
    strides = tuple(n for step in steps for n in (0, step))
    result = tuple(time * length for time, length in zip(times, lengths, strict=True))
    return _copy_view(engine, x, shape, strides, result)


def _copy_view(engine: Engine, x: Layout, shape: tuple[int, ...], strides: Strides, result: tuple[int, ...]) -> Program:
    """The program that copies the elements of a view of `x`, in C order, to a result of another shape."""
    out = layout_of(x.dtype, result, None, x.device)
    view, wide = layout_of(x.dtype, shape, strides, x.device, x.align), layout_of(x.dtype, shape, None, x.device)
    copy = copier(view, wide)

    def kernel(stream: int, out: Data, x: Data) -> None:
        copy(stream, engine.view(out, 0, wide), engine.view(x, 0, view))

    return Program((out,), kernel)


@differentiable(derivative.roll)
def _plan_roll(
    engine: Engine, specs: tuple[Operand, ...], shifts: tuple[int, ...], axes: tuple[Any, ...] | None
) -> Program:
    x = require_array(specs[0], "roll", "x")
    out = layout_of(x.dtype, x.shape, None, x.device)
    totals = [0] * x.ndim
    for axis, shift in zip(axes or (), shifts, strict=axes is not None):
        totals[views.axis_of(axis, x.ndim, "roll")] += shift
    if not x.size:
        return Program((out,), lambda stream, *data: None)
    if axes is not None:
        return Program((out,), engine.window(x, _within(totals, x.shape), out, None))
    line, flatten = make_dense(engine, x, (x.size,))
    flat = layout_of(x.dtype, line.shape, None, x.device)
    rolled = engine.window(line, _within(shifts, line.shape), flat, None)

    def kernel(stream: int, out: Data, x: Data) -> None:
        data, owner = flatten(stream, x)
        rolled(stream, engine.view(out, 0, flat), data)
        del owner  # kept until the kernel was launched; the pool is ordered on the stream

    return Program((out,), kernel)


def _within(shifts: Iterable[int], lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Shifts of at least 0, less than the lengths."""
    return tuple(shift % length for shift, length in zip(shifts, lengths, strict=True))
