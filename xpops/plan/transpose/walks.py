"""Boxes of an array's elements, and the walks in which the threads of a block visit them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import NamedTuple

from xpops.plan.strides.coalesce import SECTOR_BYTES

Axes = tuple[int, ...]  # one number for each axis

# A block with fewer steps takes longer to begin than to move its elements.
_FEW_STEPS = 4
# The number of steps is a multiple of 4 below 32: the kernel has 32 bits, one for each step.
_MOST_STEPS = 28


class Boxes(NamedTuple):
    """The boxes of ``kernels/transpose/boxed.cuh``.

    Attributes
    ----------
    axes : int
        Those along which a box has more than one element.
    steps : int
        The elements of the result that a thread computes.
    shared : int
        The elements of shared memory of an operand.
    orders : tuple of int
        The number of the order in which threads walk a box of the result, and of each operand that is an array.
    """

    axes: int
    steps: int
    shared: int
    orders: tuple[int, ...]


class Walk(NamedTuple):
    """How the threads of a block visit the elements of a box in one order of its axes.

    Attributes
    ----------
    radices : tuple of int
        The elements of a step along each axis, from the axis that changes the fastest.
    at : list of tuple of int
        The coordinates of each step's first element, along the same axes.
    """

    radices: Axes
    at: list[Axes]


def walk_of(sizes: Axes, threads: int) -> Walk:
    """The walk of a box with at most so many threads; `sizes` begins with the axis that changes the fastest.

    A step has all elements along the first axes, and a whole part of the next axis.

    Examples
    --------
    >>> walk_of((3, 64, 2), 100)
    Walk(radices=(3, 32, 1), at=[(0, 0, 0), (0, 32, 0), (0, 0, 1), (0, 32, 1)])
    """
    radices = _radices(sizes, threads)
    digits = [range(0, size, radix) for size, radix in zip(sizes, radices, strict=True)]
    return Walk(radices, [at[::-1] for at in product(*reversed(digits))])


def box_of(shape: tuple[int, ...], orders: dict[Axes, int], threads: int, steps: int) -> Axes:
    """The sizes of a box in which each array has runs of similar lengths.

    Each walk has at most so many steps; more, if a length without small divisors leaves too few otherwise.

    Parameters
    ----------
    shape : tuple of int
    orders : dict
        The axes of each array, from the one along which its stride is the smallest, and its bytes of an element.
    threads, steps : int
        The threads of a block, and the most elements of a thread.

    Examples
    --------
    >>> box_of((100, 200, 3), {(2, 1, 0): 2, (0, 2, 1): 2}, 256, 16)
    (50, 16, 3)
    >>> box_of((1000, 1000), {(1, 0): 4, (0, 1): 1}, 256, 8)
    (64, 32)
    >>> box_of((10000, 19), {(1, 0): 2, (0, 1): 2}, 256, 16)
    (128, 19)
    """
    most, few = threads * steps, _FEW_STEPS * threads
    box = _box_of_runs(shape, orders, threads, most, steps)
    if prod(box) >= few:
        return box
    long_walks = _box_of_runs(shape, orders, threads, most, _MOST_STEPS)
    boxes = [
        _box_of_more_runs(each, shape, orders, threads, most, limit)
        for each, limit in ((box, steps), (long_walks, _MOST_STEPS))
    ]

    def quality(box: Axes) -> tuple[int, int, float]:
        """Whole sectors, enough elements, and then most of the threads at work in each step."""
        shortest = min(_run(box, shape, order, item) for order, item in orders.items())
        return min(shortest, SECTOR_BYTES), min(prod(box), few), prod(box) / max(_walks_steps(box, orders, threads))

    return max(boxes, key=quality)


def _box_of_runs(shape: tuple[int, ...], orders: dict[Axes, int], threads: int, most: int, steps: int) -> Axes:
    """The box of at most so many elements, whose walks have at most so many steps."""
    box = (1,) * len(shape)
    growing = dict(orders)
    while growing:
        order = min(growing, key=lambda order: _run(box, shape, order, growing[order]))
        axis = next((axis for axis in order if box[axis] < shape[axis]), None)
        longer = None if axis is None else _longer_box(box, axis, shape, orders, threads, most, steps)
        if longer is None:
            del growing[order]
        else:
            box = longer
    return box


def _box_of_more_runs(
    box: Axes, shape: tuple[int, ...], orders: Iterable[Axes], threads: int, most: int, steps: int
) -> Axes:
    """The box that is longer along any axes, until it has a few steps, if it can be."""
    while prod(box) < _FEW_STEPS * threads:
        axes = [axis for order in orders for axis in order]
        longer = (_longer_box(box, axis, shape, orders, threads, most, steps) for axis in axes)
        found = next((each for each in longer if each is not None), None)
        if found is None:
            break
        box = found
    return box


def _longer_box(
    box: Axes, axis: int, shape: tuple[int, ...], orders: Iterable[Axes], threads: int, most: int, steps: int
) -> Axes | None:
    """The box that is longer along an axis; None if the axis ends, or the box or a walk would be too long."""
    longer = (*box[:axis], _longer(box[axis], shape[axis], most), *box[axis + 1 :])
    fits = prod(longer) <= most and max(_walks_steps(longer, orders, threads)) <= steps
    return longer if fits and longer != box else None


def _walks_steps(box: Axes, orders: Iterable[Axes], threads: int) -> list[int]:
    """The number of steps of the walk in each order."""
    return [_steps(tuple(box[axis] for axis in order), threads) for order in orders]


def _radices(sizes: Axes, threads: int) -> Axes:
    """The elements of a step along each axis."""
    radices, left = list[int](), threads
    for size in sizes:
        radix = next(part for part in range(min(size, left), 0, -1) if size % part == 0)
        left = left // radix if radix == size else 1
        radices.append(radix)
    return tuple(radices)


def _steps(sizes: Axes, threads: int) -> int:
    """The number of steps of a walk."""
    return prod(sizes) // prod(_radices(sizes, threads))


def _longer(size: int, length: int, most: int) -> int:
    """The next size of a box along an axis: a power of two or a part of the axis. Sizes above `most` are too long.

    The boxes together are at most 1/8 longer than the axis.
    """
    if length >= 16 * size:
        return 2 * size
    for longer in range(size + 1, min(length, most + 1)):
        if 8 * (-length % longer) <= length and (not longer & (longer - 1) or length % longer == 0):
            return longer
    return length


def _run(box: Axes, shape: tuple[int, ...], order: Axes, item: int) -> int:
    """The bytes of a box that are neighbours in an array."""
    run = item
    for axis in order:
        run *= box[axis]
        if box[axis] < shape[axis]:
            break
    return run
