"""The plan of the transposing kernel: two axes in square tiles, a batch of them along the other axes."""

from __future__ import annotations

import struct
from math import prod

from xpops.core.layouts import Layout
from xpops.plan.elementwise import ElementwisePlan, Mode, Policy, coalesce_operands, index_bits, insert_scalar_modes
from xpops.plan.signature import Operand
from xpops.plan.strides.coalesce import Strides
from xpops.plan.strides.divmod import pack_divmod

# Shared memory that a block may use without opting in to more.
SHARED_BYTES = 48 << 10
MAX_BLOCKS = 2**31 - 1
# Lanes walk the columns of a tile.
WARP = 32


def transposed_axis(shape: tuple[int, ...], strides: list[Strides], shortest: int) -> int | None:
    """The axis along which an operand has stride 1, while the result has stride 1 along the last axis.

    None if there is none besides the last one, or a length is below `shortest`.

    Examples
    --------
    >>> transposed_axis((64, 32), [(32, 1), (1, 64)], 8)
    0
    """
    if len(shape) < 2 or shape[-1] < shortest or strides[0][-1] != 1:
        return None
    for line in strides[1:]:
        for axis, stride in enumerate(line[:-1]):
            if stride == 1 and shape[axis] >= shortest and line[-1] not in (0, 1):
                return axis
    return None


def plan_tiled(out: Layout, operands: tuple[Operand, ...], policy: Policy) -> ElementwisePlan | None:
    """The plan of a call that transposes an operand; see `plan_elementwise`.

    The last axis gives the columns of the tiles; the axis along which the operand has stride 1 gives their rows. None
    if no operand is transposed, if tiles would be mostly empty or exceed shared memory, or if the grid is too large.
    """
    layouts, shape, strides = coalesce_operands(out, operands)
    axis = transposed_axis(shape, strides, policy.tile_length)
    if axis is None or shape[axis] * shape[-1] < policy.tile_area:
        return None
    batch = [other for other in range(len(shape) - 1) if other != axis]
    order = [*batch, axis, len(shape) - 1]
    rows, columns = shape[axis], shape[-1]
    bits = index_bits(prod(shape), strides, shape)
    lines = [tuple(line[axis] for axis in order) for line in strides]
    modes = [
        Mode.TILE if position and line[-2] == 1 and line[-1] not in (0, 1) else Mode.GATHER
        for position, line in enumerate(lines)
    ]
    side = policy.tile if max(layout.dtype.itemsize for layout in layouts) <= 4 else policy.tile // 2
    turned = [layout.dtype.itemsize for layout, mode in zip(layouts, modes, strict=True) if mode is Mode.TILE]
    while side >= WARP and sum((side + 4) * side * item for item in turned) > SHARED_BYTES:
        side //= 2
    if side < WARP:
        return None
    tiles = -(-columns // side), -(-rows // side)
    tail = struct.pack("<QQ", rows, columns)
    for divisor in (*tiles, *([shape[axis] for axis in batch[1:]] or [1])):
        tail += pack_divmod(divisor, bits)
    for line in lines:
        tail += struct.pack(f"<{len(line)}{'i' if bits == 32 else 'q'}", *line)
    blocks = tiles[0] * tiles[1] * prod(shape[axis] for axis in batch)
    if blocks > MAX_BLOCKS:
        return None
    return ElementwisePlan(
        insert_scalar_modes(modes, operands),
        block=policy.tile_block,
        pack=1,
        unroll=1,
        rank=len(batch),
        index_bits=bits,
        blocks=blocks,
        tail=tail,
        outlined=policy.outlined,
        tile=side,
    )
