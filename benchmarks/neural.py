"""The rows for functions that are not in the standard: activations, scatter-add, images, random numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

import xpops as xp
from benchmarks.workload import Workload

N, SIDE = 2**28, 2**14
# Scatter-add of elements: sources and places. Scatter-add of rows: source rows, their width, and rows of the result.
SOURCES, PLACES = 2**26, 2**20
ROWS, WIDTH, TABLE = 2**20, 128, 2**14
BINS = 256
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16

_Functions = dict[str, Callable[..., Any]]


def _line(count: int, dtype: torch.dtype, *names: str) -> Callable[[], dict[str, torch.Tensor]]:
    return lambda: {name: torch.randn(count, device="cuda").to(dtype) for name in names}


def _short(dtype: torch.dtype) -> str:
    return {F32: "f32", F16: "f16", BF16: "bf16"}[dtype]


def _activations() -> list[Workload]:
    gelu: _Functions = {"xpops": lambda x: xp.nn.gelu(x), "torch": lambda x: F.gelu(x)}
    silu: _Functions = {"xpops": lambda x: xp.nn.silu(x), "torch": lambda x: F.silu(x)}
    relu: _Functions = {"xpops": lambda x: xp.nn.relu(x), "torch": lambda x: F.relu(x)}
    softmax: _Functions = {"xpops": lambda x: xp.nn.softmax(x), "torch": lambda x: torch.softmax(x, -1)}
    down: _Functions = {"xpops": lambda x: xp.nn.softmax(x, axis=0), "torch": lambda x: torch.softmax(x, 0)}
    log: _Functions = {"xpops": lambda x: xp.nn.log_softmax(x), "torch": lambda x: torch.log_softmax(x, -1)}

    def square() -> dict[str, torch.Tensor]:
        return {"x": torch.randn(SIDE, SIDE, device="cuda")}

    return [
        Workload("gelu f16", _line(N, F16, "x"), gelu, 4 * N, target=265),
        Workload("gelu f32", _line(N, F32, "x"), gelu, 8 * N, target=520),
        Workload("silu f16", _line(N, F16, "x"), silu, 4 * N, ratio=1.03),
        Workload("relu f16", _line(N, F16, "x"), relu, 4 * N, ratio=1.03),
        Workload("softmax", square, softmax, 8 * N, target=540),
        Workload("softmax axis 0", square, down, 8 * N, ratio=1.03),
        Workload("log_softmax", square, log, 8 * N, target=540),
        Workload("vecdot f16", _line(N, F16, "x", "y"), _dot(), 4 * N, ratio=1.03),
        Workload("vecdot f32", _line(N, F32, "x", "y"), _dot(), 8 * N, ratio=1.03),
    ]


def _dot() -> _Functions:
    return {"xpops": lambda x, y: xp.vecdot(x, y), "torch": lambda x, y: torch.dot(x, y)}


def _added(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    index = torch.randint(0, PLACES, (SOURCES,), device="cuda")
    return {
        "x": torch.zeros(PLACES, device="cuda", dtype=dtype),
        "index": index,
        "source": torch.randn(SOURCES, device="cuda").to(dtype),
    }


def _added_rows(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {
        "x": torch.zeros(TABLE, WIDTH, device="cuda", dtype=dtype),
        "index": torch.randint(0, TABLE, (ROWS,), device="cuda"),
        "source": torch.randn(ROWS, WIDTH, device="cuda").to(dtype),
    }


def _reproducible(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    torch.use_deterministic_algorithms(True)
    try:
        return torch.index_add(x, 0, index, source)
    finally:
        torch.use_deterministic_algorithms(False)


def _additions() -> list[Workload]:
    scatter: _Functions = {
        "xpops": lambda x, index, source: xp.nn.scatter_add(x, index, source, deterministic=False),
        "torch": lambda x, index, source: torch.scatter_add(x, 0, index, source),
    }
    rows: _Functions = {
        "xpops": lambda x, index, source: xp.nn.index_add(x, index, source, deterministic=False),
        "torch": lambda x, index, source: torch.index_add(x, 0, index, source),
    }
    sorted_rows: _Functions = {
        "xpops": lambda x, index, source: xp.nn.index_add(x, index, source),
        "torch": _reproducible,
    }
    made = []
    for dtype in (F16, BF16, F32):
        size, name = torch.empty((), dtype=dtype).element_size(), _short(dtype)
        made += [
            Workload(f"scatter_add {name}", partial(_added, dtype), scatter, (size + 8) * SOURCES, target=740),
            Workload(
                f"index_add {name}",
                partial(_added_rows, dtype),
                rows,
                size * ROWS * WIDTH,
                target=400 if dtype == F32 else 300,
            ),
            Workload(
                f"index_add sorted {name}", partial(_added_rows, dtype), sorted_rows, size * ROWS * WIDTH, target=420
            ),
        ]
    histogram: _Functions = {
        "xpops": lambda x: xp.nn.histogram(x, BINS, (-4.0, 4.0)),
        "torch": lambda x: torch.histc(x, BINS, -4.0, 4.0),
    }
    return [
        *made,
        Workload("histogram", _line(N, F32, "x"), histogram, 4 * N, target=500),
        Workload("histogram of zeros", lambda: {"x": torch.zeros(N, device="cuda")}, histogram, 4 * N, target=500),
    ]


def _images() -> list[Workload]:
    made = []
    for dtype in (F32, F16):
        for shape, most in (((16, 256, 160, 160), 530 if dtype == F32 else 270), ((16, 32, 80, 80), 0)):
            count = shape[0] * shape[1] * shape[2] * shape[3]
            size, name = torch.empty((), dtype=dtype).element_size(), f"{_short(dtype)} {shape[1]}x{shape[2]}"

            def small(shape: Any = shape, dtype: torch.dtype = dtype) -> dict[str, torch.Tensor]:
                return {"x": torch.randn(shape, device="cuda").to(dtype)}

            def large(shape: Any = shape, dtype: torch.dtype = dtype) -> dict[str, torch.Tensor]:
                doubled = (*shape[:2], 2 * shape[2], 2 * shape[3])
                return {"grad": torch.randn(doubled, device="cuda").to(dtype)}

            forward: _Functions = {
                "xpops": lambda x: xp.nn.upsample_nearest2d(x, scale=2),
                "torch": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
            }
            backward: _Functions = {
                "xpops": lambda grad, shape=shape: xp.nn.upsample_nearest2d_backward(grad, shape[2:]),
                "torch": lambda grad, shape=shape: torch.ops.aten.upsample_nearest2d_backward(
                    grad, [2 * shape[2], 2 * shape[3]], list(shape), 2.0, 2.0
                ),
            }
            ratio = 0.0 if most else 0.7
            made.append(Workload(f"upsample {name}", small, forward, 5 * size * count, target=most, ratio=ratio))
            made.append(Workload(f"upsample back {name}", large, backward, 5 * size * count, target=most, ratio=ratio))
    return made


def _random() -> list[Workload]:
    generator = xp.random.Generator(1)

    def drawn(name: str, peer: Callable[..., Any]) -> _Functions:
        return {
            "xpops": lambda: getattr(generator, name)(size=N, dtype=xp.float32, device="cuda"),
            "torch": lambda: peer(N, device="cuda"),
        }

    return [
        Workload("uniform f32", dict, drawn("uniform", torch.rand), 4 * N, "write", target=320),
        Workload("normal f32", dict, drawn("normal", torch.randn), 4 * N, "write", target=450),
    ]


def rows() -> list[Workload]:
    """Every row."""
    return [*_activations(), *_additions(), *_images(), *_random()]
