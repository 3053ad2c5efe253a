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


def plan_tiled(out: Layout, operands: tuple[Operand, ...], policy: Policy) -> ElementwisePlan | None:
    """The plan of a call that transposes operands; see `plan_elementwise`.

    The last axis gives the columns of the tiles; the axes along which operands have stride 1 give their rows and
    planes. None if no operand is transposed, if an axis or the tile is too short, or if the grid is too large.
    """
    layouts, shape, strides = coalesce_operands(out, operands)
    turned = [transposed_axis(shape, strides[0], line, policy.tile_length) for line in strides[1:]]
    axes = list(dict.fromkeys(axis for axis in turned if axis is not None))[:2]
    if not axes or shape[axes[0]] * shape[-1] < policy.tile_area:
        return None
    batch = [axis for axis in range(len(shape) - 1) if axis not in axes]
    lengths = (shape[-1], *(shape[axis] for axis in axes), *(1,) * (2 - len(axes)))
    columns, rows, planes = tile_of(lengths, max(layout.dtype.itemsize for layout in layouts), policy)
    lines = [(*(line[axis] for axis in batch), *(0,) * (2 - len(axes)), *_tile_strides(line, axes)) for line in strides]
    found = [axes.index(axis) if axis in axes else None for axis in turned]
    modes = [
        Mode.GATHER,
        *(Mode.GATHER if each is None else (Mode.TILE_ROWS, Mode.TILE_PLANES)[each] for each in found),
    ]
    items = [layout.dtype.itemsize for layout, mode in zip(layouts, modes, strict=True) if mode is not Mode.GATHER]
    while sum(items) * columns * rows * planes * 5 // 4 > SHARED_BYTES:
        rows //= 2
    tile = columns, rows, planes
    if prod(tile) < policy.tile_block:
        return None
    bits = index_bits(prod(shape), strides, shape)
    tiles = [-(-length // side) for length, side in zip(lengths, tile, strict=True)]
    tail = struct.pack("<3Q", *lengths)
    for divisor in (*tiles, *([shape[axis] for axis in batch[1:]] or [1])):
        tail += pack_divmod(divisor, bits)
    for line in lines:
        tail += struct.pack(f"<{len(line)}{'i' if bits == 32 else 'q'}", *line)
    blocks = prod(tiles) * prod(shape[axis] for axis in batch)
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
        tile=tile,
    )


def transposed_axis(shape: tuple[int, ...], out: Strides, strides: Strides, shortest: int) -> int | None:
    """The axis along which an operand has stride 1, if the result has stride 1 along the last axis.

    None if it is the last one, too, or if one of the lengths is below `shortest`.

    Examples
    --------
    >>> transposed_axis((64, 32), (32, 1), (1, 64), 8)
    0
    """
    if len(shape) < 2 or shape[-1] < shortest or out[-1] != 1 or strides[-1] in (0, 1):
        return None
    return next((axis for axis, n in enumerate(shape[:-1]) if strides[axis] == 1 and n >= shortest), None)


def tile_of(lengths: tuple[int, ...], item: int, policy: Policy) -> tuple[int, int, int]:
    """The columns, rows and planes of a tile, for axes of these lengths and elements of at most `item` bytes.

    Examples
    --------
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> policy = tuning_of(90).elementwise
    >>> tile_of((1000, 1000, 1), 4, policy), tile_of((100, 100, 100), 4, policy), tile_of((10, 1000, 1), 8, policy)
    ((64, 64, 1), (16, 16, 16), (16, 64, 1))
    """
    size = policy.tile**2 if item <= 4 else policy.tile**2 // 4
    if lengths[2] == 1:
        columns = min(policy.tile if item <= 4 else policy.tile // 2, power_of_two(lengths[0]))
        return columns, size // columns, 1
    columns = min(32 if item <= 2 else 16, power_of_two(lengths[0]))
    planes = min(16 if item <= 4 else 8, power_of_two(lengths[2]))
    return columns, size // columns // planes, planes


def power_of_two(count: int) -> int:
    """The smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


def _tile_strides(strides: Strides, axes: list[int]) -> Strides:
    """The strides along the planes, the rows and the columns."""
    return (*(strides[axis] for axis in reversed(axes)), strides[-1])
