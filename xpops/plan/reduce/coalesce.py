"""Reductions as the kernels compute them: the kept and the reduced axes, coalesced."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from xpops.plan.strides.coalesce import SECTOR_BYTES, Strides, coalesce


class CoalescedReduction(NamedTuple):
    """The kept and the reduced axes, coalesced, at least one of each, and the strides of the result and of each line.

    A line holds the strides of one input, or of several that share them. `item` is the bytes of an element.
    """

    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    out_kept: Strides
    in_kept: tuple[Strides, ...]
    in_reduced: tuple[Strides, ...]
    item: int

    @property
    def columns(self) -> bool:
        """Whether threads walk down columns: the smallest stride of the first line is along a kept axis.

        Of equal strides, the longer axis has the smallest. If the elements along the last reduced axis do not fill a
        sector, and the other reduced axes lead to other sectors, the last one does not count: a kept axis may have
        more elements of a sector.
        """
        along_kept = _last_stride(self.in_kept[0], self.kept)
        along_reduced = _last_stride(self.in_reduced[0], self.reduced)
        if (along_kept, -self.kept[-1]) < (along_reduced, -self.reduced[-1]):
            return True
        few, beside = self.reduced[-1] * along_reduced * self.item, along_kept * self.item
        others = [abs(stride) * self.item for stride in self.in_reduced[0][:-1]]
        return bool(others) and max(few, beside) < SECTOR_BYTES <= min(others)


def coalesce_reduction(
    shape: tuple[int, ...], axes: tuple[int, ...], out: Strides, lines: list[Strides], item: int
) -> CoalescedReduction:
    """The axes of a reduction of inputs with these lines of strides. The first line decides the order of the axes.

    `item`: the bytes of an element of the widest input.

    Kept axes along which the line repeats elements come last, so that elements are read again while the cache has them.
    But if the kept axis with the smallest stride can be read as columns, that axis comes last. And if the line repeats
    elements along kept axes so often that there are more results than elements, the result decides the order of the
    kept axes.
    """
    keep = [axis for axis in range(len(shape)) if axis not in axes]
    repeats = prod(shape[axis] for axis in keep if lines[0][axis] == 0)
    is_small = repeats > 1 and repeats >= prod(shape[axis] for axis in axes)
    order = (out, *lines) if is_small else (lines[0], out, *lines[1:])
    kept, found = coalesce(tuple(shape[axis] for axis in keep), [tuple(line[axis] for axis in keep) for line in order])
    out_kept, first, *others = found if is_small else (found[1], found[0], *found[2:])
    reduced, in_reduced = coalesce(
        tuple(shape[axis] for axis in axes), [tuple(line[axis] for axis in axes) for line in lines]
    )
    given = CoalescedReduction(
        kept or (1,),
        reduced or (1,),
        out_kept or (0,),
        tuple(line or (0,) for line in (first, *others)),
        tuple(line or (0,) for line in in_reduced),
        item,
    )
    reordered = given if is_small else _with_columns_last(given)
    return reordered if reordered.columns else given


def _with_columns_last(given: CoalescedReduction) -> CoalescedReduction:
    """The same reduction with the kept axis last that has the smallest stride of the first line, except 0."""
    distinct = [axis for axis, stride in enumerate(given.in_kept[0]) if stride]
    if not distinct or distinct[-1] == len(given.kept) - 1:
        return given
    axes = [axis for axis in range(len(given.kept)) if axis != distinct[-1]] + distinct[-1:]
    kept, out_kept, *in_kept = (
        tuple(line[axis] for axis in axes) for line in (given.kept, given.out_kept, *given.in_kept)
    )
    return given._replace(kept=kept, out_kept=out_kept, in_kept=tuple(in_kept))


def _last_stride(strides: Strides, shape: tuple[int, ...]) -> float:
    """The stride along the last axis; infinite if the stride is 0 or the length is 1."""
    return abs(strides[-1]) if shape[-1] > 1 and strides[-1] else float("inf")
