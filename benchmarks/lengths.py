"""Rows of many lengths, beside `torch.compile`: ``python -m benchmarks --lengths``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

import xpops as xp
from benchmarks.fusion import layer_norm
from benchmarks.workload import Workload

N = 2**26
LENGTHS = (256, 333, 1024, 4096, 16384, 50001, 65536, 262144)
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
# What the issue asks at most, as a multiple of the time of `torch.compile`.
BEST = 1.02


def rms_norm(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    return lambda x, scale: x / m.sqrt(m.mean(x * x, **along) + 1e-5) * scale


def _operands(dtype: torch.dtype, length: int, names: tuple[str, ...]) -> dict[str, torch.Tensor]:
    found = {"x": torch.randn(N // length, length, device="cuda", dtype=dtype)}
    return {**found, **{name: torch.randn(length, device="cuda", dtype=dtype) for name in names}}


def _functions() -> list[tuple[str, tuple[str, ...], dict[str, Callable[..., Any]]]]:
    """For each row: its name with the dtype, the operands beside x, and the function in each library."""
    torch._dynamo.config.recompile_limit = 1000
    compiled = partial(torch.compile, dynamic=False)
    ours, theirs = {"axis": 1, "keepdims": True}, {"dim": 1, "keepdim": True}
    softmax: dict[str, Callable[..., Any]] = {
        "xpops": xp.nn.softmax,
        "torch": compiled(lambda x: torch.softmax(x, 1)),
    }
    found = [(f"softmax {dtype}", tuple[str, ...](), softmax) for dtype in DTYPES]
    for name, make, operands in (("layer norm", layer_norm, ("scale", "shift")), ("rms norm", rms_norm, ("scale",))):
        peer = compiled(make(torch, theirs))
        for kind, round_each in (("f32", True), ("bf16", True), ("bf16 round_each=False", False)):
            fused = xp.fuse(make(xp, ours), round_each=round_each)
            found.append((f"{name} {kind}", operands, {"xpops": fused, "torch": peer}))
    return found


def rows() -> list[Workload]:
    """Every row: softmax and two norms."""
    return [
        Workload(
            f"{name} {length}",
            partial(_operands, dtype, length, operands),
            compute,
            2 * dtype.itemsize * (N // length * length),
            best=BEST,
        )
        for name, operands, compute in _functions()
        for short, dtype in DTYPES.items()
        if f" {short}" in name
        for length in LENGTHS
    ]
