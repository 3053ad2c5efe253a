"""Results have the same bits in every run, whatever else the GPU does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp

SIZE = 3_000_017
CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": xp.sum,
    "sum of columns": lambda x: xp.sum(xp.reshape(x[: SIZE // 17 * 17], (-1, 17)), axis=0),
    "var": xp.var,
    "prod": lambda x: xp.prod(1 + x * 1e-4),
    "cumulative_sum": xp.cumulative_sum,
    "cumulative_sum of columns": lambda x: xp.cumulative_sum(xp.reshape(x[: SIZE // 64 * 64], (-1, 64)), axis=0),
    "discounted_cumsum": lambda x: xp.nn.discounted_cumsum(x, 0.99),
    "argsort": xp.argsort,
    "select": lambda x: x[x > 0],
    "unique_inverse": lambda x: xp.unique_inverse(xp.round(x * 1000)).inverse_indices,
    "topk": lambda x: xp.nn.topk(xp.round(x * 10), 100).indices,
    "scatter_add": lambda x: xp.nn.scatter_add(x[:1000], xp.astype(xp.abs(x) * 100, xp.int32), x),
    "scatter_add of halves": lambda x: xp.nn.scatter_add(
        xp.astype(x[:1000], xp.float16), xp.astype(xp.abs(x) * 100, xp.int32), xp.astype(x, xp.float16)
    ),
    "index_add": lambda x: xp.nn.index_add(
        xp.zeros((1000, 17), dtype=xp.float32, device=x.device),
        xp.astype(xp.abs(x[: SIZE // 17]) * 100, xp.int32),
        xp.reshape(x[: SIZE // 17 * 17], (-1, 17)),
    ),
    "histogram": lambda x: xp.nn.histogram(x, 100, (-3.0, 3.0))[0],
    "bincount": lambda x: xp.nn.bincount(xp.astype(xp.abs(x) * 100, xp.int32)),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_under_load(name: str, cuda_torch: Any, cuda: Any) -> None:
    """Another stream multiplies matrices from time to time, so that blocks start in other orders and at other times."""
    torch = cuda_torch
    host = np.random.default_rng(0).normal(size=SIZE).astype(np.float32)
    x, call = xp.asarray(host, device=cuda), CALLS[name]
    first = call(x).to_numpy()
    side, matrix = torch.cuda.Stream(), torch.ones(1024, 1024, device="cuda")
    for run in range(60):
        with torch.cuda.stream(side):
            for _ in range(run % 4):
                matrix @ matrix
        again = call(x).to_numpy()
        assert again.tobytes() == first.tobytes(), run
    side.synchronize()
