"""The rows for fused functions, against the compilers of other libraries."""

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


def layer_norm(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    """The norm of rows in the namespace `m`, whose reductions take `along`."""

    def function(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - m.mean(x, **along)
        return centred / m.sqrt(m.mean(centred * centred, **along) + 1e-5) * scale + shift

    return function


def _variance_norm(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    return lambda x: (x - m.mean(x, **along)) / m.sqrt(m.var(x, correction=0, **along) + 1e-5)


def _error(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    return lambda x, y: m.mean((x - y) ** 2)


def _columns(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    return lambda x, scale: m.sum(m.tanh(x) * scale, **{next(iter(along)): 0})


def _kernels() -> list[Workload]:
    """``a * x + y`` and ``sum(x * y)`` as user-defined kernels, from the same strings in xpops and cupy."""
    import cupy

    text = ("T a, T x, T y", "T z", "z = a * x + y", "axpy")
    ours, theirs = xp.kernel.ElementwiseKernel(*text), cupy.ElementwiseKernel(*text)
    half = torch.float16
    functions: dict[str, Callable[..., Any]] = {
        "xpops": lambda x, y: ours(2.0, x, y),
        "torch": lambda x, y: torch.add(y, x, alpha=2.0),
        "cupy": lambda x, y: theirs(x.dtype.type(2.0), x, y),
    }
    dot = ("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    sums: dict[str, Callable[..., Any]] = {
        "xpops": xp.kernel.ReductionKernel(*dot),
        "torch": torch.dot,
        "cupy": cupy.ReductionKernel(*dot),
    }

    def pair(x: Callable[[], torch.Tensor], y: Callable[[], torch.Tensor]) -> Callable[[], dict[str, torch.Tensor]]:
        return lambda: {"x": x(), "y": y()}

    def some(*shape: int) -> Callable[[], torch.Tensor]:
        return lambda: torch.randn(*shape, device="cuda")

    return [
        Workload("kernel (n,3) + (3,)", pair(some(N // 3, 3), some(3)), functions, 8 * N, best=1.03),
        Workload("kernel x.T + y", pair(lambda: some(SIDE, SIDE)().T, some(SIDE, SIDE)), functions, 12 * N, best=1.03),
        Workload(
            "kernel f16", pair(lambda: some(N)().to(half), lambda: some(N)().to(half)), functions, 6 * N, best=1.03
        ),
        Workload("kernel sum(x * y)", pair(some(N), some(N)), sums, 8 * N, best=1.0),
    ]


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
        *_kernels(),
        Workload("fused gelu + y", two, compiled(_gelu), 12 * N, target=755),
        Workload("fused squares", square(), compiled(_squares), 4 * N, target=250),
        Workload("fused softmax", square(), compiled(_softmax, largest=True), 8 * N, best=1.0),
        Workload("fused layer norm", square("scale", "shift"), compiled(layer_norm), 8 * N, best=1.0),
        Workload("fused norm by var", square(), compiled(_variance_norm), 8 * N, best=1.0),
        Workload("fused mean((x-y)**2)", two, compiled(_error), 8 * N, best=1.0),
        Workload("fused sum(tanh(x)*s, 0)", square("scale"), compiled(_columns), 4 * N, best=1.0),
    ]
