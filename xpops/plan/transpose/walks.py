"""Boxes of an array's elements, and the walks in which the threads of a block visit them."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

Axes = tuple[int, ...]  # one number for each axis


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
    radices, left = list[int](), threads
    for size in sizes:
        radix = next(part for part in range(min(size, left), 0, -1) if size % part == 0)
        left = left // radix if radix == size else 1
        radices.append(radix)
    digits = [range(0, size, radix) for size, radix in zip(sizes, radices, strict=True)]
    return Walk(tuple(radices), [at[::-1] for at in product(*reversed(digits))])


def box_of(shape: tuple[int, ...], orders: dict[Axes, int], threads: int, steps: int) -> Axes:
    """The sizes of a box in which each array has runs of similar lengths, and each walk has at most so many steps.

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
    """
    box = (1,) * len(shape)
    growing = dict(orders)
    while growing:
        order = min(growing, key=lambda order: _run(box, shape, order, growing[order]))
        axis = next((axis for axis in order if box[axis] < shape[axis]), None)
        if axis is not None:
            longer = (*box[:axis], _longer(box[axis], shape[axis]), *box[axis + 1 :])
            if all(len(walk_of(tuple(longer[axis] for axis in each), threads).at) <= steps for each in orders):
                box = longer
                continue
        del growing[order]
    return box


def _longer(size: int, length: int) -> int:
    """The next size of a box along an axis: a power of two or a part of the axis.

    The boxes together are at most 1/8 longer than the axis.
    """
    if length >= 16 * size:
        return 2 * size
    longer = size + 1
    while 8 * (-length % longer) > length or (longer & (longer - 1) and length % longer):
        longer += 1
    return longer


def _run(box: Axes, shape: tuple[int, ...], order: Axes, item: int) -> int:
    """The bytes of a box that are neighbours in an array."""
    run = item
    for axis in order:
        run *= box[axis]
        if box[axis] < shape[axis]:
            break
    return run
