"""The first pass of a selection on CUDA: flag the selected elements, and count those before each tile."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.runtime.blocks import Block
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning.policies import SelectPolicy
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

_WARP = 32
_WORD = dt.uint32.itemsize


class Tiling(NamedTuple):
    """The tiles of an array, and the predicate that selects its elements.

    Attributes
    ----------
    predicate : str
        The C++ type.
    size : int
        The number of elements to test; not 0.
    pack, unroll : int
        The elements that a thread tests at once, and the number of such packs.
    offset : numpy.dtype
        The dtype of offsets in the result.
    policy : SelectPolicy
    """

    predicate: str
    size: int
    pack: int
    unroll: int
    offset: DType
    policy: SelectPolicy

    @property
    def tile(self) -> int:
        """The elements of a tile."""
        return self.policy.block * self.pack * self.unroll

    @property
    def tiles(self) -> int:
        return -(-self.size // self.tile)

    @property
    def c_offset(self) -> str:
        return dt.INFO[self.offset].c_type


def tiling_of(predicate: str, x: Layout, itemsize: int, policy: SelectPolicy) -> Tiling:
    """The tiles of a C-contiguous `x`, if each selected element writes `itemsize` bytes.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> tiling_of("NonZero", layout_of(dt.bool, (8,), None, Device("cuda")), 4, tuning_of(90).select)[:5]
    ('NonZero<bool, 16>', 8, 4, 8, dtype('uint32'))
    """
    pack = MAX_PACK_BYTES // max(x.dtype.itemsize, itemsize)
    return Tiling(
        f"{predicate}<{dt.INFO[x.dtype].c_type}, {x.align // x.dtype.itemsize or 1}>",
        x.size,
        pack,
        policy.unroll if pack < MAX_PACK_BYTES else policy.unroll_bytes,
        dt.uint32 if x.size < INDEX_LIMIT else dt.uint64,
        policy,
    )


class Counts(NamedTuple):
    """The results of the first pass.

    Attributes
    ----------
    total : Callable
        Waits for the device, and returns the number of selected elements.
    flags : int
        The address of a bit for each element.
    offsets : int
        The address of the offset of each tile in the result.
    block : Block
        The memory of both.
    """

    total: Callable[[], int]
    flags: int
    offsets: int
    block: Block


def counter(runtime: Runtime, tiling: Tiling) -> Callable[[int, int], Counts]:
    """The first pass: a function ``(stream, address of the predicate's operand)``."""
    policy = tiling.policy
    block, scan_block, scan_items = policy.block, policy.scan_block, policy.scan_items
    warps = block // _WARP
    count = runtime.launcher(
        "select", count_glue(tiling), -(-tiling.tiles // warps), block, "QQQ", struct.pack("<Q", tiling.size)
    )
    scan = runtime.launcher("select", scan_glue(tiling), 1, scan_block, "QQ", struct.pack("<Q", tiling.tiles))
    offsets_bytes = -(-(tiling.tiles + 1) // scan_items) * scan_items * tiling.offset.itemsize
    allocate = runtime.pool.allocator(offsets_bytes + -(-tiling.size // (8 * _WORD)) * _WORD)

    def counted(stream: int, source: int) -> Counts:
        offsets, block = allocate(stream)
        flags = offsets + offsets_bytes
        count(stream, source, offsets, flags)
        return Counts(runtime.ask(stream, lambda word: scan(stream, offsets, word)), flags, offsets, block)

    return counted


def count_glue(tiling: Tiling) -> str:
    """The glue of the kernel that tests every element, and counts the selected ones of each tile."""
    call = f"count_tiles<{tiling.predicate}, {tiling.c_offset}, {tiling.policy.block}, {tiling.tile}>"
    return glue(call, "SelectParams<3>", tiling.policy.block)


def scan_glue(tiling: Tiling) -> str:
    """The glue of the kernel that scans the counts to offsets."""
    threads, items = tiling.policy.scan_block, tiling.policy.scan_items
    return glue(f"scan_tiles<{tiling.c_offset}, {threads}, {items}>", "ScanTilesParams", threads)


def glue(call: str, params: str, threads: int) -> str:
    """The glue of a selection kernel."""
    return "\n".join(
        [
            "#include <xpops/kernels/select.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(threads), params, call),
        ]
    )
