"""The emulator runs kernels as a GPU does, and reports errors that would be undefined behaviour on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine, KernelError, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.ops.elementwise import OPERATORS
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of

TEMPLATE = """
#include <xpops/block/warp.cuh>
using namespace xpops;
struct Params {{ uint64 data; }};
extern "C" __global__ void __launch_bounds__({threads}) {attributes}
xpops_kernel(const __grid_constant__ Params params) {{
  int* data = reinterpret_cast<int*>(params.data);
  {body}
}}
"""


def launched(body: str, blocks: int = 1, threads: int = 64, workers: int = 1, attributes: str = "") -> Any:
    """Run a kernel on 256 integers that are 0. Returns them."""
    data = np.zeros(256, np.int32)
    source = TEMPLATE.format(body=body, threads=threads, attributes=attributes)
    EmulatedEngine(workers).launcher("test", source, blocks, threads, "Q", b"")(STREAM, data.ctypes.data)
    return data


def test_threads_of_a_block_meet() -> None:
    data = launched(
        """__shared__ int shared[64];
        shared[threadIdx.x] = threadIdx.x;
        __syncthreads();
        const int other = shared[63 - threadIdx.x];
        const int even = __syncthreads_count(threadIdx.x % 2 == 0);
        data[threadIdx.x + 64 * blockIdx.x] = other * 1000 + even;""",
        blocks=3,
    )
    assert data[:192].tolist() == [1000 * (63 - i) + 32 for i in range(64)] * 3


def test_lanes_of_a_warp_meet() -> None:
    data = launched(
        """const int l = lane();
        double sum = l;
        for (int d = 16; d > 0; d /= 2) sum += shuffle_xor(sum, d);
        const unsigned odd = __ballot_sync(kFullMask, l & 1), same = __match_any_sync(kFullMask, l / 8);
        int half = 0;
        if (l < 16) half = __shfl_up_sync(0xffffu, l, 1) * 1000;
        else half = __shfl_down_sync(0xffff0000u, l, 2);
        data[threadIdx.x] = sum == 496 && odd == 0xaaaaaaaau && same == 0xffu << l / 8 * 8 ? half : -1;"""
    )
    up, down = [0, *range(15)], [*range(18, 32), 30, 31]
    assert data[:64].tolist() == ([1000 * i for i in up] + down) * 2


def test_blocks_wait_for_each_other() -> None:
    """The first block waits for the last, so all must run at the same time."""
    data = launched(
        """if (threadIdx.x == 0) {
          if (blockIdx.x == 2) atomicAdd(data, 1);
          while (*static_cast<volatile int*>(data) == 0) __nanosleep(10);
          atomicMax(data + 1, static_cast<int>(blockIdx.x));
        }""",
        blocks=3,
        workers=3,
    )
    assert data[:2].tolist() == [1, 2]


CLUSTER = """__shared__ int from[4];
{start}
const unsigned rank = blockIdx.x % 4;
if (threadIdx.x < 4) *static_cast<int*>(__cluster_map_shared_rank(&from[rank], threadIdx.x)) = 10 * blockIdx.x;
{arrive}
if (threadIdx.x < 4) data[blockIdx.x * 4 + threadIdx.x] = from[threadIdx.x];
"""
MEET = "__cluster_barrier_arrive(); __cluster_barrier_wait();"


def test_blocks_of_a_cluster_write_to_each_other() -> None:
    data = launched(CLUSTER.format(start=MEET, arrive=MEET), blocks=12, attributes="__cluster_dims__(4, 1, 1)")
    assert data[:48].tolist() == [10 * (block // 4 * 4 + rank) for block in range(12) for rank in range(4)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (blockIdx.x == 2) { " + MEET + " }", "block 2: deadlock"),
        (
            CLUSTER.format(start=MEET + "if (blockIdx.x == 3) return;", arrive=MEET),
            "a block of the cluster does not run",
        ),
    ],
)
def test_errors_of_clusters(body: str, message: str) -> None:
    """A block waits for others that do not arrive; a block ends before others write to it."""
    slow = "if (blockIdx.x < 3) for (int i = 0; i < 50; ++i) __nanosleep(10);\nconst unsigned rank"
    with pytest.raises(KernelError, match=message):
        launched(body.replace("const unsigned rank", slow), 4, attributes="__cluster_dims__(4, 1, 1)")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (threadIdx.x < 60) __syncthreads();", "deadlock: 60 threads at __syncthreads"),
        ("if (lane() != 5) __syncwarp();", "a lane that has returned"),
        ("if (lane() != 5) __syncwarp(); else __ballot_sync(kFullMask, 1);", "different warp exchanges"),
        ("data[reinterpret_cast<const uint2*>(data + 1)->x] = 1;", "misaligned access"),
        ("__shared__ int x[64]; x[threadIdx.x + 1 + data[0]] = 1; __syncthreads(); data[1] = x[5];", "out of an array"),
        ("data[0] = 1 << (threadIdx.x + data[1]);", "shift"),
        ("__trap();", "__trap"),
    ],
)
def test_what_is_an_error(body: str, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        launched(body)


def test_a_write_past_the_end_is_an_error() -> None:
    engine = EmulatedEngine()
    address, block = engine.pool.allocator(12)(STREAM)
    launch = engine.launcher("test", TEMPLATE.format(body="data[3] = 1;", threads=32, attributes=""), 1, 32, "Q", b"")
    with pytest.raises(KernelError, match="outside of an allocated block"):
        launch(STREAM, address)
    assert block.address == address


def test_a_whole_primitive() -> None:
    x, y = np.arange(70 * 90, dtype=np.float32).reshape(70, 90), np.ones((90, 70), np.float16).T
    operands = (layout_on_gpu(x), layout_on_gpu(y))
    op, engine = OPERATORS["add"], EmulatedEngine()
    signature = signature_of(op, operands)
    out = result_layout(signature, operands, operands[0].device)
    (result,) = run(engine, (out,), engine.elementwise(op, signature, operands, out), x, y)
    assert result.dtype == dt.float32
    np.testing.assert_array_equal(result, x + y)
