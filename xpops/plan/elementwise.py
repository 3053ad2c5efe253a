"""The elementwise plan: which kernel of the family computes a call, and the parameters that depend on layouts."""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from xpops.core.layouts import Layout, contiguous_strides
from xpops.plan.signature import Operand
from xpops.plan.strides.broadcast import broadcast_strides
from xpops.plan.strides.coalesce import Strides, coalesce, distinct_elements, farthest_offset, touched_elements
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.plan.transpose.walks import Boxes

MAX_PACK_BYTES = 16
# The most elements of a pack with more than two operands: registers do not hold 16 elements of each.
_CROWDED = 8
# So many blocks can be resident on a multiprocessor of every GPU.
MAX_RESIDENT_BLOCKS = 16
# Indices are 32-bit below this, with room for the last tile to run past the end.
INDEX_LIMIT = 2**31 - 2**20


class Mode(StrEnum):
    """How an operand's elements in memory follow the linear order of the result.

    ``native/xpops/kernels/elementwise.cuh`` describes each mode; the last three belong to
    ``kernels/transpose/tiled.cuh``, and `SKEWED` to results.
    """

    LINEAR = "kLinear"
    SHIFTED = "kShifted"
    SKEWED = "kSkewed"
    SCALAR = "kScalar"
    UNIFORM = "kUniform"
    VECTOR = "kVector"
    SPLAT = "kSplat"
    ROW = "kRow"
    REVERSED = "kReversed"
    REPEATED = "kRepeated"
    GATHER = "kGather"
    TILE_ROWS = "kRows"
    TILE_PLANES = "kPlanes"
    TILE_PLANES_ROWS = "kPlanesRows"


# In the order of the result.
LINEAR = (Mode.LINEAR, Mode.SHIFTED)
STRIDED = (Mode.VECTOR, Mode.SPLAT, Mode.ROW, Mode.REVERSED, Mode.REPEATED, Mode.GATHER)


class Policy(NamedTuple):
    """Tuning numbers of the elementwise family.

    Attributes
    ----------
    block, block_bytes : int
        Threads of a block; twice as many if it would read and write fewer bytes of memory than these: a GPU starts only
        so many blocks in a microsecond.
    unroll : int
        The packs that a thread writes if no operand is as large as the result: several packs hide the latency of index
        arithmetic. Otherwise a thread writes one.
    least_elements, elements_per_thread : int
        The fewest and the most elements that a thread computes. Few leave memory idle; each adds code, and code takes
        time to compile.
    gathered_bytes : int
        The bytes of the result in a pack if a large operand is gathered.
    tile_block, tile : int
        Threads of a block of the transposing kernel, and the side of its square tile for elements of 4 bytes or less;
        half of that for wider elements.
    tile_pack : int
        The most elements of an access of that kernel.
    tile_length, tile_area : int
        The least length of both axes, and the least product of the two, for that kernel. Below, tiles would be mostly
        empty.
    tile_distance : int
        Shorter rows are for operands whose neighbours have at least so many elements of the result between them: a
        kernel that gathers would read the operand again and again.
    box_steps : int
        The most elements of a thread in a box of short axes; fewer if shared memory is too small.
    box_distance : int
        Boxes are for operands that have elements of one sector so many elements of the result apart, or farther. In
        place of poor tiles, they are for those that are `tile_length` apart.
    cached_bytes : int
        Smaller operands are in the cache while threads read them again and again.
    outlined : bool
        Whether the functor is called instead of inlined, so that it is compiled once.
    """

    block: int
    block_bytes: int
    unroll: int
    least_elements: int
    elements_per_thread: int
    gathered_bytes: int
    tile_block: int
    tile: int
    tile_pack: int
    tile_length: int
    tile_area: int
    tile_distance: int
    box_steps: int
    box_distance: int
    cached_bytes: int
    outlined: bool = False


