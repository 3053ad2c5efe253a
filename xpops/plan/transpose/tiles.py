"""The plan of the transposing kernel: tiles of two or three axes, a batch of them along the other axes."""

from __future__ import annotations

import struct
from math import prod

from xpops.core.layouts import Layout
from xpops.core.powers import power_of_two
from xpops.plan.elementwise import (
    MAX_PACK_BYTES,
    ElementwisePlan,
    Mode,
    Policy,
    coalesce_operands,
    index_bits,
    insert_scalar_modes,
)
from xpops.plan.signature import Operand
from xpops.plan.strides.coalesce import Strides, distinct_elements
from xpops.plan.strides.divmod import pack_divmod

# Shared memory that a block may use without opting in to more.
SHARED_BYTES = 48 << 10
MAX_BLOCKS = 2**31 - 1


def plan_tiles(out: Layout, operands: tuple[Operand, ...], policy: Policy) -> ElementwisePlan | None:
    """The plan of a call that transposes operands; see `plan_elementwise`.

    The last axis gives the columns of the tiles; the axes along which operands have stride 1 give their rows and
    planes, the longest first. If there is one such axis, and tiles of two axes are too small, the planes are along
    another axis. None if no operand is transposed, if an axis or the tile is too short, or if the grid is too large.
    """
    layouts, shape, strides = coalesce_operands(out, operands)
    turned = [_turned_axis(shape, strides[0], line, policy) for line in strides[1:]]
    axes = list(dict.fromkeys(axis for axis in turned if axis is not None))
    axes = sorted(axes, key=lambda axis: shape[axis] < policy.tile_length)[:2]
    if not axes or policy.tile_length <= shape[axes[0]] < policy.tile_area / shape[-1]:
        return None
    item, cubic = max(layout.dtype.itemsize for layout in layouts), len(axes) == 2
    others = [axis for axis in range(len(shape) - 1) if axis not in axes]
    if others and not cubic and prod(tile_of((shape[-1], shape[axes[0]], 1), item, cubic, policy)) < policy.tile**2:
        axes.append(others.pop())
    batch = [axis for axis in others if axis not in axes]
    lengths = (shape[-1], *(shape[axis] for axis in axes), *(1,) * (2 - len(axes)))
    columns, rows, planes = tile_of(lengths, item, cubic, policy)
    lines = [(*(line[axis] for axis in batch), *(0,) * (2 - len(axes)), *_tile_strides(line, axes)) for line in strides]
    modes = [Mode.GATHER, *(_mode(axis, axes, line) for axis, line in zip(turned, strides[1:], strict=True))]
    staged = [layout.dtype.itemsize for layout, mode in zip(layouts, modes, strict=True) if mode is not Mode.GATHER]
    pack = max(1, min(policy.tile_pack, MAX_PACK_BYTES // item))
    while sum(_shared_bytes((columns, rows, planes), pack, bytes_) for bytes_ in staged) > SHARED_BYTES:
        rows //= 2
    tile = columns, rows, planes
    if prod(tile) < policy.tile_block:
        return None
    shortest = min(rows, planes) if cubic else rows  # of the axes along which operands are loaded in packs
    while prod(tile) < policy.tile_block * pack**2 or shortest < pack:
        pack //= 2
    if not is_aligned(out, shape, strides[0], pack):
        pack = 1
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
        pack=pack,
        unroll=1,
        rank=len(batch),
        index_bits=bits,
        blocks=blocks,
        tail=tail,
        outlined=policy.outlined,
        tile=tile,
    )


def _turned_axis(shape: tuple[int, ...], out: Strides, strides: Strides, policy: Policy) -> int | None:
    """The axis along which an operand is transposed.

    It is at least `tile_length` long; or shorter, if the operand is large, and its neighbours are far apart in the
    result. Then threads that write a row would use only part of each sector that they read.
    """
    axis = transposed_axis(shape, out, strides, policy.tile_length)
    if axis is None and 8 * distinct_elements(shape, strides) > prod(shape):
        axis = transposed_axis(shape, out, strides, 2)
        if axis is not None and (shape[axis] > min(shape[-1], policy.tile_length) or out[axis] < policy.tile_distance):
            axis = None
    return axis


def _mode(axis: int | None, axes: list[int], strides: Strides) -> Mode:
    """How an operand that is transposed along `axis` is read in tiles with rows and planes along `axes`."""
    if axis not in axes:
        return Mode.GATHER
    if axes.index(axis) == 0:
        return Mode.TILE_ROWS
    return Mode.TILE_PLANES if abs(strides[-1]) <= abs(strides[axes[0]]) else Mode.TILE_PLANES_ROWS


def is_aligned(layout: Layout, shape: tuple[int, ...], strides: Strides, pack: int) -> bool:
    """Whether packs along the last axis, which has stride 1, are aligned in all rows."""
    whole = shape[-1] % pack == 0 and all(stride % pack == 0 for stride in strides[:-1])
    return whole and layout.align >= pack * layout.dtype.itemsize


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


def tile_of(lengths: tuple[int, ...], item: int, cubic: bool, policy: Policy) -> tuple[int, int, int]:
    """The columns, rows and planes of a tile, for axes of these lengths and elements of at most `item` bytes.

    `cubic`: operands have stride 1 along the planes, too.

    Examples
    --------
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> policy = tuning_of(90).elementwise
    >>> tile_of((1000, 1000, 1), 4, False, policy), tile_of((100, 100, 100), 4, True, policy)
    ((64, 64, 1), (16, 16, 16))
    >>> tile_of((10, 1000, 1), 8, False, policy), tile_of((39, 10, 50), 4, False, policy)
    ((16, 64, 1), (64, 16, 4))
    """
    size = policy.tile**2 if item <= 4 else policy.tile**2 // 4
    longest = [power_of_two(length) for length in lengths]
    if cubic:
        columns, planes = min(32 if item <= 2 else 16, longest[0]), min(16 if item <= 4 else 8, longest[2])
        return columns, min((2 * size if item <= 2 else size) // columns // planes, longest[1]), planes
    side = policy.tile if item <= 4 else policy.tile // 2
    rows = min(size // min(side, longest[0]), longest[1])
    columns = min(size // rows, longest[0])
    return columns, rows, min(size // columns // rows, longest[2])


def _shared_bytes(tile: tuple[int, int, int], pack: int, item: int) -> int:
    """The shared memory of a staged operand, with its padding."""
    columns, rows, planes = tile
    padding = max(1, 4 // (pack * item))
    return pack * item * planes * (rows * (columns // pack + padding) + padding)


def _tile_strides(strides: Strides, axes: list[int]) -> Strides:
    """The strides along the planes, the rows and the columns."""
    return (*(strides[axis] for axis in reversed(axes)), strides[-1])
