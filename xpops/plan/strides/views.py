"""Views: parts of an array, selected by another offset, shape and strides, without touching data."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from xpops.core.errors import describe
from xpops.core.layouts import Layout, contiguous_strides
from xpops.core.symbols import integer
from xpops.plan.strides.broadcast import broadcast_shapes, broadcast_strides


class Region(NamedTuple):
    """A view of an array.

    Attributes
    ----------
    offset : int
        From the array's first element to the region's, in elements; 0 if the region is empty.
    shape, strides : tuple of int
        The shape and strides of the region; strides in elements.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def axis_of(axis: Any, ndim: int, function: str, argument: str = "axis") -> int:
    """`axis` counted from the front.

    Raises
    ------
    TypeError
        If it is not an integer.
    IndexError
        If it is not in ``[-ndim, ndim)``.

    Examples
    --------
    >>> axis_of(-1, 3, "flip")
    2
    """
    try:
        found = None if isinstance(axis, bool) else operator.index(axis)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{function}: {argument} is {axis!r}; accepted: an integer")
    if not -ndim <= found < ndim:
        accepted = f"{-ndim} to {ndim - 1} for {ndim} axes" if ndim else "arrays of one axis or more"
        raise IndexError(f"{function}: {argument} is {found}; accepted: {accepted}")
    return found % ndim


def axes_of(axes: Any, ndim: int, function: str, argument: str = "axis") -> tuple[int, ...]:
    """One or several axes counted from the front, in the order given.

    Raises
    ------
    ValueError
        If an axis is named twice.
    """
    given = axes if isinstance(axes, (tuple, list)) else (axes,)
    found = tuple(axis_of(axis, ndim, function, argument) for axis in given)
    if len(set(found)) != len(found):
        raise ValueError(f"{function}: {argument} is {axes!r}, which names an axis twice; accepted: distinct axes")
    return found


def shape_of(shape: Any, function: str, argument: str = "shape", lowest: int = 0) -> tuple[int, ...]:
    """A shape given as an integer or a sequence of integers, each at least `lowest`. Symbols remain.

    Raises
    ------
    TypeError
        If it holds anything but integers.
    ValueError
        If a length is too small.
    """
    single = not isinstance(shape, (tuple, list)) and hasattr(shape, "__index__") and getattr(shape, "ndim", 0) == 0
    try:
        found = tuple(map(integer, (shape,) if single else shape))
    except TypeError:
        raise TypeError(f"{function}: {argument} is {shape!r}; accepted: an integer or a tuple of integers") from None
    if any(length < lowest for length in found):
        raise ValueError(f"{function}: {argument} is {found}; accepted: lengths of {lowest} or more")
    return found


def index(layout: Layout, key: Any) -> Region:
    """Basic indexing: integers, slices, ``...``, None, and tuples of them.

    Raises
    ------
    IndexError
        If the key is out of range, too long, or of another kind.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.layouts import layout_of
    >>> index(layout_of(np.dtype("int8"), (4, 5), None, CPU), (1, slice(None, None, -2)))
    Region(offset=9, shape=(3,), strides=(-2,))
    """
    given = key if isinstance(key, tuple) else (key,)
    used = len(given) - given.count(None)
    if Ellipsis in given or used > layout.ndim:
        given = with_whole_axes(given, used - given.count(Ellipsis), layout.ndim)
    offset, axis = 0, 0
    shape: list[int] = []
    strides: list[int] = []
    for part in given:
        if part is None:
            shape.append(1)
            strides.append(0)
            continue
        length, stride = layout.shape[axis], layout.strides[axis]
        if isinstance(part, slice):
            start, stop, step = slice_bounds(part, length)
            shape.append(len(range(start, stop, step)))
            strides.append(step * stride)
        else:
            start = part if part.__class__ is int and 0 <= part < length else position(part, length, axis)
        offset += start * stride
        axis += 1
    whole = (*shape, *layout.shape[axis:])
    return Region(0 if 0 in whole else offset, whole, (*strides, *layout.strides[axis:]))


def with_whole_axes(parts: tuple[Any, ...], used: int, ndim: int) -> tuple[Any, ...]:
    """The parts of a key, with slices of whole axes for ``...`` and for missing parts; `used` parts index an axis each.

    Raises
    ------
    IndexError
        If `used` exceeds the number of axes, or there are several ``...``.
    """
    if used > ndim:
        raise IndexError(f"index: {used} indices for an array of {ndim} axes")
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("index: several '...' in one key; accepted: one at most")
    place = dots[0] if dots else len(parts)
    return (*parts[:place], *(slice(None),) * (ndim - used), *parts[place + 1 :])


def slice_bounds(part: slice, length: int) -> tuple[int, int, int]:
    """The start, stop and step of a slice of an axis.

    Raises
    ------
    IndexError
        If it is no slice of integers, or its step is 0.
    """
    try:
        return part.indices(length)
    except (TypeError, ValueError) as error:
        raise IndexError(f"index: {part} is no slice of integers with a step other than 0") from error


