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


def _rms_norm(m: Any, along: dict[str, Any]) -> Callable[..., Any]:
    return lambda x, scale: x / m.sqrt(m.mean(x * x, **along) + 1e-5) * scale


def _operands(dtype: torch.dtype, length: int, names: tuple[str, ...]) -> dict[str, torch.Tensor]:
    found = {"x": torch.randn(N // length, length, device="cuda", dtype=dtype)}
    return {**found, **{name: torch.randn(length, device="cuda", dtype=dtype) for name in names}}


def rows() -> list[Workload]:
    """Every row: softmax and two norms."""
    torch._dynamo.config.recompile_limit = 1000
    compiled = partial(torch.compile, dynamic=False)
    ours, theirs = {"axis": 1, "keepdims": True}, {"dim": 1, "keepdim": True}
    functions: dict[str, tuple[tuple[str, ...], dict[str, Callable[..., Any]]]] = {
        "softmax": ((), {"xpops": xp.nn.softmax, "torch": compiled(lambda x: torch.softmax(x, 1))}),
        "layer norm": (
            ("scale", "shift"),
            {"xpops": xp.fuse(layer_norm(xp, ours)), "torch": compiled(layer_norm(torch, theirs))},
        ),
        "rms norm": (
            ("scale",),
            {"xpops": xp.fuse(_rms_norm(xp, ours)), "torch": compiled(_rms_norm(torch, theirs))},
        ),
    }
    return [
        Workload(
            f"{name} {short} {length}",
            partial(_operands, dtype, length, names),
            compute,
            2 * dtype.itemsize * N // length * length,
            best=BEST,
        )
        for name, (names, compute) in functions.items()
        for short, dtype in DTYPES.items()
        for length in LENGTHS
    ]
