"""Gradients of fused functions drawn at random, with reductions along rows, in float64 against torch; without a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.drawn_rows import assert_near, drawn_function, drawn_operands
from tests.unit.test_fused_emulated import fused
from xpops.dispatch.gradients.expressions import cotangents_of

torch = pytest.importorskip("torch")

TORCH = SimpleNamespace(
    abs=torch.abs,
    max=lambda x, axis, keepdims=False: torch.amax(x, axis, keepdim=keepdims),
    mean=lambda x, axis, keepdims=False: torch.mean(x, axis, keepdim=keepdims),
    min=lambda x, axis, keepdims=False: torch.amin(x, axis, keepdim=keepdims),
    sqrt=torch.sqrt,
    sum=lambda x, axis, keepdims=False: torch.sum(x, axis, keepdim=keepdims),
    tanh=torch.tanh,
    where=torch.where,
)


@pytest.mark.parametrize("seed", range(100, 121))
def test_gradients_of_functions_drawn_at_random(seed: int) -> None:
    function, source = drawn_function(seed)
    operands = drawn_operands(seed)
    tensors = [torch.from_numpy(each).requires_grad_() for each in operands]
    result = function(TORCH, *tensors)[0]
    g = np.random.default_rng(seed).normal(size=tuple(result.shape))
    wanted = torch.autograd.grad(result, tensors, torch.from_numpy(g), allow_unused=True)
    used = [place for place, each in enumerate(wanted) if each is not None]

    def gradient(g: Any, *given: Any) -> Any:
        found = cotangents_of("drawn", lambda *inputs: function(xp, *inputs)[0], (g,), given)
        return tuple(found[place] for place in used) if len(used) > 1 else found[used[0]]

    got = fused(gradient, g, *operands, round_each=False)
    for each, place in zip(got if len(used) > 1 else [got], used, strict=True):
        assert_near(each, wanted[place].numpy(), source)
