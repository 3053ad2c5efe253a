"""The plan of the transposing kernel for short axes: boxes of any number of axes, a batch of them along the others."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod

from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.plan.elementwise import (
    ElementwisePlan,
    Mode,
    Policy,
    coalesce_operands,
    index_bits,
    insert_scalar_modes,
)
from xpops.plan.signature import Operand
from xpops.plan.strides.coalesce import SECTOR_BYTES, Strides, distinct_elements
from xpops.plan.strides.divmod import pack_divmod
from xpops.plan.transpose.tiles import MAX_BLOCKS, SHARED_BYTES
from xpops.plan.transpose.walks import Axes, Boxes, Walk, box_of, walk_of

# Elements that are closer in the result are in the same box.
_ROW = 64
# Rows of so many bytes, or more, begin in different banks of shared memory.
_PADDED_BYTES = 16
# The most bytes of parameters behind the slots. Older drivers take 4096 in all: this leaves 64 slots.
_MAX_TAIL = 3584


def plan_boxes(out: Layout, operands: tuple[Operand, ...], policy: Policy) -> ElementwisePlan | None:
    """The plan of a call with scattered operands; see `plan_elementwise`.

    None if no operand is scattered, or if the staged operands, the parameters or the grid are too large.
    """
    layouts, shape, strides = coalesce_operands(out, operands)
    items = [layout.dtype.itemsize for layout in layouts]
    arrays = list(zip(strides, items, strict=True))
    if all(_sector_reads(shape, *each, policy, policy.box_distance) == 1 for each in arrays[1:]):
        return None
    near = min(_ROW, policy.box_distance)
    turned = [number > 0 and _sector_reads(shape, *each, policy, near) > 1 for number, each in enumerate(arrays)]
    of_result = tuple(reversed(range(len(shape))))
    orders = [_order(line) if is_turned else of_result for line, is_turned in zip(strides, turned, strict=True)]
    staged = [item for item, is_turned in zip(items, turned, strict=True) if is_turned]
    block, elements = policy.tile_block, policy.tile_block * policy.box_steps
    while _shared_elements(elements) * sum(staged) > SHARED_BYTES:
        elements //= 2
    if elements < block:
        return None
    box = box_of(shape, dict(zip(orders, items, strict=True)), block, elements // block)
    walks = _walks_of(box, orders, block)
    places = _places(box, max(staged))
    bits = index_bits(prod(shape), strides, shape)
    tail = _pack_arrays(shape, box, list(zip(strides, items, orders, strict=True)), walks, bits)
    tail += b"".join(_pack_walk(walk, order, box, places) for order, walk in walks.items())
    blocks = prod(-(-length // size) for length, size in zip(shape, box, strict=True))
    if places[0] * box[0] > _shared_elements(elements) or blocks > MAX_BLOCKS or len(tail) > _MAX_TAIL:
        return None
    return ElementwisePlan(
        insert_scalar_modes([Mode.GATHER] * len(layouts), operands),
        block=block,
        pack=1,
        unroll=len(walks[of_result].at),
        rank=box.count(1),
        index_bits=bits,
        blocks=blocks,
        tail=tail,
        outlined=policy.outlined,
        boxes=Boxes(
            axes=len(box) - box.count(1),
            steps=prod(box) // prod(walks[of_result].radices),
            shared=_shared_elements(elements),
            orders=tuple(list(walks).index(order) for order in orders),
        ),
    )


def _shared_elements(elements: int) -> int:
    """The elements of shared memory for a staged operand. Half as many are left for the padding of its rows."""
    return 3 * elements // 2


def _order(strides: Strides) -> Axes:
    """The axes from the smallest stride; those of stride 0 come last."""
    return tuple(sorted(range(len(strides)), key=lambda axis: (not strides[axis], abs(strides[axis]))))


def sector_reads(x: Layout, policy: Policy, distance: int) -> int:
    """How often kernels that read `x` in C order read each sector; see `_sector_reads`."""
    out = layout_of(x.dtype, x.shape, None, x.device)
    _, shape, (_, strides) = coalesce_operands(out, (x,))
    return _sector_reads(shape, strides, x.dtype.itemsize, policy, distance)


def _sector_reads(shape: tuple[int, ...], strides: Strides, item: int, policy: Policy, distance: int) -> int:
    """How often threads that write neighbours in the result read each sector.

    Elements that share a sector, but are `distance` or farther apart in the result, are read one by one. Operands
    smaller than the result are read again and again: if the cache holds them, that does not matter.
    """
    distinct = distinct_elements(shape, strides)
    if 2 * distinct <= prod(shape) and distinct * item < policy.cached_bytes:
        return 1
    near = far = item
    for length, stride, apart in zip(shape, strides, contiguous_strides(shape), strict=True):
        if 0 < abs(stride) * item < SECTOR_BYTES:
            sharing = min(length, SECTOR_BYTES // (abs(stride) * item))
            far *= sharing
            near *= sharing if apart < distance else 1
    return max(1, min(far, SECTOR_BYTES) // near)


def _places(box: Axes, item: int) -> list[int]:
    """The strides of a box in shared memory. Longer rows have a pitch of an odd number of words."""
    places = [1]
    word = max(1, 4 // item)
    for size in reversed(box[1:]):
        pitch = places[0] * size
        if size > 1 and pitch * item >= _PADDED_BYTES:
            pitch = -(-pitch // word) * word
            pitch += word * (pitch // word % 2 == 0)
        places.insert(0, pitch)
    return places


def _walks_of(box: Axes, orders: list[Axes], threads: int) -> dict[Axes, Walk]:
    """The walks in all orders, with equally many steps, a multiple of 4: the last step is repeated.

    So fewer different kernels are compiled.
    """
    walks = {order: walk_of(tuple(box[axis] for axis in order), threads) for order in orders}
    steps = -(-max(len(walk.at) for walk in walks.values()) // 4) * 4
    return {order: Walk(radices, at + at[-1:] * (steps - len(at))) for order, (radices, at) in walks.items()}


def _pack_arrays(
    shape: tuple[int, ...], box: Axes, arrays: list[tuple[Strides, int, Axes]], walks: dict[Axes, Walk], bits: int
) -> bytes:
    """The bytes of ``BoxedParams`` between the slots and the orders, from each array's strides, item size and order."""
    axes = [axis for axis, size in enumerate(box) if size > 1]
    batch = [axis for axis, size in enumerate(box) if size == 1]
    form = "i" if bits == 32 else "q"
    tail = struct.pack(f"<{len(axes)}Q", *(shape[axis] for axis in axes))
    for strides, item, order in arrays:
        offsets = [item * _dot(at, [strides[axis] for axis in order]) for at in walks[order].at]
        tail += struct.pack(f"<{len(offsets)}q", *offsets)
    for divisor in (*(-(-shape[axis] // box[axis]) for axis in axes), *([shape[axis] for axis in batch[1:]] or [1])):
        tail += pack_divmod(divisor, bits)
    for strides, _, _ in arrays:
        tail += struct.pack(f"<{len(box)}{form}", *(strides[axis] for axis in batch + axes))
    for strides, _, order in arrays:
        tail += struct.pack(f"<{len(axes)}{form}", *(strides[axis] for axis in order if axis in axes))
    return tail + struct.pack(f"<{len(axes)}I", *(box[axis] for axis in axes))


def _pack_walk(walk: Walk, order: Axes, box: Axes, places: list[int]) -> bytes:
    """The bytes of a ``BoxOrder``. Only axes along which the box is longer than 1 are in it."""
    axes = [axis for axis, size in enumerate(box) if size > 1]
    kept = [number for number, axis in enumerate(order) if axis in axes]
    along = [places[order[number]] for number in kept]
    at = [[each[number] for number in kept] for each in walk.at]
    tail = struct.pack(f"<{1 + len(kept)}I", prod(walk.radices), *(axes.index(order[number]) for number in kept))
    tail += b"".join(pack_divmod(walk.radices[number], 32) for number in kept)
    tail += struct.pack(f"<{len(kept)}I", *along)
    tail += struct.pack(f"<{len(at)}I", *(_dot(each, along) for each in at))
    return tail + b"".join(struct.pack(f"<{len(kept)}I", *each) for each in at)


def _dot(one: Sequence[int], two: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, two, strict=True))
