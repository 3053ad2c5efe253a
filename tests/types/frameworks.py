"""Expected types of calls on torch's tensors and JAX's arrays. This file is type-checked, never run."""

from typing import assert_type

import jax
import numpy as np
import torch

import xpops as xp
from xpops import Array

t, n, own = torch.ones(3), np.ones(3), xp.zeros(3)
parameter: torch.nn.Parameter = torch.nn.Parameter(t)


def of_torch() -> None:
    """Torch in, torch out; a Parameter gives a Tensor."""
    assert_type(xp.add(t, t), torch.Tensor)
    assert_type(xp.add(t, 1), torch.Tensor)
    assert_type(xp.add(2.0, t), torch.Tensor)
    assert_type(xp.add(parameter, t), torch.Tensor)
    assert_type(xp.add(parameter, parameter), torch.Tensor)
    assert_type(xp.sqrt(parameter), torch.Tensor)
    assert_type(xp.where(t > 0, t, 0), torch.Tensor)
    assert_type(xp.where(t > 0), tuple[torch.Tensor, ...])
    assert_type(xp.clip(t, 0, t), torch.Tensor)
    assert_type(xp.sum(parameter, axis=0), torch.Tensor)
    assert_type(xp.reshape(t, (3, 1)), torch.Tensor)
    assert_type(xp.matmul(parameter, t), torch.Tensor)
    assert_type(xp.concat([t, t]), torch.Tensor)
    assert_type(xp.unstack(t), tuple[torch.Tensor, ...])
    assert_type(xp.nn.gelu(t, approximate="tanh"), torch.Tensor)
    assert_type(xp.nn.topk(parameter, 2).indices, torch.Tensor)
    assert_type(xp.linalg.eigh(t).eigenvectors, torch.Tensor)
    assert_type(xp.add(t, t, out=t), torch.Tensor)


def of_jax(j: jax.Array) -> None:
    """JAX in, JAX out."""
    assert_type(xp.add(j, j), jax.Array)
    assert_type(xp.add(j, 1j), jax.Array)
    assert_type(xp.exp(j), jax.Array)
    assert_type(xp.sum(j), jax.Array)
    assert_type(xp.matmul(j, j), jax.Array)
    assert_type(xp.unique_counts(j).counts, jax.Array)


def of_several(j: jax.Array) -> None:
    """Operands of several frameworks give an xpops Array."""
    assert_type(xp.add(t, n), Array)
    assert_type(xp.add(own, t), Array)
    assert_type(xp.add(t, own), Array)
    assert_type(xp.add(t, j), Array)
    assert_type(xp.matmul(n, t), Array)
    assert_type(xp.concat([t, n]), Array)
    assert_type(own + t, Array)
    assert_type(xp.add(t, t, out=n), np.ndarray[tuple[int], np.dtype[np.float64]])


def wrong() -> None:
    """Errors."""
    xp.add(t, "a")  # type: ignore[call-overload]
    xp.sum(t, axis="x")  # type: ignore[arg-type]
    xp.reshape(t, shpe=3)  # type: ignore[call-overload]
