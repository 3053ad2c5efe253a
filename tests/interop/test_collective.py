"""Reductions and the like on arrays of other frameworks: results are correct, of that framework, on its device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.interop.test_frameworks import FRAMEWORKS, host, made

CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (lambda x: xp.sum(x, axis=0), lambda x: x.sum(0)),
    "var": (lambda x: xp.var(x, axis=[0, 1]), lambda x: x.var()),
    "argmax": (lambda x: xp.argmax(x, axis=1), lambda x: x.argmax(1)),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=1), lambda x: x.cumsum(1)),
    "sort": (lambda x: xp.sort(x, axis=0), lambda x: np.sort(x, 0)),
    "argsort": (lambda x: xp.argsort(x, descending=True), lambda x: np.argsort(-x, 1, kind="stable")),
    "nonzero": (xp.nonzero, np.nonzero),
    "unique_counts": (xp.unique_counts, lambda x: np.unique(x, return_counts=True)),
    "topk": (lambda x: xp.nn.topk(x, 2).values, lambda x: -np.sort(-x, 1)[:, :2]),
    "take": (
        lambda x: xp.take(x, xp.argsort(x[0]), axis=1),
        lambda x: x[:, np.argsort(x[0], kind="stable")],
    ),
    "concat": (lambda x: xp.concat([x, x], axis=1), lambda x: np.concatenate([x, x], 1)),
    "diff": (lambda x: xp.diff(x, axis=0), lambda x: np.diff(x, axis=0)),
    "searchsorted": (lambda x: xp.searchsorted(xp.sort(x[1]), x), lambda x: np.searchsorted(np.sort(x[1]), x)),
    "isin": (lambda x: xp.isin(x, x[1]), lambda x: np.isin(x, x[1])),
}  # fmt: skip


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_of_the_framework(framework: str, name: str, device: Any) -> None:
    ours, theirs = CALLS[name]
    array = np.array([[2, 0, 1, 2], [3, 1, 0, 2], [0, 0, 5, 1]], np.float32)
    x = made(framework, array, device)
    for _ in range(3):  # the slow path, and the steady state
        got, wanted = ours(x), theirs(array)
        results = got if isinstance(got, tuple) else (got,)
        for result, expected in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert type(result) is type(x)
            np.testing.assert_allclose(host(result), expected, rtol=1e-6)


def test_the_steady_state_of_torch_notices_another_tensor(cuda_torch: Any) -> None:
    torch = cuda_torch
    x = torch.randn(64, 64, device="cuda")
    for tensor in (x, x, x.T, x.double(), x[1:], torch.randn(64 * 64 + 1, device="cuda")[1:].view(64, 64), x):
        for axis in (None, 0, 1):
            wanted = tensor.sum() if axis is None else tensor.sum(axis)
            torch.testing.assert_close(xp.sum(tensor, axis=axis), wanted)
            assert xp.max(tensor, axis=axis, keepdims=True).ndim == 2
