"""The rows of fused functions, beside what compiles functions elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import xpops as xp
from benchmarks.workload import Workload

N, SIDE = 2**28, 2**14


def _gelu(m: Any) -> Callable[..., Any]:
    return lambda x, y: 0.5 * x * (1 + m.tanh(0.798 * (x + 0.0447 * x * x * x))) + y


def _squares(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    return lambda x: m.sum((x - m.mean(x, **along)) ** 2, **{next(iter(along)): 1})


def _softmax(m: Any, along: dict[str, Any], largest: str) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        shifted = m.exp(x - getattr(m, largest)(x, **along))
        return shifted / m.sum(shifted, **along)

    return function


def _layer_norm(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    def function(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - m.mean(x, **along)
        return centred / m.sqrt(m.mean(centred * centred, **along) + 1e-5) * scale + shift

    return function


def rows() -> list[Workload]:
    """Every row. Imports the peers."""
    import jax
    import jax.numpy as jnp

    ours: dict[str, Any] = {"axis": 1, "keepdims": True}
    theirs: dict[str, Any] = {"dim": 1, "keepdim": True}

    def compiled(make: Callable[..., Callable[..., Any]], *, largest: bool = False) -> dict[str, Callable[..., Any]]:
        along = make is not _gelu
        return {
            "xpops": xp.fuse(make(xp, *[ours] * along, *["max"] * largest)),
            "torch": torch.compile(make(torch, *[theirs] * along, *["amax"] * largest)),
            "jax": jax.jit(make(jnp, *[ours] * along, *["max"] * largest)),
        }

    def square(*names: str) -> Callable[[], dict[str, torch.Tensor]]:
        return lambda: {
            "x": torch.randn(SIDE, SIDE, device="cuda"),
            **{name: torch.randn(SIDE, device="cuda") for name in names},
        }

    def two() -> dict[str, torch.Tensor]:
        return {name: torch.randn(N, device="cuda") for name in "xy"}

    return [
        Workload("fused gelu + y", two, compiled(_gelu), 12 * N, target=755),
        Workload("fused squares", square(), compiled(_squares), 4 * N, target=250),
        Workload("fused softmax", square(), compiled(_softmax, largest=True), 8 * N, best=1.0),
        Workload("fused layer norm", square("scale", "shift"), compiled(_layer_norm), 8 * N, best=1.0),
    ]
