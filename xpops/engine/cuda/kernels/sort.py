"""Sort on CUDA: short rows in registers (``native/xpops/kernels/row_sort.cuh``), long rows by radix passes."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.protocol import Kernel

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# Numbers for compute capability 9.0. With these, rows of 64 to 4096 keys meet their performance targets.
ROW_BLOCK = 128
# By the bytes compared, a key and perhaps its index: the keys that a thread sorts in registers, and the longest row
# that is sorted so. Shared memory, at most 48 KiB, holds a row.
ROW_ITEMS = {4: 32, 8: 16, 12: 8}
ROW_LIMITS = {4: 4096, 8: 4096, 12: 2048}

DIGITS = 256
COUNT_BLOCK, COUNT_ITEMS = 512, 16
# The blocks for each multiprocessor that count digits.
COUNT_WAVES = 4
# From the first row length on, counts of keys have 64 bits. From the second on, indices in radix passes have 64 bits.
LONG_COUNT, LONG_INDEX = 2**30, 2**32


class PassPolicy(NamedTuple):
    """A radix pass: threads of a block, keys of a thread, and the least resident blocks of a multiprocessor."""

    block: int
    items: int
    blocks: int


# By the bytes of a key, and of the index that moves with it (0: none). Shared memory, at most 48 KiB, holds a tile.
# Measured on one H200, 2026-11: (4, 0), (8, 0), (4, 4) and (8, 4), over blocks of 256 and 384 threads and 8 to 24 keys.
# The other entries are chosen by analogy.
PASS_POLICIES = {
    (1, 0): PassPolicy(384, 24, 3),
    (2, 0): PassPolicy(384, 24, 3),
    (4, 0): PassPolicy(256, 20, 4),
    (8, 0): PassPolicy(256, 15, 3),
    (1, 4): PassPolicy(384, 18, 2),
    (2, 4): PassPolicy(384, 18, 2),
    (4, 4): PassPolicy(384, 18, 2),
    (8, 4): PassPolicy(384, 11, 2),
    (1, 8): PassPolicy(384, 11, 2),
    (2, 8): PassPolicy(384, 11, 2),
    (4, 8): PassPolicy(384, 11, 2),
    (8, 8): PassPolicy(384, 11, 2),
}


class Sort(NamedTuple):
    """One call: the rows of `x`, and the results. `values`: if wanted; `placed`: the dtype of indices."""

    dtype: DType
    rows: int
    length: int
    values: bool
    placed: DType | None
    descending: bool

    def addresses(self, data: tuple[int, ...]) -> tuple[int, int, int]:
        """The addresses of values, indices and x from a kernel's arguments; 0 for a result that is not wanted."""
        return (data[0] if self.values else 0), (data[-2] if self.placed is not None else 0), data[-1]

    def glue(self, family: str, body: str, block: int, blocks: int = 1) -> str:
        """The source of a kernel of ``kernels/<family>_sort.cuh``."""
        return (
            f"#include <xpops/kernels/{family}_sort.cuh>\n"
            "using namespace xpops;\n"
            f'extern "C" __global__ void __launch_bounds__({block}, {blocks})\n'
            f"xpops_kernel(const __grid_constant__ {family.title()}{'Sort' * (family == 'row')}Params params) {{\n"
            f"  {body}(params);\n"
            "}\n"
        )

    @property
    def compared(self) -> int:
        """The bytes compared in registers: a key, and its index if indices are wanted."""
        wide = {1: 4, 2: 4, 4: 8, 8: 12} if self.placed is not None else {1: 4, 2: 4, 4: 4, 8: 8}
        return wide[self.dtype.itemsize]

    @property
    def types(self) -> str:
        return f"{dt.INFO[self.dtype].c_type}, {truth(self.descending)}"

    @property
    def out(self) -> str:
        return "void" if self.placed is None else dt.INFO[self.placed].c_type


