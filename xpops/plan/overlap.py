"""Whether a result may be written where an operand lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xpops.core.layouts import Layout, extent
from xpops.plan.broadcast import broadcast_strides


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
    """How far an operand must lie from a result, so that every element is read before it is written over.

    The distance is the operand's address minus the result's, in bytes. It is safe from `above` on, up to `below`, and
    at 0 if they are the `same` elements there. Judged by the ranges of bytes: arrays that interleave count as unsafe.
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
    """The safe distances of an operand from a result of these layouts."""
    same = (
        operand.dtype.itemsize == out.dtype.itemsize
        and broadcast_strides(operand.shape, operand.strides, out.shape) == out.strides
    )
    return distance_apart(out, operand)._replace(same=same)


def distance_apart(out: Layout, operand: Layout) -> SafeDistance:
    """The distances at which they share no memory."""
    low, high = extent(out)
    other_low, other_high = extent(operand)
    return SafeDistance(high - other_low, low - other_high, False)


# The strides and lengths of axes, in bytes, all forward.
_Axes = tuple[tuple[int, int], ...]
# So many periods of one array may meet one of another; else they count as sharing memory.
_PERIODS = 4


def elements_apart(out: Layout, other: Layout, same: bool = False) -> Callable[[int], bool]:
    """Whether no elements share memory at a distance, as `SafeDistance` has it, also of arrays that interleave.

    At 0 they may if they are the `same` elements there. Errs on the side of False.

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
    """Whether elements of these widths are apart where the first of the others is at a distance.

    Modulo a period, axes along which both step by multiples of it do not count.
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
