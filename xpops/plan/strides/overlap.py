"""Whether a result may be written to memory that an operand uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xpops.core.layouts import Layout, extent
from xpops.plan.strides.broadcast import broadcast_strides


def overlaps_itself(layout: Layout) -> bool:
    """Whether two elements may share memory. Errs on the side of True for layouts that interleave axes."""
    reach = 0
    axes = sorted(
        (abs(stride), length) for stride, length in zip(layout.strides, layout.shape, strict=True) if length > 1
    )
    for stride, length in axes:
        if layout.size and stride <= reach:
            return True
        reach += stride * (length - 1)
    return False


class SafeDistance(NamedTuple):
    """The distances from a result to an operand at which no element is overwritten before it is read.

    The distance is the operand's address minus the result's, in bytes. Safe are `above` and more, `below` and less, and
    0 if both are the `same` elements there. Only ranges of bytes are compared: arrays that interleave count as unsafe.
    """

    above: int
    below: int
    same: bool

    def holds(self, distance: int) -> bool:
        """Whether a distance is safe.

        Examples
        --------
        >>> from xpops.core import dtypes as dt
        >>> from xpops.core.devices import CPU
        >>> from xpops.core.layouts import layout_of
        >>> x = layout_of(dt.int8, (8,), None, CPU)
        >>> [safe_distance(x, x).holds(distance) for distance in (0, 4, 8)]
        [True, False, True]
        """
        return distance >= self.above or distance <= self.below or (self.same and distance == 0)


def safe_distance(out: Layout, operand: Layout) -> SafeDistance:
    """The safe distances for a result and an operand of these layouts."""
    same = (
        operand.dtype.itemsize == out.dtype.itemsize
        and broadcast_strides(operand.shape, operand.strides, out.shape) == out.strides
    )
    return distance_apart(out, operand)._replace(same=same)


def distance_apart(out: Layout, operand: Layout) -> SafeDistance:
    """The distances at which `out` and `operand` share no memory."""
    low, high = extent(out)
    other_low, other_high = extent(operand)
    return SafeDistance(high - other_low, low - other_high, False)


# (stride, length) of each axis; strides in bytes, all made positive.
_Axes = tuple[tuple[int, int], ...]
# The most periods of one array that are compared with the other array; if more overlap, memory counts as shared.
_PERIODS = 4


def elements_apart(out: Layout, other: Layout, same: bool = False) -> Callable[[int], bool]:
    """A function that says whether no elements share memory at a distance, which is defined as in `SafeDistance`.

    It also recognises arrays that interleave. At 0 the arrays may share memory if they are the `same` elements there.
    Errs on the side of False.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.layouts import layout_of
    >>> even = layout_of(dt.int8, (4,), (2,), CPU)
    >>> [elements_apart(even, even)(distance) for distance in (0, 1, 2, 7, 8)]
    [False, True, False, True, True]
    """
    above, below, _ = distance_apart(out, other)
    axes, other_axes, nothing = _axes(out), _axes(other), 0 in (out.size, other.size)
    (low, _), (other_low, _), width, other_width = extent(out), extent(other), out.dtype.itemsize, other.dtype.itemsize

    def holds(distance: int) -> bool:
        if nothing or distance >= above or distance <= below or (same and distance == 0):
            return True
        return _interleave(axes, width, other_axes, other_width, distance + other_low - low)

    return holds


def _axes(layout: Layout) -> _Axes:
    item, pairs = layout.dtype.itemsize, zip(layout.strides, layout.shape, strict=True)
    return tuple((abs(stride) * item, length) for stride, length in pairs if stride)


def _interleave(one: _Axes, width: int, other: _Axes, other_width: int, distance: int) -> bool:
    """Whether no elements of two arrays share memory. The widths are the bytes of an element of each.

    The lowest element of `other` is `distance` bytes above that of `one`. Addresses are compared modulo a period, so
    that axes whose strides are multiples of the period do not matter.
    """
    if not -_reach(other) - other_width < distance < _reach(one) + width:
        return True
    strides = [stride for stride, _ in (*one, *other)]
    for period in {max(strides), math.gcd(*strides)} if strides else ():
        within, beside = (tuple(axis for axis in axes if axis[0] % period) for axes in (one, other))
        lowest = 1 - _reach(beside) - other_width
        places = range(lowest + (distance - lowest) % period, _reach(within) + width, period)
        if len(places) <= _PERIODS and all(_interleave(within, width, beside, other_width, each) for each in places):
            return True
    return False


def _reach(axes: _Axes) -> int:
    return sum(stride * (length - 1) for stride, length in axes)
