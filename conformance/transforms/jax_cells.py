"""The cells of a call that JAX fills: results and gradients must be those of torch's tensors in float64."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from conformance.transforms.cells import Cell, given, size
from tests.helpers.gradients import Case

_ERROR = 2e-4


def _operands(case: Case, device: str) -> tuple[list[torch.Tensor], list[Any]]:
    """The operands in float64 for torch, and in float32 for JAX."""
    theirs = given(case, torch.float32, device)
    wide = [x.detach().to(torch.float64).requires_grad_() for x in theirs]
    place = jax.devices("gpu" if device == "cuda" else "cpu")[0]
    return wide, [jax.device_put(x.detach().cpu().numpy(), place) for x in theirs]


def _same(found: Any, wanted: Any) -> None:
    for ours, theirs in zip(_every(found), _every(wanted), strict=True):
        assert isinstance(ours, jax.Array)
        expected = theirs.detach().resolve_conj().cpu().numpy()
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=_ERROR, atol=_ERROR * scale)


def _every(results: Any) -> Any:
    return results if isinstance(results, (tuple, list)) else (results,)


def jit(case: Case, device: str) -> None:
    """`jax.jit`, twice."""
    wide, x = _operands(case, device)
    function = jax.jit(lambda *x: case.call(*x))
    for _ in range(2):
        _same(function(*x), case.call(*wide))


def grad(case: Case, device: str) -> None:
    """`jax.grad` of the sum of squares, alone and within `jax.jit`."""
    wide, x = _operands(case, device)
    wanted = torch.autograd.grad(size(case.call(*wide)), wide, allow_unused=True)
    wanted = [torch.zeros_like(y) if each is None else each for each, y in zip(wanted, wide, strict=True)]
    function = jax.grad(lambda *x: size(case.call(*x)), argnums=tuple(range(len(x))))
    _same(function(*x), wanted)
    _same(jax.jit(function)(*x), wanted)


def vmap(case: Case, device: str) -> None:
    """`jax.vmap` of three elements."""
    _, x = _operands(case, device)
    batch = [jnp.stack([each, each * 0.75 + 0.1, each]) for each in x]
    rows = [[torch.from_numpy(np.array(each[row])).to(device, torch.float64) for each in batch] for row in range(3)]
    results = [_every(case.call(*row)) for row in rows]
    _same(jax.vmap(lambda *x: case.call(*x))(*batch), [torch.stack(each) for each in zip(*results, strict=True)])


CELLS: dict[str, Cell] = {"jax.jit float32": jit, "jax.grad float32": grad, "jax.vmap float32": vmap}
