"""Activations and softmax against torch.nn.functional, on torch's tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES

torch = pytest.importorskip("torch")
functional = torch.nn.functional
nn = xp.nn

CALLS: dict[str, tuple[Any, Any]] = {
    "relu": (nn.relu, functional.relu),
    "leaky_relu": (nn.leaky_relu, functional.leaky_relu),
    "leaky_relu 0.3": (lambda x: nn.leaky_relu(x, negative_slope=0.3), lambda x: functional.leaky_relu(x, 0.3)),
    "gelu": (nn.gelu, functional.gelu),
    "gelu tanh": (lambda x: nn.gelu(x, approximate="tanh"), lambda x: functional.gelu(x, approximate="tanh")),
    "silu": (nn.silu, functional.silu),
    "sigmoid": (nn.sigmoid, functional.sigmoid),
    "softplus": (nn.softplus, functional.softplus),
    "softplus 2 5": (lambda x: nn.softplus(x, beta=2.0, threshold=5.0), lambda x: functional.softplus(x, 2.0, 5.0)),
    "softmax": (nn.softmax, lambda x: functional.softmax(x, -1)),
    "softmax 0": (lambda x: nn.softmax(x, axis=0), lambda x: functional.softmax(x, 0)),
    "log_softmax": (nn.log_softmax, lambda x: functional.log_softmax(x, -1)),
}


def tensor(device: Any, dtype: Any, *shape: int) -> Any:
    if device.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    return (4 * torch.randn(shape, generator=torch.Generator().manual_seed(3))).to(device=str(device), dtype=dtype)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("call", CALLS)
def test_values(call: str, name: str, device: Any) -> None:
    ours, theirs = CALLS[call]
    x = tensor(device, getattr(torch, name), 33, 65)
    for given in (x, x.T, x[1:, ::2]):
        for _ in range(2):  # the second time from the cache
            found = ours(given)
            assert isinstance(found, torch.Tensor)
            tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6, "float64": 1e-13}[name]
            torch.testing.assert_close(found, theirs(given.double()).to(x.dtype), rtol=tolerance, atol=tolerance / 4)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("call", [nn.relu, nn.leaky_relu, nn.gelu, nn.silu, nn.sigmoid, nn.softplus, nn.softmax])
def test_another_dtype(call: Any, device: Any) -> None:
    x = tensor(device, torch.float32, 12, 16)
    wanted = call(x)
    for _ in range(2):
        found = call(x, dtype=xp.float16)
        assert found.dtype == torch.float16
        torch.testing.assert_close(found.float(), wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_infinity_and_nan(device: Any) -> None:
    x = torch.tensor([float("inf"), float("-inf"), float("nan"), -0.0, 0.0, 1.0], device=str(device))
    for call, (ours, theirs) in CALLS.items():
        wanted = theirs(x.double()).float()
        if call == "gelu":  # torch gives infinity on CUDA, and NaN on some CPUs
            wanted[0] = float("inf")
        if call == "relu":  # and this is 0.0 there
            wanted[3] = 0.0
        found = ours(x)
        torch.testing.assert_close(found, wanted, equal_nan=True, msg=call)
        number = ~wanted.isnan()
        assert torch.equal(found[number].signbit(), wanted[number].signbit()), call


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_integers_are_refused_where_torch_refuses(device: Any) -> None:
    x = torch.tensor([-1, 2], device=str(device))
    assert nn.relu(x).tolist() == [0, 2]
    assert nn.relu(x).dtype == torch.int64
    for call in (nn.leaky_relu, nn.gelu, nn.silu, nn.softplus, nn.softmax):
        with pytest.raises(TypeError, match="int64 is not accepted"):
            call(x)


def test_numpy_arrays_stay_numpy() -> None:
    x = np.linspace(-3, 3, 20).reshape(4, 5)
    for call in (nn.gelu, nn.softplus, nn.leaky_relu, nn.softmax):
        found = call(x, dtype=np.float32)
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float32