def sort(runtime: Runtime, x: Layout, values: Layout | None, indices: Layout | None, descending: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.sort`."""
    if x.size == 0:
        return empty_kernel
    length = x.shape[-1]
    index = None if indices is None else indices.dtype
    call = Sort(x.dtype, x.size // length, length, values is not None, index, descending)
    return _sort_rows(runtime, call) if length <= ROW_LIMITS[call.compared] else _sort_radix(runtime, call)


class RowPlan(NamedTuple):
    """The shape of a row sort: keys of a thread, threads of a row, threads of a block, blocks."""

    items: int
    lanes: int
    block: int
    blocks: int


def plan_rows(call: Sort) -> RowPlan:
    """The plan of a row sort, for rows that fit in the registers of a block.

    Examples
    --------
    >>> plan_rows(Sort(dt.float32, 1000, 64, True, None, False))
    RowPlan(items=32, lanes=2, block=128, blocks=16)
    """
    room = 1 << (call.length - 1).bit_length()
    items = min(room, ROW_ITEMS[call.compared])
    lanes = room // items
    block = max(ROW_BLOCK, lanes)
    return RowPlan(items, lanes, block, -(-call.rows // (block // lanes)))


def row_source(call: Sort, plan: RowPlan) -> str:
    """The glue of a row sort."""
    full = truth(plan.items * plan.lanes == call.length)
    body = f"row_sort<{call.types}, {truth(call.values)}, {call.out}, {plan.items}, {plan.lanes}, {full}, {plan.block}>"
    return call.glue("row", body, plan.block)


def _sort_rows(runtime: Runtime, call: Sort) -> Kernel:
    plan = plan_rows(call)
    tail = pack("<QII", call.rows, call.length, 0)
    launch = runtime.launcher("sort", row_source(call, plan), plan.blocks, plan.block, "QQQ", tail)

    def kernel(stream: int, *data: int) -> None:
        launch(stream, *call.addresses(data))

    return kernel


class RadixPlan(NamedTuple):
    """The plan of a radix sort: C++ types of counts and of moved indices, bytes of an index, policy, tiles of a row."""

    counts: str
    carried: str
    index_bytes: int
    policy: PassPolicy
    tiles: int


def plan_radix(call: Sort) -> RadixPlan:
    """Plan a radix sort."""
    wide = call.length >= LONG_INDEX
    index_bytes = 0 if call.placed is None else 8 if wide else 4
    policy = PASS_POLICIES[call.dtype.itemsize, index_bytes]
    return RadixPlan(
        "uint64" if call.length >= LONG_COUNT else "uint32",
        {0: "void", 4: "uint32", 8: "uint64"}[index_bytes],
        index_bytes,
        policy,
        -(-call.length // (policy.block * policy.items)),
    )


def radix_sources(call: Sort, plan: RadixPlan) -> tuple[str, str, str]:
    """The glue of three kernels: count digits, prepare the passes, and one pass."""
    block, items, blocks = plan.policy
    c_type = dt.INFO[call.dtype].c_type
    moved = f"{truth(call.values)}, {plan.carried}, {call.out}"
    count_items = max(1, COUNT_ITEMS * 4 // max(4, call.dtype.itemsize))
    return (
        call.glue("radix", f"radix_count<{call.types}, {plan.counts}, {COUNT_BLOCK}, {count_items}>", COUNT_BLOCK),
        call.glue("radix", f"radix_prepare<{c_type}, {plan.counts}>", DIGITS),
        call.glue("radix", f"radix_pass<{call.types}, {moved}, {plan.counts}, {block}, {items}>", block, blocks),
    )


def _sort_radix(runtime: Runtime, call: Sort) -> Kernel:
    plan = plan_radix(call)
    digits, size = call.dtype.itemsize, call.rows * call.length
    tail = pack("<QII", call.length, call.rows, plan.tiles)
    count, prepare, move = radix_sources(call, plan)
    tiles_to_count = -(-call.length // (COUNT_BLOCK * COUNT_ITEMS))
    counters = min(tiles_to_count, max(1, COUNT_WAVES * runtime.context.multiprocessors // call.rows))

    def launcher(source: str, blocks: int, threads: int) -> Any:
        return runtime.launcher("sort", source, blocks, threads, "11Q", tail)

    launch_count = launcher(count, counters * call.rows, COUNT_BLOCK)
    launch_prepare = launcher(prepare, call.rows, DIGITS)
    launch_move = launcher(move, plan.tiles * call.rows, plan.policy.block)

    word = 8 if plan.counts == "uint64" else 4
    states = call.rows * plan.tiles * DIGITS * word
    # The pieces that must be zero come first. Passes alternate between two buffers. Every other pass writes to the
    # results' memory, if these results are wanted; the sorted values end there.
    pieces = (
        call.rows * digits * DIGITS * word,
        call.rows * digits * 4,
        states,
        states if digits > 1 else 0,
        call.rows * 4,
        size * digits if digits > 1 else 0,
        size * digits if digits > 2 and not call.values else 0,
        size * plan.index_bytes if digits > 1 else 0,
    )
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + -(-piece // 256) * 256)
    zeroed, allocate = starts[3], runtime.pool.allocator(starts[-1])

    def kernel(stream: int, *data: int) -> None:
        values, indices, x = call.addresses(data)
        scratch, owner = allocate(stream)
        counts, tickets, state, _, passes, odd, even, index_odd = (scratch + start for start in starts[:-1])
        runtime.zero(scratch, zeroed, stream)
        buffers = (x, indices, values or even, odd, indices, index_odd, counts, passes, tickets, state)
        launch_count(stream, *buffers, 0)
        launch_prepare(stream, *buffers, 0)
        for digit in range(digits):
            launch_move(stream, *buffers, digit)
        del owner  # the stream runs the next work on this memory after the passes

    return kernel
