"""The elementwise rows: 2**28 elements unless the name says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import xpops as xp
from benchmarks.workload import Workload

N, SIDE = 2**28, 2**14
F32, F16 = torch.float32, torch.float16


def _random(*shape: int, dtype: torch.dtype = F32) -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(dtype)


def _inputs(**shapes: tuple[Any, ...]) -> Callable[[], dict[str, torch.Tensor]]:
    """Random inputs: ``x=(shape, dtype)``."""
    return lambda: {name: _random(*shape, dtype=dtype) for name, (shape, dtype) in shapes.items()}


def _same(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The same expression of operators for all libraries."""
    return dict.fromkeys(("xpops", "torch", "cupy", "jax"), function)


def _named(name: str) -> dict[str, Callable[..., Any]]:
    """The function of this name in each library."""
    import cupy
    import jax
    import jax.numpy as jnp

    return {
        "xpops": getattr(xp, name),
        "torch": getattr(torch, name),
        "cupy": getattr(cupy, name),
        "jax": jax.jit(getattr(jnp, name)),
    }


def _jit(compute: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    import jax

    return {**compute, "jax": jax.jit(compute["jax"])}


def _cast(name: str) -> dict[str, Callable[..., Any]]:
    import cupy
    import jax
    import jax.numpy as jnp

    return {
        "xpops": lambda x: xp.astype(x, getattr(xp, name)),
        "torch": lambda x: x.to(getattr(torch, name)),
        "cupy": lambda x: x.astype(getattr(cupy, name)),
        "jax": jax.jit(lambda x: x.astype(getattr(jnp, name))),
    }


def _transposed_copy() -> dict[str, Callable[..., Any]]:
    import cupy
    import jax
    import jax.numpy as jnp

    return {
        "xpops": lambda x: xp.astype(x.T, xp.float32, copy=True),
        "torch": lambda x: x.T.contiguous(),
        "cupy": lambda x: cupy.ascontiguousarray(x.T),
        "jax": jax.jit(lambda x: jnp.copy(x.T)),
    }


def _created(ours: Any, torchs: Any, cupys: Any, jaxs: Any) -> dict[str, Callable[..., Any]]:
    return {"xpops": ours, "torch": torchs, "cupy": cupys, "jax": jaxs}


def _creation_rows() -> list[Workload]:
    import cupy
    import jax.numpy as jnp

    size = 4 * N
    rows = {
        "arange f32": _created(
            lambda: xp.arange(N, dtype=xp.float32, device="cuda"),
            lambda: torch.arange(N, dtype=F32, device="cuda"),
            lambda: cupy.arange(N, dtype=cupy.float32),
            lambda: jnp.arange(N, dtype=jnp.float32),
        ),
        "full f32": _created(
            lambda: xp.full(N, 1.5, dtype=xp.float32, device="cuda"),
            lambda: torch.full((N,), 1.5, dtype=F32, device="cuda"),
            lambda: cupy.full(N, 1.5, dtype=cupy.float32),
            lambda: jnp.full(N, 1.5, dtype=jnp.float32),
        ),
        "zeros f32": _created(
            lambda: xp.zeros(N, dtype=xp.float32, device="cuda"),
            lambda: torch.zeros(N, dtype=F32, device="cuda"),
            lambda: cupy.zeros(N, dtype=cupy.float32),
            lambda: jnp.zeros(N, dtype=jnp.float32),
        ),
    }
    return [Workload(name, dict, compute, size, "write", target=240) for name, compute in rows.items()]


def rows() -> list[Workload]:
    """Every row. Imports the peers."""
    flat, half = ((N,), F32), ((N,), F16)
    square = ((SIDE, SIDE), F32)
    two, add = _inputs(x=flat, y=flat), _jit(_same(lambda x, y: x + y))

    def mask() -> dict[str, torch.Tensor]:
        inputs = two()
        return {"mask": inputs["x"] < 0, **inputs}

    return [
        Workload("add f32", two, add, 12 * N, ratio=1.02),
        Workload("mul f16", _inputs(x=half, y=half), _jit(_same(lambda x, y: x * y)), 6 * N, ratio=1.02),
        Workload("cast f32->f16", _inputs(x=flat), _cast("float16"), 6 * N, target=378),
        Workload("cast f16->f32", _inputs(x=half), _cast("float32"), 6 * N, target=385),
        Workload("less", two, _jit(_same(lambda x, y: x < y)), 9 * N, ratio=1.03),
        Workload("where", mask, _named("where"), 13 * N, ratio=1.03),
        *(Workload(name, _inputs(x=flat), _named(name), 8 * N, ratio=1.03) for name in ("exp", "tanh", "sin")),
        Workload(
            "pow f32",
            lambda: {"x": _random(N).abs_(), "y": _random(N)},
            _jit(_same(lambda x, y: x**y)),
            12 * N,
            target=900,
        ),
        Workload("A + row", _inputs(x=square, y=((SIDE,), F32)), add, 8 * N, target=520),
        Workload("A + column", _inputs(x=square, y=((SIDE, 1), F32)), add, 8 * N, target=520),
        Workload("outer add", _inputs(x=((SIDE, 1), F32), y=((1, SIDE), F32)), add, 4 * N, "write", target=260),
        Workload(
            "4-d broadcast",
            _inputs(x=((64, 1, 256, 128), F32), y=((64, 128, 1, 128), F32)),
            add,
            4 * N,
            "write",
            target=260,
        ),
        Workload("(n,3) + (3,)", _inputs(x=((N // 3, 3), F32), y=((3,), F32)), add, 8 * N, target=530),
        Workload("A.T + B", _inputs(x=square, y=square), _jit(_same(lambda x, y: x.T + y)), 12 * N, target=790),
        Workload("copy of A.T", _inputs(x=square), _transposed_copy(), 8 * N, target=545),
        *_creation_rows(),
    ]
