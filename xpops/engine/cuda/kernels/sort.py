"""Sort on CUDA: short rows in registers (``native/xpops/kernels/sort/row_sort.cuh``), long rows by radix passes.

If only the first elements of long rows are wanted, they are found without sorting (``kernels/topk.py``).
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.core.powers import power_of_two
from xpops.engine.cuda.kernels.elementwise import empty_kernel, unary
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.kernels.topk import topk
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.tuning.policies import PassPolicy, SortPolicy
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.plan.topk import plan_topk

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

DIGITS = 256
# From the first row length on, counts of keys have 64 bits. From the second on, indices in radix passes have 64 bits.
LONG_COUNT, LONG_INDEX = 2**30, 2**32


class Sort(NamedTuple):
    """One call: the rows of `x`, and the results.

    Attributes
    ----------
    values : bool
        Whether they are wanted.
    placed : numpy.dtype or None
        The dtype of indices, if they are wanted.
    kept : int
        The results keep the first elements of each sorted row.
    """

    dtype: DType
    rows: int
    length: int
    values: bool
    placed: DType | None
    descending: bool
    kept: int
    policy: SortPolicy

    def addresses(self, data: tuple[int, ...]) -> tuple[int, int, int]:
        """The addresses of values, indices and x from a kernel's arguments; 0 for a result that is not wanted."""
        return (data[0] if self.values else 0), (data[-2] if self.placed is not None else 0), data[-1]

    def glue(self, family: str, body: str, block: int, blocks: int = 1) -> str:
        """The source of a kernel of ``kernels/sort/<family>_sort.cuh``."""
        return f"#include <xpops/kernels/sort/{family}_sort.cuh>\nusing namespace xpops;\n" + kernel_text(
            launch_bounds(block, blocks), f"{family.title()}{'Sort' * (family == 'row')}Params", body
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
    length, kept = x.shape[-1], next(each.shape[-1] for each in (values, indices) if each is not None)
    if x.size == 0 or kept == 0:
        return empty_kernel
    index = None if indices is None else indices.dtype
    tuning = tuning_of(runtime.context.capability)
    call = Sort(x.dtype, x.size // length, length, values is not None, index, descending, kept, tuning.sort)
    few = tuning.topk.shortest < length and 4 * kept <= length
    if length <= tuning.sort.row_limits[call.compared] and not few:
        return _sort_rows(runtime, call)
    if kept < length and kept <= tuning.topk.most:
        return _sort_first(runtime, call, x.align)
    return _sort_radix(runtime, call) if kept == length else _sort_whole(runtime, call)


def _sort_first(runtime: Runtime, call: Sort, align: int) -> Kernel:
    policy, multiprocessors = tuning_of(runtime.context.capability).topk, runtime.context.multiprocessors
    stages = plan_topk(call.rows, call.length, call.kept, call.dtype.itemsize, multiprocessors, policy)
    kernel = topk(runtime, call.dtype, align, call.placed or dt.int64, call.descending, stages)
    return lambda stream, *data: kernel(stream, *call.addresses(data))


def _sort_whole(runtime: Runtime, call: Sort) -> Kernel:
    """Sort whole rows, then copy the first elements of each."""
    device, dtypes = runtime.context.device, [call.dtype] * call.values
    dtypes += [] if call.placed is None else [call.placed]
    copies, starts = [], [0]
    for dtype in dtypes:
        part = layout_of(dtype, (call.rows, call.kept), (call.length, 1), device)
        copies.append(unary(runtime, IDENTITY, part, layout_of(dtype, part.shape, None, device)))
        starts.append(starts[-1] + -(-call.rows * call.length * dtype.itemsize // 256) * 256)
    sort_rows, allocate = _sort_radix(runtime, call), runtime.pool.allocator(starts[-1])

    def kernel(stream: int, *data: int) -> None:
        scratch, owner = allocate(stream)
        whole = [scratch + start for start in starts[:-1]]
        sort_rows(stream, *whole, data[-1])
        for copy, result, rows in zip(copies, data, whole, strict=False):
            copy(stream, result, rows)
        del owner  # the stream runs the next work on this memory after the copies

    return kernel


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
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> plan_rows(Sort(dt.float32, 1000, 64, True, None, False, 64, tuning_of(90).sort))
    RowPlan(items=32, lanes=2, block=128, blocks=16)
    """
    room = power_of_two(call.length)
    items = min(room, call.policy.row_items[call.compared])
    lanes = room // items
    block = max(call.policy.row_block, lanes)
    return RowPlan(items, lanes, block, -(-call.rows // (block // lanes)))


def row_source(call: Sort, plan: RowPlan) -> str:
    """The glue of a row sort."""
    full = truth(plan.items * plan.lanes == call.length)
    body = f"row_sort<{call.types}, {truth(call.values)}, {call.out}, {plan.items}, {plan.lanes}, {full}, {plan.block}>"
    return call.glue("row", body, plan.block)


def _sort_rows(runtime: Runtime, call: Sort) -> Kernel:
    plan = plan_rows(call)
    tail = pack("<QII", call.rows, call.length, call.kept)
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
    policy = call.policy.passes[call.dtype.itemsize, index_bytes]
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
    count_block = call.policy.count_block
    count_items = max(1, call.policy.count_items * 4 // max(4, call.dtype.itemsize))
    return (
        call.glue("radix", f"radix_count<{call.types}, {plan.counts}, {count_block}, {count_items}>", count_block),
        call.glue("radix", f"radix_prepare<{c_type}, {plan.counts}>", DIGITS),
        call.glue("radix", f"radix_pass<{call.types}, {moved}, {plan.counts}, {block}, {items}>", block, blocks),
    )


def _sort_radix(runtime: Runtime, call: Sort) -> Kernel:
    plan = plan_radix(call)
    digits, size = call.dtype.itemsize, call.rows * call.length
    tail = pack("<QII", call.length, call.rows, plan.tiles)
    count, prepare, move = sources = radix_sources(call, plan)
    runtime.announce("sort", sources)
    policy = call.policy
    tiles_to_count = -(-call.length // (policy.count_block * policy.count_items))
    counters = min(tiles_to_count, max(1, policy.count_waves * runtime.context.multiprocessors // call.rows))

    def launcher(source: str, blocks: int, threads: int) -> Any:
        return runtime.launcher("sort", source, blocks, threads, "11Q", tail)

    launch_count = launcher(count, counters * call.rows, policy.count_block)
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
