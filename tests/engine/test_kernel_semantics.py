"""The semantics of user-defined kernels on a GPU; without one in tests/unit/test_kernel_semantics_emulated.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.kernel_semantics import CASES, HIGHEST, TOTAL


@pytest.mark.parametrize("name", CASES)
def test_semantics(name: str, cuda: Any) -> None:
    CASES[name](lambda host: xp.asarray(np.array(host), device=cuda))


def test_reductions_into_arrays_of_torch(cuda_torch: Any) -> None:
    x, out = cuda_torch.randn(300, 20, device="cuda"), cuda_torch.zeros(300, device="cuda")
    version = out._version
    assert TOTAL(x, out=out, axis=1) is out
    cuda_torch.testing.assert_close(out, x.sum(1))
    assert out._version > version
    assert cuda_torch.equal(HIGHEST(x, axis=0), x.amax(0))


@pytest.mark.parametrize("shape", [(5_000_003,), (3, 1_000_001), (100_000, 33)])
def test_many_elements_without_an_identity(shape: tuple[int, ...], cuda: Any) -> None:
    host = -1 - np.random.default_rng(1).random(shape).astype(np.float32)
    x = xp.asarray(host, device=cuda)
    for axis in (None, *range(len(shape))):
        np.testing.assert_array_equal(HIGHEST(x, axis=axis).to_numpy(), host.max(axis))
