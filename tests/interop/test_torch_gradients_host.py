"""Gradients of torch's tensors in the host's memory as users have them: one function after the other."""

from __future__ import annotations

from typing import Any

import pytest

import xpops as xp

torch = pytest.importorskip("torch")
functional = torch.nn.functional

CALLS: dict[str, tuple[Any, Any]] = {
    "relu": (xp.nn.relu, functional.relu),
    "leaky_relu": (xp.nn.leaky_relu, functional.leaky_relu),
    "gelu": (xp.nn.gelu, functional.gelu),
    "gelu_tanh": (
        lambda x: xp.nn.gelu(x, approximate="tanh"),
        lambda x: functional.gelu(x, approximate="tanh"),
    ),
    "silu": (xp.nn.silu, functional.silu),
    "sigmoid": (xp.nn.sigmoid, torch.sigmoid),
    "softplus": (xp.nn.softplus, functional.softplus),
    "tanh": (xp.tanh, torch.tanh),
    "softmax": (
        lambda x: xp.nn.softmax(xp.reshape(x, (-1, 1)), axis=0),
        lambda x: functional.softmax(x.reshape(-1, 1), 0),
    ),
}


@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (300, 200)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_activations(name: str, dtype: Any, shape: tuple[int, ...]) -> None:
    ours, theirs = CALLS[name]
    generator = torch.Generator().manual_seed(1)
    x = (torch.randn(shape, generator=generator) * 3).to(dtype).requires_grad_()
    g = torch.randn(shape, generator=generator).to(dtype)
    for _ in range(2):
        (found,) = torch.autograd.grad(ours(x).reshape(shape), x, g)
        (wanted,) = torch.autograd.grad(theirs(x).reshape(shape), x, g)
        assert (found.dtype, found.shape) == (dtype, x.shape)
        # Each of the steps of a derivative is rounded to the dtype; torch's lose digits in tails.
        tolerance = (4 if dtype.itemsize == 2 else 64) * torch.finfo(dtype).eps
        torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_second_derivatives_of_gelu_are_numbers(dtype: Any) -> None:
    x = torch.tensor([0.0, 1.0, -3.0, 60.0, -300.0, 1000.0], dtype=dtype, requires_grad=True)
    (first,) = torch.autograd.grad(xp.nn.gelu(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    density = torch.exp(-x.double().square() / 2) / (2 * torch.pi) ** 0.5
    wanted = (density * (2 - x.double().square())).detach()
    torch.testing.assert_close(second.double(), wanted, rtol=2e-2 if dtype.itemsize == 2 else 1e-5, atol=1e-3)
