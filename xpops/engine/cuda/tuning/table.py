"""The table of tuning numbers: one row for each compute capability on which they were measured."""

from __future__ import annotations

from xpops.engine.cuda.tuning.policies import (
    DistinctPolicy,
    FlatPolicy,
    HistogramPolicy,
    JoinPolicy,
    LinalgPolicy,
    MatmulPolicy,
    PassPolicy,
    SelectPolicy,
    SortPolicy,
    TilePolicy,
    Tuning,
)
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

_HOPPER = Tuning(
    gpu="one H200, 2026-11",
    # Measured over blocks of 128 to 512 threads, 1 to 8 packs per thread, and tiles of 32 and 64.
    elementwise=Policy(
        block=128,
        # Of 495 drawn calls none started more than 1510 blocks in a microsecond, in which memory takes 4.65 MB.
        block_bytes=3200,
        unroll=2,
        least_elements=4,
        elements_per_thread=16,
        gathered_bytes=4,
        tile_block=256,
        tile=64,
        tile_pack=4,
        tile_length=8,
        tile_area=512,
        tile_distance=2**20,  # not measured
        # Of 37 calls 9 are slower with 32 steps, by 6 to 16%, and 3 are faster. Distances of 64, 256 and 1024 differ in
        # one call: bfloat16 whose rows have 540 elements, 185, 185 and 227 us.
        box_steps=16,
        box_distance=256,
        # float64 of 21x140480x4, stored with the last axis in the middle, each twice: 253 us, by boxes 89 us.
        cached_bytes=30 << 20,
    ),
    # Fewer than a 16-byte pack of float16 are slower: exp of 2**28 takes 328 us with 4, 262 us with 8.
    long_elements=8,
    arange=FlatPolicy(block=128, unroll=2),
    # 2**20 values of int16 take 250 us, sorted 171 us; 2**26 take 330 us, sorted 880 us.
    distinct=DistinctPolicy(
        block=1024,
        items=32,
        least={1: 1 << 14, 2: 1 << 22},
        copies={1: 32, 2: 1},
        blocks={1: 2, 2: 1},
        first_blocks=2,
        beginning=16,
    ),
    # 2^22 complex64 along the first axis, and after a copy: 26 and 39 us (512 points), 33 and 41 (2048), 80 and 43
    # (1500), 75 and 43 (8192). complex128: 44 and 71 (512), 198 and 71 (1000), 372 and 75 (1500).
    fft_strided=512,
    fused_copies=2,
    # x / sqrt(mean(x * x) + eps) * w of rows of 2^16 to 2^18 bfloat16, 2^29 bytes: 342 to 365 us with 128 bytes, 433 to
    # 493 us with 64; 343 to 507 us without `resident`.
    # The gradient of a layer norm of bfloat16, 2^26 elements in rows of 4096: 209 us with 192 bytes and 768 threads,
    # 261 with 128 and 1024; of float32 355 and 237.
    fused_rows=RowsPolicy(
        held_bytes=128,
        narrow_held_bytes=192,
        warp_held_bytes=384,
        steps=16,
        warp_row=1024,
        blocks=(128, 256, 512),
        resident=1024,
        ahead_bytes=48 << 10,
        warps_block=128,
        streaming_block=512,
        shortest=64,
        fewest=256,
        small=2**18,
        small_row=2**15,
    ),
    # Rows of 5 float32 take 131 us with 4 and 32, 106 with 2 and 16; take_along_axis across rows 259 and 275.
    gather=GatherPolicy(
        block=256,
        unroll=2,
        bytes=16,
        most=16,
        long_row=16,
        scatter_block=256,
        waves=16,
        slab=48 << 10,
        staged_block=512,
        staged_unroll=4,
    ),
    # So many blocks are resident at once with the most counters (32 KiB): no block waits for another to end.
    histogram=HistogramPolicy(block=256, unroll=2, blocks=6, least_bins=256, counters=8192, guess=1024),
    # Stacks of 2 to 16 arrays of float32 take 3 to 10% longer with 4 words.
    join=JoinPolicy(block=256, unroll=8, interleave_block=128, interleaved=16),
    # The limits of batches follow other libraries' choices; not measured.
    # The polar decomposition of float32 takes 4.9 ms for a side of 128, 5.1 for 256 and 27 for 1024; Jacobi's rotations
    # take 2.5, 6.7 and 55, the QR algorithm 9.9, 24 and 137.
    linalg=LinalgPolicy(
        block=128, batched_size=512, batched_count=3, polar_size=192, polar_float64=192, joined_size=256
    ),
    matmul=MatmulPolicy(
        large=TilePolicy(tile=128, step=16, cells=8, resident=512),
        small=TilePolicy(tile=64, step=16, cells=4, resident=1024),
        digits=2**32,
        digits_block=256,
        workspace=32 << 20,  # as in torch
    ),
    # Measured over 128 to 512 threads, and 2 and 4 counters.
    random=FlatPolicy(block=256, unroll=4),
    # Measured over 2 to 16 blocks for each multiprocessor, and 32 to 128 bytes for each thread. Unaligned columns of
    # 2-byte elements: 35 to 52 us with 3 blocks, 36 to 60 with 4. Short rows: 3 to 255 float32, 1 to 32 threads, 1 to 4
    # accesses.
    reduce=ReducePolicy(
        block=256,
        resident=4,
        shifted_resident=3,
        bytes_per_thread=64,
        elements_per_thread=32,
        whole=8,
        large_operands=4,
        narrow_groups=((24, 1), (32, 2), (64, 4), (128, 8), (256, 16)),
        wide_groups=((5, 1), (7, 2), (31, 4), (64, 8)),
        tile_bytes=16 << 10,
    ),
    # Rows and tiles were measured over 128 to 512 bytes and 512 to 1024 resident threads. With 1024, kernels spill.
    scan=ScanPolicy(
        rows_block=128,
        tile_block=128,
        rows=16,
        bytes=128,
        tile_bytes=192,
        packs=16,
        words=32,
        column_warps=8,
        column_rows=16,
        staged_block=256,
        staged_rows=31,
        staged_columns=32,
        resident=768,
        column_resident=768,
        hop=1.0,
        speed=4e6,
    ),
    scatter=ScatterPolicy(
        block=256, unroll=4, blocks=6, shared=1 << 15, least_slots=256, crowded=64, lanes=8, chunk=128
    ),
    # Estimates, not measured.
    search=SearchPolicy(
        block=256,
        blocks=4,
        bytes=16,
        fan_bits=3,
        top_bytes=16 << 10,
        whole_bytes=48 << 10,
        least=1 << 14,
        share=32,
        builders=32,
    ),
    # Half of 2**28 float32 selected: 438 us with 8 packs, 453 us with 4.
    select=SelectPolicy(block=256, scan_block=1024, scan_items=16, unroll=8, unroll_bytes=4),
    # Rows of 2^16 to 2^18 float32, 2^29 bytes: 307 to 390 us in clusters, 402 to 421 us when read twice. 2^25 float32
    # on an H100: in rows of 105, 116 us with 8 lanes, 93 with 16, and of 27, 92 and 108; in rows of 7739, 179 us by
    # elements, 123 in whole packs, and of 1001, 96 and 109; their logarithms 190 and 94, 112 and 93. 2^26 float16 on
    # an H100 in rows of 3, 5, 6, 7 and 10: 293, 358, 165, 267 and 200 us by elements, 198, 153, 138, 132 and 155 in
    # tiles; of 12, 17 and 33: 110, 141 and 103, 138, 181 and 190; of 6 with gaps 170 and 280.
    softmax=SoftmaxPolicy(
        block=256,
        largest_block=1024,
        shapes=((512, 1), (1024, 1), (512, 4), (512, 8), (1024, 8)),
        held_bytes=128,
        held_row=32 << 10,
        spread_steps=16,
        lanes=8,
        lanes_steps=64,
        column_pack=4,
        column_line=128,
        column_steps=8,
        ragged_bytes=2,
        ragged_packs=8,
        ragged_row=4096,
        tiled_row=11,
        tiled_steps=8,
        blocks=4,
        resident=2,
    ),
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
    # 2**26 elements in rows of 50001 to 262144 on an H100, as multiples of a copy. Softmax of float32: 1.06 to 1.11, in
    # registers of a cluster 1.10 to 1.26; of bfloat16: 1.06 to 1.14, if read twice 1.35 to 1.64. x / sqrt(mean(x * x) +
    # eps) * w of bfloat16: 1.15 to 1.29, in registers 1.41 to 1.57; of float32 1.14 to 1.26, in registers 1.12 to 1.25.
    # Two blocks of 512 threads in place of four of 256: log_softmax of float32 1.17 to 1.28, not 1.09 to 1.16.
    staging=StagingPolicy(clusters=(1, 2, 4, 8, 16), residents=(4, 2), threads=1024),
    # Measured over blocks of 32 to 1024 threads and 1 to 4 packs. 2**24 float32 in rows of 512 take 70 us, or 201 us if
    # sorted in registers. 2**26 in one row take 113 us with a capacity of 1024, 120 us with 4096.
    topk=TopKPolicy(
        least_block=32,
        streaming_block=512,
        largest_block=1024,
        packs=4,
        items=16,
        resident=1024,
        least_part=8192,
        least_capacity=2048,
        most=4096,
        shortest=256,
    ),
    # Of 32 rolls and pads of transposed arrays with short rows, those of sectors that are read four times or more from
    # elements 4200 or more apart take 0.2 to 0.66 of the time by a copy; one with elements 500 apart takes 1.7.
    window=WindowPolicy(block=128, copied_reads=4, copied_distance=4096),
    block=256,
)

# The rows by compute capability: 90 for 9.0.
ROWS = {90: _HOPPER}
