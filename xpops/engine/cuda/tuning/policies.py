"""The policies of kernels whose plans are not in `xpops.plan`, and a row of the table of tuning numbers."""

from __future__ import annotations

from typing import NamedTuple

from xpops.plan.elementwise import Policy
from xpops.plan.fused.rows import RowsPolicy
from xpops.plan.gather import GatherPolicy
from xpops.plan.reduce.parameters import ReducePolicy
from xpops.plan.scan.parameters import ScanPolicy
from xpops.plan.scatter import ScatterPolicy
from xpops.plan.search import SearchPolicy
from xpops.plan.softmax.parameters import SoftmaxPolicy
from xpops.plan.staging import StagingPolicy
from xpops.plan.topk import TopKPolicy
from xpops.plan.window import WindowPolicy


class FlatPolicy(NamedTuple):
    """A kernel with one loop: the threads of a block, and what a thread does at once (packs, words or counters)."""

    block: int
    unroll: int


class JoinPolicy(NamedTuple):
    """Tuning numbers of the join family.

    Attributes
    ----------
    block, unroll : int
        The threads of a block, and the words that a thread writes.
    interleave_block, interleaved : int
        The threads of a block of the interleaving kernel, and the most arrays that it takes. Each thread has a pack of
        each array in shared memory, 48 KiB in all at most.
    """

    block: int
    unroll: int
    interleave_block: int
    interleaved: int


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
        The bins of the first pass of the first call, if the caller gave no `minlength`.
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


class DistinctPolicy(NamedTuple):
    """Tuning numbers of the distinct elements of narrow dtypes.

    Attributes
    ----------
    block, items : int
        The threads of a block, and the elements that a thread loads at once: at most 2**15 in a block.
    least : dict of int to int
        By the bytes of an element: the least elements for which counting is faster than a sort.
    copies, blocks : dict of int to int
        By the bytes of an element: the counters of a code in shared memory, and the blocks that count for each
        multiprocessor.
    first_blocks : int
        The blocks for each multiprocessor that find first places or write.
    beginning : int
        By the values of the dtype: the elements in which first places are looked for first, a multiple of 16.
    """

    block: int
    items: int
    least: dict[int, int]
    copies: dict[int, int]
    blocks: dict[int, int]
    first_blocks: int
    beginning: int


class LinalgPolicy(NamedTuple):
    """Tuning numbers of linear algebra.

    Attributes
    ----------
    block : int
        The threads of a block of our own kernels.
    batched_size, batched_count : int
        Larger matrices, and stacks of fewer matrices, are decomposed one by one: batched routines are for many small
        matrices.
    polar_size : int
        Singular vectors of matrices whose shorter side has at least this length take the polar decomposition.
    polar_float64 : int
        From this length on, that of float32 is computed in float64, by GPUs that do that fast.
    joined_size : int
        If the two lengths of a matrix add up to this, its singular values are those of a Hermitian matrix of so many
        rows, even if it is long.
    """

    block: int
    batched_size: int
    batched_count: int
    polar_size: int
    polar_float64: int
    joined_size: int


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
    fft_strided : int
        See `xpops.engine.protocol.Engine`.
    block : int
        The threads of a block of the kernels that have no other number: rescale and upsample.
    """

    gpu: str
    elementwise: Policy
    long_elements: int
    arange: FlatPolicy
    distinct: DistinctPolicy
    fft_strided: int
    fused_copies: int
    fused_rows: RowsPolicy
    gather: GatherPolicy
    histogram: HistogramPolicy
    join: JoinPolicy
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
    staging: StagingPolicy
    topk: TopKPolicy
    window: WindowPolicy
    block: int
