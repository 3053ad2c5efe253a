"""``python -m benchmarks.sources``: repeats the comparisons of the source documents, for ``docs/sources/``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import torch

import xpops as xp
from benchmarks.timing import device_times
from xpops.core.layouts import layout_of
from xpops.engine import engine_of
from xpops.engine.cuda.kernels.matmul import tiled
from xpops.plan.matmul import matmul_tail, plan_product

_Works = dict[str, Callable[[], Any]]
THREADS = 256

# The slow versions of the documents: one atomic addition in float16 for each element.
_PLAIN = r"""
#include <cuda_fp16.h>
extern "C" __global__ void dot(const __half* x, const __half* y, __half* out, long long size) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < size; i += step)
    atomicAdd(out, __hmul(x[i], y[i]));
}
extern "C" __global__ void dot_pairs(const __half2* x, const __half2* y, __half2* out, long long size) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < size; i += step)
    atomicAdd(out, __hmul2(x[i], y[i]));
}
extern "C" __global__ void scatter(__half* out, const long long* index, const __half* source, long long size) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < size; i += step)
    atomicAdd(out + index[i], source[i]);
}
"""


def _plain(name: str, size: int, *arrays: Any) -> Callable[[], Any]:
    kernel = cupy.RawModule(code=_PLAIN, options=("--std=c++17",)).get_function(name)
    given = tuple(cupy.from_dlpack(each) for each in arrays)
    return lambda: kernel((2048,), (THREADS,), (*given, size))


def dots(count: int = 2**20) -> _Works:
    """Inner products in float16: the test in the document on FastAtomicAdd."""
    x, y = (torch.randn(count, device="cuda", dtype=torch.float16) for _ in range(2))
    total, pair = (torch.zeros(each, device="cuda", dtype=torch.float16) for each in (1, 2))
    return {
        "half atomics": _plain("dot", count, x, y, total),
        "half2 atomics": _plain("dot_pairs", count // 2, x, y, pair),
        "torch.dot": lambda: torch.dot(x, y),
        "xp.vecdot": lambda: xp.vecdot(x, y),
    }


def scatters(count: int = 2**26, places: int = 2**20) -> _Works:
    """Scatter-add in float16 to random places."""
    index = torch.randint(0, places, (count,), device="cuda")
    source = torch.randn(count, device="cuda", dtype=torch.float16)
    x, total = (torch.zeros(places, device="cuda", dtype=torch.float16) for _ in range(2))
    return {
        "half atomics": _plain("scatter", count, total, index, source),
        "torch": lambda: torch.scatter_add(x, 0, index, source),
        "xpops": lambda: xp.nn.scatter_add(x, index, source, deterministic=False),
        "xpops, reproducible": lambda: xp.nn.scatter_add(x, index, source),
    }


def products(*shape: int) -> _Works:
    """Products of float32 matrices, (..., rows, inner) by (..., inner, rows): our reference, our tiles, cuBLAS."""
    x, y = torch.randn(*shape, device="cuda"), torch.randn(*shape[:-2], shape[-1], shape[-2], device="cuda")
    ours, others = xp.asarray(x), xp.asarray(y)
    one, two = ours._layout, others._layout
    engine: Any = engine_of(one.device)
    out = layout_of(one.dtype, (*one.shape[:-1], two.shape[-1]), None, one.device)
    product = plan_product(one, two)
    source = "\n".join(
        [
            "#include <xpops/kernels/matmul.cuh>",
            "using namespace xpops;",
            'extern "C" __global__ void',
            f"xpops_kernel(const __grid_constant__ MatmulParams<{len(product.batches) or 1}> params) {{",
            "  matmul_reference<float, float>(params);",
            "}",
            "",
        ]
    )
    plain = engine.launcher("matmul", source, out.size // THREADS, THREADS, "QQQ", matmul_tail(product, THREADS)[1])
    by_tiles = tiled(engine, product, one)
    made = xp.empty(out.shape, dtype=xp.float32, device=ours.device)
    addresses = made._data, ours._data, others._data
    return {
        "global memory": lambda: plain(0, *addresses),
        "shared memory": lambda: by_tiles(0, *addresses),
        "xp.matmul": lambda: xp.matmul(ours, others),
        "torch.matmul": lambda: torch.matmul(x, y),
    }


def main() -> None:
    """Measure, and print microseconds on the device, the median of 5 rounds."""
    works = {
        "dot product of 2^20 halves": dots,
        "2^26 halves into 2^20 places": scatters,
        "matmul (8,4,128,32)": lambda: products(8, 4, 128, 32),
        "matmul (1024,1024)": lambda: products(1024, 1024),
        "matmul (4096,4096)": lambda: products(4096, 4096),
    }
    for name, make in works.items():
        times = device_times(make(), 5)
        print(f"{name:30}" + "".join(f"  {way} {value:.1f}" for way, value in times.items()), flush=True)


if __name__ == "__main__":
    main()
