"""The plan of elementwise calls whose operands have another order than the result."""

from __future__ import annotations

from math import prod

from xpops.core.layouts import Layout
from xpops.plan.elementwise import ElementwisePlan, Policy
from xpops.plan.signature import Operand
from xpops.plan.transpose.boxes import plan_boxes
from xpops.plan.transpose.tiles import plan_tiles


def plan_transpose(out: Layout, operands: tuple[Operand, ...], policy: Policy) -> ElementwisePlan | None:
    """The plan of a call that transposes operands in shared memory; see `plan_elementwise`.

    Tiles access memory in packs; boxes take axes of any length. If both are possible, tiles are chosen, except those of
    which more than 1/4 of the elements are beyond the ends of the axes (an estimate), and flat ones that are accessed
    one or two bytes at a time. None if no operand needs it, or none fits.
    """
    tiles = plan_tiles(out, operands, policy)
    if tiles is None:
        return plan_boxes(out, operands, policy)
    item = max(layout.dtype.itemsize for layout in (out, *operands) if isinstance(layout, Layout))
    is_flat = tiles.tile[2] == 1
    is_narrow = is_flat and tiles.pack == 1 and item <= 2
    if not is_narrow and 4 * out.size >= 3 * tiles.blocks * prod(tiles.tile):
        return tiles
    if is_flat:
        policy = policy._replace(box_distance=policy.tile_length)
    return plan_boxes(out, operands, policy) or tiles
