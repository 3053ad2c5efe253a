"""Tuning numbers: one row for each compute capability on which they were measured.

A GPU of another capability takes the nearest row. A number that depends on the number of multiprocessors is given for
one multiprocessor.
"""

from __future__ import annotations

from typing import NamedTuple

from xpops.core.dtypes import COMPLEX_FLOATS, FLOAT8, DType, float64
from xpops.ops.operator import Operator
from xpops.plan.elementwise import Policy
from xpops.plan.fused.rows import RowsPolicy
from xpops.plan.gather import GatherPolicy
from xpops.plan.reduce import ReducePolicy
from xpops.plan.scan.parameters import ScanPolicy
from xpops.plan.scatter import ScatterPolicy
from xpops.plan.search import SearchPolicy
from xpops.plan.softmax import SoftmaxPolicy


class FlatPolicy(NamedTuple):
    """A kernel with one loop: the threads of a block, and what a thread does at once (packs, words or counters)."""

    block: int
    unroll: int


class HistogramPolicy(NamedTuple):
    """Tuning numbers of the histogram family.

    Attributes
    ----------
    block, unroll, blocks : int
        The threads of a block, the packs that a thread loads at once, and the blocks for each multiprocessor.
    least_bins, counters : int
        The least bins and the most counters of a block in shared memory. A block has a counter for each bin, in as many
        copies as fit, at most one for each lane.
    guess : int
        The bins of the first pass if the caller gave no `minlength`.
    """

    block: int
    unroll: int
    blocks: int
    least_bins: int
    counters: int
    guess: int


class TilePolicy(NamedTuple):
    """A matrix product in tiles.

    Attributes
    ----------
    tile, step, cells : int
        The edge of a block's tile, the step along the inner axis, and the edge of the cells of a thread.
    resident : int
        The threads that must be resident on a multiprocessor.
    """

    tile: int
    step: int
    cells: int
    resident: int


class MatmulPolicy(NamedTuple):
    """Tuning numbers of matrix products.

    Attributes
    ----------
    large, small : TilePolicy
        `small` is for products whose large tiles do not fill the GPU, and for types wider than 4 bytes.
    digits : int
        With at least this many multiplications of integers, splitting them into digits is faster than the tiles.
    digits_block : int
        The threads of a block that splits.
    workspace : int
        The most scratch memory of a product by cuBLASLt.
    """

    large: TilePolicy
    small: TilePolicy
    digits: int
    digits_block: int
    workspace: int


class SelectPolicy(NamedTuple):
    """Tuning numbers of the select family.

    Attributes
    ----------
    block : int
        The threads of a block.
    scan_block, scan_items : int
        The threads of the single block that scans the counts, and the counts that each loads at once.
    unroll, unroll_bytes : int
        The packs that a thread tests. `unroll_bytes` is for packs of 16 elements, since each element adds code.
    """

    block: int
    scan_block: int
    scan_items: int
    unroll: int
    unroll_bytes: int


class PassPolicy(NamedTuple):
    """A radix pass: threads of a block, keys of a thread, and the least resident blocks of a multiprocessor."""

    block: int
    items: int
    blocks: int


class SortPolicy(NamedTuple):
    """Tuning numbers of the sort family.

    Attributes
    ----------
    row_block : int
        The least threads of a block that sorts rows in registers.
    row_items, row_limits : dict of int to int
        By the bytes compared, a key and perhaps its index: the keys that a thread sorts in registers, and the longest
        row that is sorted so. Shared memory, at most 48 KiB, holds a row.
    count_block, count_items, count_waves : int
        The threads of a block that counts digits, the keys of a thread, and the blocks for each multiprocessor.
    passes : dict of (int, int) to PassPolicy
        By the bytes of a key, and of the index that moves with it (0: none). Shared memory, at most 48 KiB, holds a
        tile.
    """

    row_block: int
    row_items: dict[int, int]
    row_limits: dict[int, int]
    count_block: int
    count_items: int
    count_waves: int
    passes: dict[tuple[int, int], PassPolicy]


class LinalgPolicy(NamedTuple):
    """Tuning numbers of linear algebra.

    Attributes
    ----------
    block : int
        The threads of a block of our own kernels.
    batched_size, batched_count : int
        Larger matrices, and stacks of fewer matrices, are decomposed one by one: batched routines are for many small
        matrices.
    """

    block: int
    batched_size: int
    batched_count: int


class Tuning(NamedTuple):
    """The tuning numbers for one compute capability.

    Attributes
    ----------
    gpu : str
        The GPU for which they were chosen, and when. Comments tell what was measured.
    elementwise : Policy
    long_elements : int
        The most elements of a thread for functors that are not memory-bound. More would take too long to compile.
    fused_copies : int
        A thread reduces at most this many times the elements that it would write in an elementwise kernel of the
        expression. Each element adds code, and long code takes long to compile.
    block : int
        The threads of a block of the kernels that have no other number: rescale and upsample.
    """

    gpu: str
    elementwise: Policy
    long_elements: int
    arange: FlatPolicy
    fused_copies: int
    fused_rows: RowsPolicy
    gather: GatherPolicy
    histogram: HistogramPolicy
    join: FlatPolicy
    linalg: LinalgPolicy
    matmul: MatmulPolicy
    random: FlatPolicy
    reduce: ReducePolicy
    scan: ScanPolicy
    scatter: ScatterPolicy
    search: SearchPolicy
    select: SelectPolicy
    softmax: SoftmaxPolicy
    sort: SortPolicy
    block: int


