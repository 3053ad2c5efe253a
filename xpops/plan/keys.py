"""Index keys with arrays: the view to index, the axes that arrays index, and the position of the arrays' own axes."""

from __future__ import annotations

from typing import Any, NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.strides.views import Region, position, slice_bounds, with_whole_axes

# Placeholders in a key: for an array of integers, and for the array that a 0-d mask becomes, which indexes a new axis.
ARRAY, NEW_ARRAY = "array", "new array"

# None, ..., an int, a placeholder, a slice, or its (start, stop, step), since slices may not be hashable.
Part = Any


class Indexed(NamedTuple):
    """The axes of a view that arrays index.

    Attributes
    ----------
    axes : tuple of int
        The axis of the view that each array indexes.
    names : tuple of str
        The names of the arrays in errors.
    position : int
        That of the arrays' common shape among the other axes. If all arrays are adjacent in the key, it
        replaces the first one; otherwise it is first. Integers count as arrays here.
    """

    axes: tuple[int, ...]
    names: tuple[str, ...]
    position: int


def select(layout: Layout, parts: tuple[Part, ...]) -> tuple[Region, Indexed]:
    """The view that the slices, integers and None of a key select, and the axes of it that the key's arrays index.

    Axes that arrays index are whole in the view.

    Raises
    ------
    IndexError
        If a part is out of range, or there are too many parts.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.layouts import layout_of
    >>> x = layout_of(dt.int8, (4, 5, 6), None, CPU)
    >>> region, indexed = select(x, (slice(1, 3), "array", "array"))
    >>> region.shape, indexed.axes, indexed.position
    ((2, 5, 6), (1, 2), 1)
    >>> select(x, ("array", slice(None), 0))[1].position
    0
    """
    used = sum(part is not None and part is not Ellipsis and part != NEW_ARRAY for part in parts)
    offset, axis = 0, 0
    shape: list[int] = []
    strides: list[int] = []
    axes: list[int] = []
    names: list[str] = []
    first = None  # position of the first array or integer among the other axes
    for part in with_whole_axes(parts, used, layout.ndim):
        array = isinstance(part, str)
        if first is None and _is_advanced(part):
            first = len(shape) - len(axes)
        if array:
            names.append(f"index: the array for axis {axis}")
            axes.append(len(shape))
        if part is None or part == NEW_ARRAY:
            shape.append(1)
            strides.append(0)
            continue
        length, stride = layout.shape[axis], layout.strides[axis]
        if array:
            shape.append(length)
            strides.append(stride)
        elif isinstance(part, (slice, tuple)):
            start, stop, step = slice_bounds(part if isinstance(part, slice) else slice(*part), length)
            shape.append(len(range(start, stop, step)))
            strides.append(step * stride)
            offset += start * stride
        else:
            offset += position(part, length, axis) * stride
        axis += 1
    numbers = [number for number, part in enumerate(parts) if _is_advanced(part)]
    together = numbers[-1] - numbers[0] == len(numbers) - 1
    region = Region(0 if 0 in shape else offset, tuple(shape), tuple(strides))
    return region, Indexed(tuple(axes), tuple(names), first if first and together else 0)


def _is_advanced(part: Part) -> bool:
    """Whether a part is an array, or an integer, which counts as an array in a key with arrays. ``...`` never does."""
    return not (part is None or part is Ellipsis or isinstance(part, (slice, tuple)))
