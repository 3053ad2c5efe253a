"""The rows for kernels made of kernel primitives (``native/xpops/kps``), beside our own functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

import xpops as xp
from benchmarks.kernels import module
from benchmarks.workload import Workload

# The elements of an array, and the threads of a block. `PACKS` and `ROWS` are kPacks and kRows of ``primitives.cu``.
N, SIDE, THREADS, PACKS, ROWS = 2**26, 2**13, 128, 2, 4
# The share of the copy's bandwidth that the issue asks of `add` and `sum`.
SHARE = 0.93


@cache
def _kernel(name: str) -> xp.kernel.RawKernel:
    return module("primitives").get_function(name)


def blocks_of(x: Any) -> int:
    """The blocks of `add` and `add_broadcast`, whose threads take packs of 16 bytes."""
    found: int = -(-x.nbytes // (16 * PACKS * THREADS))
    return found


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y for arrays of one shape."""
    out = torch.empty_like(x)
    _kernel("add")(blocks_of(x), THREADS, (x, y, out, x.numel()))
    return out


def add_broadcast(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y, where y is broadcast to the shape of x."""
    out = torch.empty_like(x)
    config = xp.kernel.broadcast_config(tuple(y.shape), y.stride(), tuple(x.shape))
    _kernel("add_broadcast")(blocks_of(x), THREADS, (x, y, out, x.numel(), config))
    return out


def sum_rows(x: torch.Tensor) -> torch.Tensor:
    """The sums of the rows of a matrix."""
    out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    _kernel("sum_rows")(x.shape[0], THREADS, (x, out, x.shape[1]))
    return out


def scan_rows(x: torch.Tensor) -> torch.Tensor:
    """Inclusive sums along the rows of a matrix of up to 1024 columns."""
    out = torch.empty_like(x)
    rows, columns = x.shape
    _kernel("scan_rows")(-(-rows // ROWS), -(-columns // 2), (x, out, rows, columns))
    return out


def _tensors(dtype: torch.dtype, **shapes: tuple[int, ...]) -> Callable[[], dict[str, torch.Tensor]]:
    return lambda: {name: torch.randn(*shape, device="cuda").to(dtype) for name, shape in shapes.items()}


def rows() -> list[Workload]:
    """Every row, in float32 and float16."""
    found = []
    square, wide = (SIDE, SIDE), (N // 1024, 1024)
    sums: dict[str, Callable[..., Any]] = {
        "kps": sum_rows,
        "xpops": lambda x: xp.sum(x, axis=-1),
        "torch": lambda x: torch.sum(x, dim=-1),
    }
    scans: dict[str, Callable[..., Any]] = {
        "kps": scan_rows,
        "xpops": lambda x: xp.cumulative_sum(x, axis=-1),
        "torch": lambda x: torch.cumsum(x, dim=-1),
    }
    for dtype, name in ((torch.float32, "f32"), (torch.float16, "f16")):
        size = dtype.itemsize
        adds: dict[str, Callable[..., Any]] = {"kps": add, "xpops": xp.add, "torch": torch.add}
        found += [
            Workload(f"kps add {name}", _tensors(dtype, x=(N,), y=(N,)), adds, 3 * size * N, share=SHARE),
            Workload(f"kps sum of rows {name}", _tensors(dtype, x=square), sums, size * N, share=SHARE),
            Workload(
                f"kps add a row {name}",
                _tensors(dtype, x=square, y=square[1:]),
                {**adds, "kps": add_broadcast},
                2 * size * N,
                best=1.0,
            ),
            Workload(f"kps scan of rows {name}", _tensors(dtype, x=wide), scans, 2 * size * N, best=1.0),
        ]
    return found
