"""The rows for reductions, scans, sorting, searching and selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import xpops as xp
from benchmarks.workload import Workload

N, SIDE, KEYS = 2**28, 2**14, 2**26
F32, F16 = torch.float32, torch.float16
# The share of the bandwidth that the issue asks of counts, and of the largest of one row: of random data and others.
COUNTED = LARGEST = 1 / 1.3
LARGEST_OF_ORDERED = 1 / 2.5


def _normal(*shape: int, dtype: torch.dtype = F32) -> Callable[[], dict[str, torch.Tensor]]:
    return lambda: {"x": torch.randn(*shape, device="cuda").to(dtype)}


def _integers(high: int, count: int, dtype: torch.dtype) -> Callable[[], dict[str, torch.Tensor]]:
    return lambda: {"x": torch.randint(0, high, (count,), device="cuda", dtype=dtype)}


def _functions(ours: str, peer: str = "", axis: int | None = None) -> dict[str, Callable[..., Any]]:
    """One function of one array in each library, along an axis if one is given."""
    import cupy
    import jax
    import jax.numpy as jnp

    peer = peer or ours
    options, theirs = ({}, {}) if axis is None else ({"axis": axis}, {"dim": axis})
    return {
        "xpops": lambda x: getattr(xp, ours)(x, **options),
        "torch": lambda x: getattr(torch, peer)(x, **theirs),
        "cupy": lambda x: getattr(cupy, peer)(x, **options),
        "jax": jax.jit(lambda x: getattr(jnp, peer)(x, **options)),
    }


def _reductions() -> list[Workload]:
    flat, square = _normal(N), _normal(SIDE, SIDE)
    variance = {**_functions("var"), "torch": lambda x: torch.var(x, correction=0)}
    return [
        Workload("sum f32", flat, _functions("sum"), 4 * N, target=250),
        Workload("max f32", flat, _functions("max"), 4 * N, target=250),
        Workload("argmax f32", flat, _functions("argmax"), 4 * N, target=250),
        Workload("sum f16", _normal(N, dtype=F16), _functions("sum"), 2 * N, target=132),
        Workload("mean f32", flat, _functions("mean"), 4 * N, target=255),
        Workload("var f32", flat, variance, 4 * N, target=255),
        Workload("sum axis 0", square, _functions("sum", axis=0), 4 * N, target=252),
        Workload("sum axis 1", square, _functions("sum", axis=1), 4 * N, target=252),
        Workload("sum (2^23,32)", _normal(2**23, 32), _functions("sum", axis=1), 4 * N, target=262),
        Workload("sum middle axis", _normal(256, 4096, 256), _functions("sum", axis=1), 4 * N, target=252),
    ]


def _scans() -> list[Workload]:
    square = _normal(SIDE, SIDE)
    return [
        Workload("scan 1-d", _normal(N), _functions("cumulative_sum", "cumsum", 0), 8 * N, target=560),
        Workload("scan axis 1", square, _functions("cumulative_sum", "cumsum", 1), 8 * N, target=560),
        Workload("scan axis 0", square, _functions("cumulative_sum", "cumsum", 0), 8 * N, target=600),
    ]


def _sorts() -> list[Workload]:
    wide, narrow = (_integers(high, KEYS, torch.int64) for high in (2**62, 2**20))
    integers = _functions("sort")
    del integers["jax"]  # which takes them for 32-bit integers
    return [
        Workload("sort f32 2^26", _normal(KEYS), _functions("sort"), 8 * KEYS, best=1.0),
        Workload("sort i64 2^26", wide, integers, 16 * KEYS, best=1.0),
        Workload("sort i64 < 2^20", narrow, integers, 16 * KEYS, best=1.0),
        Workload("argsort f32 2^26", _normal(KEYS), _functions("argsort"), 12 * KEYS, best=1.0),
        Workload("sort (65536,1024)", _normal(2**16, 1024), _functions("sort", axis=1), 8 * KEYS, target=700),
        Workload("sort (2^20,64)", _normal(2**20, 64), _functions("sort", axis=1), 8 * KEYS, target=350),
    ]


def _selections() -> list[Workload]:
    import cupy

    def halves() -> dict[str, torch.Tensor]:
        x = torch.randn(N, device="cuda")
        return {"x": x, "mask": x > 0}

    def queries() -> dict[str, torch.Tensor]:
        return {"x": torch.randn(2**20, device="cuda").sort().values, "y": torch.randn(KEYS, device="cuda")}

    take = dict.fromkeys(("xpops", "torch", "cupy"), lambda x, mask: x[mask])
    coordinates: dict[str, Callable[..., Any]] = {
        "xpops": xp.nonzero,
        "torch": lambda x: torch.nonzero(x, as_tuple=True),
        "cupy": cupy.nonzero,
    }
    unique: dict[str, Callable[..., Any]] = {
        "xpops": xp.unique_values,
        "torch": torch.unique,
        "cupy": cupy.unique,
    }
    search: dict[str, Callable[..., Any]] = {
        "xpops": xp.searchsorted,
        "torch": torch.searchsorted,
        "cupy": cupy.searchsorted,
    }
    count: dict[str, Callable[..., Any]] = {
        "xpops": xp.nn.bincount,
        "torch": torch.bincount,
        "cupy": cupy.bincount,
    }
    return [
        Workload("x[mask], half", halves, take, 7 * N, target=640),
        Workload("nonzero", lambda: {"x": halves()["mask"]}, coordinates, 5 * N, target=480),
        Workload("unique i64 2^26", _integers(2**62, KEYS, torch.int64), unique, 16 * KEYS, best=0.9),
        Workload("unique i64 < 2^20", _integers(2**20, KEYS, torch.int64), unique, 8 * KEYS, best=0.9),
        Workload("searchsorted", queries, search, 12 * KEYS, best=0.9),
        Workload("bincount 256", _integers(256, N, torch.int32), count, 4 * N, target=500),
        Workload("bincount 100", _integers(100, KEYS, torch.int32), count, 4 * KEYS, share=COUNTED),
        Workload("bincount 100 i64", _integers(100, KEYS, torch.int64), count, 8 * KEYS, share=COUNTED),
        Workload("bincount of one value", _integers(1, KEYS, torch.int32), count, 4 * KEYS, share=COUNTED),
        Workload("bincount 5000", _integers(5000, KEYS, torch.int32), count, 4 * KEYS, share=COUNTED),
    ]


def _largest() -> list[Workload]:
    """The largest elements of rows, and of one long row."""

    def row(
        name: str, setup: Callable[[], dict[str, torch.Tensor]], size: int, count: int, **limits: float
    ) -> Workload:
        compute: dict[str, Callable[..., Any]] = {
            "xpops": lambda x: xp.nn.topk(x, count),
            "torch": lambda x: torch.topk(x, count),
        }
        return Workload(f"topk {name}", setup, compute, 4 * size, **limits)

    def ordered() -> dict[str, torch.Tensor]:
        return {"x": torch.randn(KEYS, device="cuda").sort().values}

    return [
        row("(64,32768) 64", _normal(64, 32768), 2**21, 64, ratio=0.5),
        row("(4,8192) 512", _normal(4, 8192), 2**15, 512, ratio=0.5),
        row("(4096,4096) 8", _normal(4096, 4096), 2**24, 8, ratio=0.5),
        row("2^26 100", _normal(KEYS), KEYS, 100, share=LARGEST),
        row("2^26 100, sorted", ordered, KEYS, 100, share=LARGEST_OF_ORDERED),
        row("2^26 100, equal", lambda: {"x": torch.ones(KEYS, device="cuda")}, KEYS, 100, share=LARGEST_OF_ORDERED),
    ]


def rows() -> list[Workload]:
    """Every row. Imports the peers."""
    return [*_reductions(), *_scans(), *_sorts(), *_selections(), *_largest()]
