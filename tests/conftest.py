"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest
from hypothesis import settings

from tests.helpers.devices import DEVICES
from tests.helpers.host_compile import SHARED

# By default JAX takes three quarters of a GPU's memory at start, and other tests need some.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# Only type checkers read these files; they are not run.
collect_ignore = ["types"]

# No deadlines, because the first call of a kind compiles a kernel.
settings.register_profile("xpops", deadline=None)
settings.load_profile("xpops")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Make one folder for what all processes of a run compile."""
    if SHARED not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="xpops-host-")
        os.environ[SHARED] = folder.name
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(lambda: os.environ.pop(SHARED))


def pytest_collection_finish() -> None:
    """Spare collections of garbage the modules and the tests: with torch and JAX a collection took a second."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup() -> None:
    """Make the first GPU torch's current one. JAX leaves the last GPU current when it starts."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.device_count() > 1:
        torch.cuda.set_device(0)


@pytest.fixture(params=DEVICES, ids=str)
def device(request: pytest.FixtureRequest) -> Any:
    """Each device of this machine."""
    return request.param


@pytest.fixture(params=[each for each in DEVICES if each.index == 0], ids=lambda device: device.type)
def torch_device(request: pytest.FixtureRequest) -> Any:
    """The CPU and the first GPU, on which torch's tensors are. Skips if torch does not see the GPU."""
    torch = pytest.importorskip("torch")
    if request.param.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    return request.param


@pytest.fixture
def on_torch_device(torch_device: Any) -> Iterator[Any]:
    """As `torch_device`, and torch makes new tensors there. Threads that a test starts must name the device."""
    if torch_device.type == "cpu":
        yield torch_device
        return
    import torch

    with torch.device(torch_device):
        yield torch_device


@pytest.fixture
def fused_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors on the CPU take the backward pass of a GPU: fused functions, each traced as for a GPU first."""
    torch = pytest.importorskip("torch")
    from xpops.dispatch.gradients.namespace import Namespace
    from xpops.frameworks import torch_gradients

    cotangents_of = torch_gradients.cotangents_of

    def fused_cotangents_of(*given: Any) -> Any:
        return cotangents_of(*given[:-1], not torch.is_grad_enabled())

    monkeypatch.setattr(torch_gradients, "cotangents_of", fused_cotangents_of)
    monkeypatch.setattr(Namespace, "is_traced", lambda self, x: True)


@pytest.fixture
def cuda() -> Any:
    """The first GPU. Skips if there is none."""
    gpus = [each for each in DEVICES if each.type == "cuda"]
    if not gpus:
        pytest.skip("needs a GPU")
    return gpus[0]


@pytest.fixture
def cuda_torch(cuda: Any) -> Any:
    """The module torch. Skips if it is not installed or does not see the GPU."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    return torch


@pytest.fixture
def capture(cuda_torch: Any) -> Callable[[Any], AbstractContextManager[None]]:
    """Capture a graph of torch. By default a call of any thread ends the capture, and JAX's threads make some."""
    return partial(cuda_torch.cuda.graph, capture_error_mode="thread_local")
