"""The inner index of a window whose rows are short: which axes it has, and the packs."""

from __future__ import annotations

import math
from typing import NamedTuple

TABLE = 1024
"""Offsets that a block computes at most: those of each pack that the inner index has."""

LEAST_PACK_BYTES = 8
"""Tables of smaller packs gain nothing, unless no larger pack is possible, or rows have fewer elements than a pack."""


class Axis(NamedTuple):
    """Of an axis the lengths of the result and of the array, the array's stride, and the start of the array."""

    outer: int
    length: int
    stride: int
    start: int

    @property
    def whole(self) -> bool:
        return self.outer == self.length and not self.start


class InnerIndex(NamedTuple):
    """All axes of the window, the number of last axes that are one inner index, and the elements of a pack."""

    axes: list[Axis]
    inner: int
    pack: int


def inner_index(axes: list[Axis], pack: int, item: int, least: int) -> InnerIndex | None:
    """The inner index of at least `least` axes; None if no table is small enough.

    Parameters
    ----------
    axes : list of Axis
    pack, item : int
        Elements of a pack at most, and bytes of an element.
    least : int

    Examples
    --------
    >>> inner_index([Axis(1000, 1000, 6, 0), Axis(5, 3, 2, 1), Axis(3, 2, 1, 1)], 16, 1, 1)[1:]
    (3, 16)
    """
    whole, is_short = pack, axes[-1].outer < pack
    while pack == whole or pack * item >= LEAST_PACK_BYTES or (is_short and pack > 1):
        for candidate in (axes, _split(axes, pack, least)):
            for inner in range(len(candidate), least - 1, -1):
                size = math.prod(axis.outer for axis in candidate[-inner:])
                if size >= pack and size // math.gcd(size, pack) * pack <= TABLE:
                    return InnerIndex(candidate, inner, pack)
        if pack == 1:
            break
        pack //= 2
    return None


def _split(axes: list[Axis], pack: int, least: int) -> list[Axis]:
    """Split an axis that is whole in two, if the axes after it have fewer elements than a pack.

    The two may have more elements than the outermost axis: those are beyond the last of the result.
    """
    for place in range(len(axes) - least - 1, -1, -1):
        if math.prod(axis.outer for axis in axes[place + 1 :]) >= pack:
            break
        outer, _, stride, _ = axes[place]
        parts = pack if place == 0 else math.gcd(outer, pack)
        if axes[place].whole and parts > 1:
            few = -(-outer // parts)
            return [*axes[:place], Axis(few, few, stride * parts, 0), Axis(parts, parts, stride, 0), *axes[place + 1 :]]
    return axes