_HOPPER = Tuning(
    gpu="one H200, 2026-11",
    # Measured over blocks of 128 to 512 threads, 1 to 8 packs per thread, and tiles of 32 and 64.
    elementwise=Policy(block=128, unroll=2, elements_per_thread=16, tile_block=256, tile=64),
    # Fewer than a 16-byte pack of float16 are slower: exp of 2**28 takes 328 us with 4, 262 us with 8.
    long_elements=8,
    arange=FlatPolicy(block=128, unroll=2),
    fused_copies=2,
    fused_rows=RowsPolicy(held_bytes=128, steps=16, warp_row=1024, warps_block=128, streaming_block=512),
    gather=GatherPolicy(block=256, unroll=4, long_row=16, scatter_block=256, waves=16),
    # So many blocks are resident at once with the most counters (32 KiB): no block waits for another to end.
    histogram=HistogramPolicy(block=256, unroll=2, blocks=6, least_bins=256, counters=8192, guess=1024),
    join=FlatPolicy(block=256, unroll=4),
    # The limits of batches follow other libraries' choices; not measured.
    linalg=LinalgPolicy(block=128, batched_size=512, batched_count=3),
    matmul=MatmulPolicy(
        large=TilePolicy(tile=128, step=16, cells=8, resident=512),
        small=TilePolicy(tile=64, step=16, cells=4, resident=1024),
        digits=2**32,
        digits_block=256,
        workspace=32 << 20,  # as in torch
    ),
    # Measured over 128 to 512 threads, and 2 and 4 counters.
    random=FlatPolicy(block=256, unroll=4),
    # Measured over 2 to 16 blocks for each multiprocessor, and 32 to 128 bytes for each thread.
    reduce=ReducePolicy(block=256, blocks=4, bytes_per_thread=64, elements_per_thread=32, large_operands=4),
    scan=ScanPolicy(
        rows_block=128,
        tile_block=128,
        rows=32,
        bytes=128,
        tile_bytes=256,
        packs=16,
        words=32,
        column_warps=16,
        column_rows=8,
        resident=1024,
        hop=3.0,
        speed=4e6,
    ),
    scatter=ScatterPolicy(
        block=256, unroll=4, blocks=6, shared=1 << 15, least_slots=256, crowded=64, lanes=8, chunk=128
    ),
    # Estimates, not measured.
    search=SearchPolicy(
        block=256, blocks=4, bytes=16, fan_bits=3, top_bytes=16 << 10, least=1 << 14, share=32, builders=32
    ),
    # Half of 2**28 float32 selected: 438 us with 8 packs, 453 us with 4.
    select=SelectPolicy(block=256, scan_block=1024, scan_items=16, unroll=8, unroll_bytes=4),
    # By the compiler's count of registers two blocks of 512 threads then fit on a multiprocessor; not measured.
    softmax=SoftmaxPolicy(block=256, largest_block=1024, held_bytes=128, columns=8, blocks=4),
    # With these, rows of 64 to 4096 keys meet their performance targets. Passes measured: (4, 0), (8, 0), (4, 4) and
    # (8, 4), over blocks of 256 and 384 threads and 8 to 24 keys. The others are chosen by analogy.
    sort=SortPolicy(
        row_block=128,
        row_items={4: 32, 8: 16, 12: 8},
        row_limits={4: 4096, 8: 4096, 12: 2048},
        count_block=512,
        count_items=16,
        count_waves=4,
        passes={
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
        },
    ),
    block=256,
)

# The rows by compute capability: 90 for 9.0.
ROWS = {90: _HOPPER}


def measured(capability: int) -> int:
    """The capability of the nearest row.

    Examples
    --------
    >>> measured(90), measured(80)
    (90, 90)
    """
    return min(ROWS, key=lambda row: abs(row - capability))


def tuning_of(capability: int) -> Tuning:
    """The tuning numbers for a compute capability."""
    return ROWS[measured(capability)]


def elementwise_policy(op: Operator, loop: DType, capability: int) -> Policy:
    """The policy of elementwise kernels for `op` with loop dtype `loop`, on a compute capability (90 for 9.0)."""
    tuning = tuning_of(capability)
    policy = tuning.elementwise
    is_long = op.long == "always" or (loop in COMPLEX_FLOATS and (op.transcendental or op.long == "complex"))
    if is_long or op.cost != "memory" or loop in FLOAT8:
        policy = policy._replace(elements_per_thread=tuning.long_elements)
    return policy._replace(outlined=is_long or (op.transcendental and loop == float64))


def reduce_policy(capability: int, multiprocessors: int) -> ReducePolicy:
    """The policy of reduce kernels on a GPU with so many multiprocessors."""
    policy = tuning_of(capability).reduce
    return policy._replace(blocks=policy.blocks * multiprocessors)


def scan_policy(capability: int, multiprocessors: int) -> ScanPolicy:
    """The policy of scan kernels on a GPU with so many multiprocessors."""
    policy = tuning_of(capability).scan
    return policy._replace(rows=policy.rows * multiprocessors)