class ElementwisePlan(NamedTuple):
    """One kernel of the elementwise family, and its parameters except addresses and scalars.

    Attributes
    ----------
    modes : tuple of Mode
        The result's mode, then each operand's.
    block, pack, unroll : int
        Threads of a block, elements of an access, accesses of a thread to each array.
    rank : int
        The number of axes after coalescing; 0 if no operand needs coordinates.
    index_bits : {32, 64}
    blocks : int
        The grid.
    tail : bytes
        The bytes of the parameters after the slots: size, divisors, strides.
    outlined : bool
        Whether the functor is called instead of inlined.
    tile : tuple of int
        The columns, rows and planes of the transposing kernel's tile; empty for other kernels.
    boxes : Boxes, optional
        The boxes of the transposing kernel for short axes.
    """

    modes: tuple[Mode, ...]
    block: int
    pack: int
    unroll: int
    rank: int
    index_bits: int
    blocks: int
    tail: bytes
    outlined: bool
    tile: tuple[int, ...] = ()
    boxes: Boxes | None = None

    @property
    def transposes(self) -> bool:
        """Whether operands pass through shared memory."""
        return bool(self.tile) or self.boxes is not None


def plan_elementwise(
    out: Layout, operands: tuple[Operand, ...], policy: Policy, skews: bool = False
) -> ElementwisePlan:
    """The plan of writing `out` from `operands`, which broadcast to its shape. `out` is not empty.

    Parameters
    ----------
    skews : bool
        Whether the kernel takes results in `Mode.SKEWED`.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> row, matrix = (layout_of(float32, shape, None, Device("cuda")) for shape in [(8,), (4, 8)])
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> policy = tuning_of(90).elementwise
    >>> [str(mode) for mode in plan_elementwise(matrix, (matrix, row, float), policy).modes]
    ['kLinear', 'kLinear', 'kVector', 'kScalar']
    """
    layouts, shape, strides = coalesce_operands(out, operands)
    linear = contiguous_strides(shape)
    widest = _widest_pack(layouts, policy)
    skewed = skews and bool(shape) and _is_skewed(out, strides, linear, widest)
    if skewed:
        pack = widest
        modes = [Mode.SHIFTED if any(line) else Mode.UNIFORM for line in strides]
        modes[0] = Mode.SKEWED
    else:
        pack = _pack(shape, strides, layouts, linear, policy) if shape else 1
        modes = [mode_of(shape, line, layout, linear, pack) for line, layout in zip(strides, layouts, strict=True)]
    bits = index_bits(out.size, strides, shape)
    strided = [line for line, mode in zip(strides, modes, strict=True) if mode in STRIDED]
    rank = len(shape) if strided else 0
    reads_as_much = any(distinct_elements(shape, line) == out.size for line in strides[1:])
    unroll = max(1 if reads_as_much else policy.unroll, policy.least_elements // pack)
    unroll = max(1, min(unroll, policy.elements_per_thread // pack))
    moved = sum(touched_elements(shape, line) * x.dtype.itemsize for line, x in zip(strides, layouts, strict=True))
    block = policy.block * (2 if policy.block * pack * unroll * moved < policy.block_bytes * out.size else 1)
    return ElementwisePlan(
        insert_scalar_modes(modes, operands),
        block,
        pack,
        unroll,
        rank,
        bits,
        blocks_of(out.size, modes[0], pack, block * pack * unroll),
        pack_tail(out.size, shape[1:] if rank else (), strided, bits),
        policy.outlined,
    )


def blocks_of(size: int, result: Mode, pack: int, tile: int) -> int:
    """The blocks for `size` elements in tiles of `tile`. A skewed result may begin anywhere in its first pack."""
    return -(-(size + (pack - 1) * (result is Mode.SKEWED)) // tile)


def coalesce_operands(
    out: Layout, operands: tuple[Operand, ...]
) -> tuple[list[Layout], tuple[int, ...], list[Strides]]:
    """The arrays of a call, result first, with the coalesced shape and each array's strides in it."""
    layouts = [out, *(operand for operand in operands if isinstance(operand, Layout))]
    strides = [broadcast_strides(layout.shape, layout.strides, out.shape) for layout in layouts]
    return layouts, *coalesce(out.shape, strides)


def mode_of(shape: tuple[int, ...], strides: Strides, layout: Layout, linear: Strides, pack: int) -> Mode:
    """How an operand is read in packs of `pack` elements of the result."""
    if not any(strides):
        return Mode.UNIFORM if shape else Mode.LINEAR
    is_aligned = layout.align >= min(MAX_PACK_BYTES, pack * layout.dtype.itemsize)
    if strides == linear:
        return Mode.LINEAR if is_aligned else Mode.SHIFTED
    is_whole = shape[-1] % pack == 0
    if strides[-1] == 1 and is_whole and is_aligned and all(stride % pack == 0 for stride in strides[:-1]):
        return Mode.VECTOR
    if strides[-1] == 0 and is_whole:
        return Mode.SPLAT
    if shape[-1] < pack:
        return Mode.GATHER
    return {1: Mode.ROW, -1: Mode.REVERSED, 0: Mode.REPEATED}.get(strides[-1], Mode.GATHER)


def _pack(
    shape: tuple[int, ...], strides: list[Strides], layouts: list[Layout], linear: Strides, policy: Policy
) -> int:
    """The elements of a pack: one vector access of the result, and at most two of any operand.

    Two accesses of the result would write half a sector each. A pack has fewer elements if neighbouring threads should
    read neighbouring elements of a gathered operand. If it has at most 1/8 of the result's elements, one for a row, or
    short contiguous rows, they stay in the cache, so the order of accesses does not matter.
    """
    out, pack = layouts[0], _widest_pack(layouts, policy)
    for line, layout in zip(strides[1:], layouts[1:], strict=True):
        is_scattered = 8 * distinct_elements(shape, line) > out.size and line[-1:] not in ((0,), (1,), (-1,))
        if is_scattered and mode_of(shape, line, layout, linear, pack) is Mode.GATHER:
            pack = min(pack, max(1, policy.gathered_bytes // out.dtype.itemsize))
    while pack > 1 and mode_of(shape, strides[0], out, linear, pack) not in (Mode.LINEAR, Mode.VECTOR):
        pack //= 2
    return pack


def _widest_pack(layouts: list[Layout], policy: Policy) -> int:
    """The elements of one access of the result, and of one of the widest operand, or of at most two of all operands.

    More accesses take more registers, and the loads of fewer threads are in flight.
    """
    result, *widths = [layout.dtype.itemsize for layout in layouts]
    most = policy.elements_per_thread
    if len(widths) > 2:
        most = min(most, _CROWDED)
    if widths:
        most = min(most, max(2 * MAX_PACK_BYTES // sum(widths), MAX_PACK_BYTES // max(widths)))
    return min(MAX_PACK_BYTES // result, 1 << (most.bit_length() - 1))


def _is_skewed(out: Layout, strides: list[Strides], linear: Strides, pack: int) -> bool:
    """Whether the result is one run of memory in which a pack is not aligned, and all operands have its order."""
    in_order = all(line == linear or not any(line) for line in strides)
    return in_order and any(strides[0]) and out.align < pack * out.dtype.itemsize


def index_bits(size: int, strides: list[Strides], shape: tuple[int, ...]) -> int:
    """32 if every linear index and every offset fits a signed 32-bit integer, else 64."""
    return 32 if max(size, *(farthest_offset(shape, line) for line in strides)) < INDEX_LIMIT else 64


def pack_tail(size: int, divisors: tuple[int, ...], strides: list[Strides], bits: int) -> bytes:
    """The bytes of ``ElementwiseParams`` after the slots.

    Empty arrays get one unused element, because C++ has no arrays of length 0.
    """
    tail = struct.pack("<Q", size)
    for divisor in divisors or (1,):
        tail += pack_divmod(divisor, bits)
    for line in strides or [(0,)]:
        tail += struct.pack(f"<{len(line) or 1}{'i' if bits == 32 else 'q'}", *(line or (0,)))
    return tail


def insert_scalar_modes(modes: list[Mode], operands: tuple[Operand, ...]) -> tuple[Mode, ...]:
    arrays = iter(modes[1:])
    return (modes[0], *(next(arrays) if isinstance(operand, Layout) else Mode.SCALAR for operand in operands))
