"""``python -m benchmarks.sources``: repeats the comparisons of the source documents, for ``docs/sources/``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import xpops as xp
from benchmarks.kernels import module
from benchmarks.timing import device_times
from xpops.engine import engine_of
from xpops.engine.cuda.kernels.matmul import tiled
from xpops.plan.matmul import plan_product

_Works = dict[str, Callable[[], Any]]
# The grid and the block of kernels whose threads take many elements each, and the side of a tile of a product.
BLOCKS, THREADS, TILE = 2048, 256, 16
# The calls of a graph.
REPEATS = 20


def _atomics(name: str, *arguments: Any) -> Callable[[], Any]:
    kernel = module("atomics").get_function(name)
    return lambda: kernel(BLOCKS, THREADS, arguments)


def dots(count: int = 2**16) -> _Works:
    """Inner products in float16: the test in the document on FastAtomicAdd.

    The loops of compare-and-swap take a time that is quadratic in `count`: 24 s for 2^20. Each call begins with a sum
    of 0, because products that are too small to change the sum are added without a conflict.
    """
    x, y = (torch.randn(count, device="cuda", dtype=torch.float16) for _ in range(2))
    one, pair, fast = (torch.zeros(2, device="cuda", dtype=torch.float16) for _ in range(3))

    def from_zero(name: str, out: torch.Tensor, steps: int) -> Callable[[], Any]:
        launch = _atomics(name, x, y, out, steps)
        return lambda: (out.zero_(), launch())

    return {
        "half atomics": from_zero("dot", one, count),
        "half2 atomics": from_zero("dot_pairs", pair, count // 2),
        "FastAtomicAdd": from_zero("dot_fast", fast, count),
        "torch.dot": lambda: torch.dot(x, y),
        "xp.vecdot": lambda: xp.vecdot(x, y),
    }


def scatters(count: int = 2**26, places: int = 2**20) -> _Works:
    """Scatter-add in float16 to random places."""
    index = torch.randint(0, places, (count,), device="cuda")
    source = torch.randn(count, device="cuda", dtype=torch.float16)
    x, total, fast = (torch.zeros(places, device="cuda", dtype=torch.float16) for _ in range(3))
    return {
        "half atomics": _atomics("scatter", total, index, source, count),
        "FastAtomicAdd": _atomics("scatter_fast", fast, index, source, count, places),
        "torch": lambda: torch.scatter_add(x, 0, index, source),
        "xpops": lambda: xp.nn.scatter_add(x, index, source, deterministic=False),
        "xpops, reproducible": lambda: xp.nn.scatter_add(x, index, source),
    }


def products(batches: int, heads: int, rows: int, inner: int) -> _Works:
    """Products of float32 matrices, (..., rows, inner) by (..., inner, rows): two kernels, our tiles, cuBLAS."""
    x = torch.randn(batches, heads, rows, inner, device="cuda")
    y = torch.randn(batches, heads, inner, rows, device="cuda")
    out = torch.empty(batches, heads, rows, rows, device="cuda")
    tiles = -(-rows // TILE)
    kernels = module("matmul")

    def launched(name: str) -> Callable[[], Any]:
        kernel = kernels.get_function(name)
        return lambda: kernel((tiles, tiles, batches), (TILE, TILE), (x, y, out))

    ours, others, made = xp.asarray(x), xp.asarray(y), xp.asarray(torch.empty_like(out))
    engine: Any = engine_of(ours.device)
    by_tiles = tiled(engine, plan_product(ours._layout, others._layout), ours._layout)
    return {
        "global memory": launched("product"),
        "shared memory": launched("product_by_tiles"),
        "our tiles": lambda: by_tiles(0, made._data, ours._data, others._data),
        "xp.matmul": lambda: xp.matmul(x, y),
        "torch.matmul": lambda: torch.matmul(x, y),
    }


def captured(works: _Works) -> _Works:
    """The same works as CUDA graphs of `REPEATS` calls each, without the host's time."""

    def replayed(work: Callable[[], Any]) -> Callable[[], Any]:
        work()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(REPEATS):
                work()
        replay: Callable[[], Any] = graph.replay
        return replay

    return {name: replayed(work) for name, work in works.items()}


def main() -> None:
    """Measure, and print microseconds on the device, the median of 5 rounds."""
    small = products(8, 4, 128, 32)
    del small["our tiles"]  # which are launched on the default stream
    graphs = {name: value / REPEATS for name, value in device_times(captured(small), 5).items()}
    _print("matmul (8,4,128,32) in graphs", graphs)
    works: dict[str, Callable[[], _Works]] = {
        "dot product of 2^16 halves": dots,
        "2^26 halves into 2^20 places": scatters,
        "matmul (8,4,128,32)": lambda: products(8, 4, 128, 32),
        "matmul (1024,1024)": lambda: products(1, 1, 1024, 1024),
        "matmul (4096,4096)": lambda: products(1, 1, 4096, 4096),
    }
    for name, make in works.items():
        _print(name, device_times(make(), 5))


def _print(name: str, times: dict[str, float]) -> None:
    print(f"{name:30}" + "".join(f"  {way} {value:.1f}" for way, value in times.items()), flush=True)


if __name__ == "__main__":
    main()
