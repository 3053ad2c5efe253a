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

    Tiles access memory in packs; boxes take axes of any length. If both are possible, tiles are chosen, unless more
    than 1/4 of their elements are beyond the ends of the axes (an estimate). None if no operand needs it, or none fits.
    """
    tiles = plan_tiles(out, operands, policy)
    if tiles is not None and 4 * out.size >= 3 * tiles.blocks * prod(tiles.tile):
        return tiles
    return plan_boxes(out, operands, policy) or tiles
