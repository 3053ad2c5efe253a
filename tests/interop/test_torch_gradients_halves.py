"""Gradients of half tensors: rounded once, from float32, wherever they are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from xpops.dispatch.gradients.namespace import NAMESPACE

torch = pytest.importorskip("torch")
F = torch.nn.functional

# Functions whose gradients depend on their operands, not on the rounded result; ours, torch's, and the least operand.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], float]] = {
    "acosh": (xp.acosh, torch.acosh, 1.0625),
    "asinh": (xp.asinh, torch.asinh, -6e4),
    "atan": (xp.atan, torch.atan, -6e4),
    "cos": (xp.cos, torch.cos, -6e4),
    "gelu": (xp.nn.gelu, F.gelu, -6e4),
    "gelu_tanh": (lambda x: xp.nn.gelu(x, approximate="tanh"), lambda x: F.gelu(x, approximate="tanh"), -6e4),
    "log": (xp.log, torch.log, 0.001),
    "log10": (xp.log10, torch.log10, 0.001),
    "silu": (xp.nn.silu, F.silu, -6e4),
    "softplus": (xp.nn.softplus, F.softplus, -6e4),
}


def values_from(least: float, dtype: torch.dtype) -> torch.Tensor:
    """Halves of all magnitudes, from `least` on."""
    generator = torch.Generator().manual_seed(7)
    drawn = torch.randn(2000, generator=generator, dtype=torch.float64) * 10 ** (
        torch.rand(2000, generator=generator, dtype=torch.float64) * 7 - 3
    )
    ends = torch.tensor([0.0, -0.0, 1.0, -1.0, 17.0, 300.0, -300.0, 6e4, -6e4], dtype=torch.float64)
    x = torch.cat((drawn.clamp(-6e4, 6e4), ends)).to(dtype)
    return x[x >= least]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_halves_round_once(name: str, recorded: bool, dtype: torch.dtype, torch_device: Any) -> None:
    ours, theirs, least = FUNCTIONS[name]
    x = values_from(least, dtype).to(torch_device).requires_grad_()
    g = torch.linspace(0.5, 2, x.numel()).to(dtype).to(torch_device)
    wide = x.detach().double().requires_grad_()
    (exact,) = torch.autograd.grad(theirs(wide), wide, g.double())
    unit = torch.finfo(dtype).eps * exact.abs().clamp(min=torch.finfo(dtype).smallest_normal)
    for _ in range(2):
        (mine,) = torch.autograd.grad(ours(x), x, g, create_graph=recorded)
        assert mine.dtype == dtype
        # Half a unit, a unit of float32 near a zero of the slope, and what functors of halves add.
        allowed = 0.52 * unit + 2.0**-21 * g.double()
        assert bool(((mine.detach().double() - exact).abs() <= allowed).all()), name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_gradients_of_one_operator_need_no_float32(
    dtype: torch.dtype, torch_device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError("converted")

    shapes = ((6, 4), (6, 4), (4,))
    x, y, row = (torch.rand(*shape, device=torch_device).to(dtype).requires_grad_() for shape in shapes)
    g = torch.rand(6, 4, device=torch_device).to(dtype)
    monkeypatch.setattr(NAMESPACE, "astype", refuse, raising=False)
    for recorded in (False, True):
        sums = torch.autograd.grad(xp.add(x, row), [x, row], g, create_graph=recorded)
        assert torch.equal(sums[0], g)
        torch.testing.assert_close(sums[1], g.float().sum(0).to(dtype))
        products = torch.autograd.grad(xp.multiply(x, y), [x, y], g, create_graph=recorded)
        assert torch.equal(products[0], g * y)
        assert torch.equal(products[1], g * x)
        if torch_device.type == "cpu":
            with pytest.raises(AssertionError, match="converted"):
                torch.autograd.grad(xp.asinh(x), x, g, create_graph=recorded)