def position(part: Any, length: int, axis: int) -> int:
    """An integer index counted from the front.

    Raises
    ------
    IndexError
        If it is no integer, or out of range.
    """
    try:
        if isinstance(part, bool):
            raise TypeError
        found = operator.index(part)
    except TypeError:
        raise IndexError(
            f"index: {describe(part)} along axis {axis}; accepted: integers, slices, '...', None, and arrays or "
            "lists of integers or booleans"
        ) from None
    if not -length <= found < length:
        raise IndexError(f"index: {found} is out of range for axis {axis} of length {length}")
    return found % length


def permute(layout: Layout, axes: Sequence[int]) -> Region:
    """The axes in another order."""
    return Region(0, tuple(layout.shape[axis] for axis in axes), tuple(layout.strides[axis] for axis in axes))


def flip(layout: Layout, axes: Sequence[int]) -> Region:
    """The elements along `axes` in reverse."""
    offset, strides = 0, list(layout.strides)
    for axis in axes:
        offset += (layout.shape[axis] - 1) * strides[axis]
        strides[axis] = -strides[axis]
    return Region(0 if layout.size == 0 else offset, layout.shape, tuple(strides))


def diagonal(layout: Layout, offset: int) -> Region:
    """The diagonals of matrices along the last two axes, `offset` above the main one."""
    (*batch, rows, columns), (*steps, down, right) = layout.shape, layout.strides
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    shape = (*batch, count)
    start = offset * right if offset > 0 else -offset * down
    return Region(0 if 0 in shape else start, shape, (*steps, down + right))


def expand_dims(layout: Layout, axes: Sequence[int]) -> Region:
    """New axes of length 1 at the places `axes` of the result."""
    shape, strides = list(layout.shape), list(layout.strides)
    for axis in sorted(axes):
        shape.insert(axis, 1)
        strides.insert(axis, 0)
    return Region(0, tuple(shape), tuple(strides))


def squeeze(layout: Layout, axes: Sequence[int]) -> Region:
    """The array without the axes `axes`, whose lengths are 1."""
    return permute(layout, [axis for axis in range(layout.ndim) if axis not in axes])


def broadcast_to(layout: Layout, shape: tuple[int, ...], function: str = "broadcast_to") -> Region:
    """The elements repeated to `shape`, by strides of 0.

    Raises
    ------
    ValueError
        If the array does not broadcast to exactly `shape`.
    """
    require_broadcast(layout.shape, shape, function)
    return Region(0, shape, broadcast_strides(layout.shape, layout.strides, shape))


def require_broadcast(shape: tuple[int, ...], target: tuple[int, ...], function: str) -> tuple[int, ...]:
    """`target`; ValueError if an array of `shape` does not broadcast to exactly that."""
    if broadcast_shapes(shape, target, function=function) != target:
        raise ValueError(f"{function}: x has shape {shape}, which does not broadcast to {target}")
    return target


def reshape(layout: Layout, shape: tuple[int, ...]) -> Region | None:
    """The same elements, in C order, in another shape of the same size; None if that takes a copy.

    Neighbouring axes that are one axis with one stride form a run. From the innermost axis on, the length of each new
    axis must divide the remaining length of the current run.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.layouts import layout_of
    >>> transposed = layout_of(np.dtype("int8"), (4, 6), (1, 4), CPU)
    >>> reshape(transposed, (2, 2, 6)), reshape(transposed, (24,))
    (Region(offset=0, shape=(2, 2, 6), strides=(2, 1, 4)), None)
    """
    if layout.size == 0:
        return Region(0, shape, contiguous_strides(shape))
    runs: list[tuple[int, int]] = []
    for length, stride in zip(layout.shape, layout.strides, strict=True):
        if length == 1:
            continue
        if runs and runs[-1][1] == stride * length:
            length *= runs.pop()[0]
        runs.append((length, stride))
    room, step = 1, 0
    strides: list[int] = []
    for length in reversed(shape):
        if length > 1 and room == 1:
            room, step = runs.pop()
        if room % length:
            return None
        strides.append(step)
        room //= length
        step *= length
    return Region(0, shape, tuple(reversed(strides)))


def fill_shape(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """`shape`, with -1 replaced by the length that makes it hold `size` elements.

    Raises
    ------
    ValueError
        If no length does so, or there are several -1.

    Examples
    --------
    >>> fill_shape((2, -1), 6)
    (2, 3)
    """
    known = 1
    for length in shape:
        known *= length if length != -1 else 1
    missing = shape.count(-1)
    found = tuple(size // known if length == -1 else length for length in shape) if known else shape
    if missing > 1 or (missing and (not known or size % known)) or (not missing and known != size):
        raise ValueError(f"reshape: shape is {shape}; accepted: shapes of {size} elements, with one -1 at most")
    return found
