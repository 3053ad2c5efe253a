"""Host time of one call on 64x64 float32: the rows of the second table of the README."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import jax
import jax.numpy as jnp
import torch

import xpops as xp
from benchmarks import graphs
from benchmarks.ceilings import bare_launch


def works() -> dict[str, dict[str, Callable[[], Any]]]:
    """For each kind of call, a function without arguments for each library."""
    x, y, out = (torch.randn(64, 64, device="cuda") for _ in range(3))
    ours = xp.asarray(x), xp.asarray(y)
    theirs = cupy.asarray(x), cupy.asarray(y)
    jx, jy = (jax.device_put(jnp.asarray(t.cpu().numpy())) for t in (x, y))
    jax_add = jax.jit(lambda a, b: a + b)

    def products(a: Any, b: Any, c: Any, d: Any) -> Any:
        return a * b + c * d

    fused, compiled, jitted = xp.fuse(products), torch.compile(products), jax.jit(products)
    return {
        "bare launch": {"driver": bare_launch()},
        "x + y": {
            "xpops": lambda: ours[0] + ours[1],
            "torch": lambda: x + y,
            "cupy": lambda: theirs[0] + theirs[1],
            "jax": lambda: jax_add(jx, jy),
        },
        "x + 2.0": {"xpops": lambda: ours[0] + 2.0, "torch": lambda: x + 2.0, "cupy": lambda: theirs[0] + 2.0},
        "xp.add(torch, torch)": {"xpops": lambda: xp.add(x, y), "torch": lambda: torch.add(x, y)},
        "xp.add(torch, torch, out=torch)": {
            "xpops": lambda: xp.add(x, y, out=out),
            "torch": lambda: torch.add(x, y, out=out),
        },
        "x.sum()": {"xpops": lambda: ours[0].sum(), "torch": lambda: x.sum(), "cupy": lambda: theirs[0].sum()},
        "xp.sum(torch)": {"xpops": lambda: xp.sum(x), "torch": lambda: torch.sum(x)},
        "xp.sum(torch, axis=1)": {"xpops": lambda: xp.sum(x, axis=1), "torch": lambda: torch.sum(x, 1)},
        "xp.cumulative_sum(torch, axis=0)": {
            "xpops": lambda: xp.cumulative_sum(x, axis=0),
            "torch": lambda: torch.cumsum(x, 0),
        },
        "fused a * b + c * d": {
            "xpops": lambda: fused(*ours, *ours),
            "torch": lambda: compiled(x, y, x, y),
            "jax": lambda: jitted(jx, jy, jx, jy),
        },
        **graphs.rows(),
        "xp.add(cupy, cupy)": {"xpops": lambda: xp.add(*theirs), "cupy": lambda: cupy.add(*theirs)},
    }
