"""Fixtures of every test."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

from tests.helpers.devices import DEVICES

# JAX takes three quarters of a GPU's memory when it starts, and other tests want some.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# Type checkers read these; nobody runs them.
collect_ignore = ["types"]

# The first call of a kind compiles a kernel, so no example has a deadline.
settings.register_profile("xpops", deadline=None)
settings.load_profile("xpops")


@pytest.fixture(params=DEVICES, ids=str)
def device(request: pytest.FixtureRequest) -> Any:
    """Each device that is there."""
    return request.param


@pytest.fixture
def cuda() -> Any:
    """The first GPU; skips where there is none."""
    gpus = [each for each in DEVICES if each.type == "cuda"]
    if not gpus:
        pytest.skip("needs a GPU")
    return gpus[0]


@pytest.fixture
def cuda_torch(cuda: Any) -> Any:
    """The module torch, which sees the GPU; skips where it is not or does not."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    return torch
