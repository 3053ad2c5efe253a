"""The kernels of the benchmarks on a GPU, on torch tensors, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.kernels import module

RANDOM = np.random.default_rng(3)
DTYPES = ("float32", "float16")


def drawn(torch: Any, dtype: str, *shape: int) -> tuple[Any, Any]:
    """Small whole numbers as float64, and as a torch tensor on the GPU."""
    x = RANDOM.integers(-3, 4, shape).astype(np.float64)
    return x, torch.tensor(x, dtype=getattr(torch, dtype), device="cuda")


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(got.double().cpu().numpy(), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_primitives(cuda_torch: Any, dtype: str) -> None:
    from benchmarks import primitives

    for rows, columns in ((64, 1024), (5, 333), (3, 1000)):
        (x, given), (y, other), (row, single) = (
            drawn(cuda_torch, dtype, *shape) for shape in ((rows, columns), (rows, columns), (columns,))
        )
        for _ in range(2):
            same(primitives.add(given, other), x + y)
            same(primitives.add_broadcast(given, single), x + row)
            same(primitives.sum_rows(given), x.sum(1))
            same(primitives.scan_rows(given), x.cumsum(1))


def test_atomics(cuda_torch: Any) -> None:
    torch, atomics, count = cuda_torch, module("atomics"), 500
    (x, left), (y, right) = (drawn(torch, "float16", count) for _ in range(2))
    for name, size, wanted in (
        ("dot", count, [x @ y, 0]),
        ("dot_pairs", count // 2, [x[::2] @ y[::2], x[1::2] @ y[1::2]]),
        ("dot_fast", count, [x @ y, 0]),
    ):
        out = torch.zeros(2, dtype=torch.float16, device="cuda")
        atomics.get_function(name)(2, 64, (left, right, out, size))
        same(out, wanted)
    index = RANDOM.integers(0, 7, count)
    for name, more in (("scatter", ()), ("scatter_fast", (7,))):
        out = torch.zeros(7, dtype=torch.float16, device="cuda")
        atomics.get_function(name)(2, 64, (out, torch.tensor(index, device="cuda"), left, count, *more))
        same(out, np.bincount(index, x, 7))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["product", "product_by_tiles"])
def test_products(cuda_torch: Any, name: str, dtype: str) -> None:
    kernel = module("matmul").get_function(name)
    for rows, inner, columns in ((128, 32, 128), (17, 5, 33)):
        (x, left), (y, right) = (drawn(cuda_torch, dtype, 2, 3, *shape) for shape in ((rows, inner), (inner, columns)))
        out = cuda_torch.empty(2, 3, rows, columns, dtype=left.dtype, device="cuda")
        kernel((-(-columns // 16), -(-rows // 16), 2), (16, 16), (left, right, out))
        same(out, x @ y)
