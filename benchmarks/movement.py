"""The rows for functions that move elements: indexing, joining, repeating."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import xpops as xp
from benchmarks.workload import Workload

SIDE, COUNT = 2**13, 2**26
# The limit, as a multiple of the better of torch's and cupy's times.
ALLOWED = 1 / 0.95

_Functions = dict[str, Callable[..., Any]]


def _square(**others: Callable[[], torch.Tensor]) -> Callable[[], dict[str, torch.Tensor]]:
    return lambda: {"x": torch.randn(SIDE, SIDE, device="cuda"), **{name: make() for name, make in others.items()}}


def _pair() -> dict[str, torch.Tensor]:
    return {name: torch.randn(SIDE, SIDE, device="cuda") for name in "xy"}


def _places(count: int, high: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.randint(0, high, (count,), device="cuda")


def _row(name: str, setup: Any, functions: _Functions, elements: int) -> Workload:
    return Workload(name, setup, functions, 8 * elements, best=ALLOWED)


def _gathers() -> list[Workload]:
    import cupy

    line = {"x": lambda: torch.randn(COUNT, device="cuda"), "index": _places(COUNT, COUNT)}
    square, area = _square(index=_places(SIDE, SIDE)), SIDE * SIDE

    def take(axis: int) -> _Functions:
        return {
            "xpops": lambda x, index: xp.take(x, index, axis=axis),
            "torch": lambda x, index: torch.index_select(x, axis, index),
            "cupy": lambda x, index: cupy.take(x, index, axis=axis),
        }

    def along(axis: int) -> _Functions:
        return {
            "xpops": lambda x, index: xp.take_along_axis(x, index, axis=axis),
            "torch": lambda x, index: torch.take_along_dim(x, index, axis),
            "cupy": lambda x, index: cupy.take_along_axis(x, index, axis),
        }

    def each(function: Callable[..., Any]) -> _Functions:
        return dict.fromkeys(("xpops", "torch", "cupy"), function)

    def set_rows(x: Any, index: Any) -> Any:
        x[index] = 1.0
        return x

    indices = _square(index=lambda: torch.randint(0, SIDE, (SIDE, SIDE), device="cuda"))
    return [
        _row("take 2^26", lambda: {name: make() for name, make in line.items()}, take(0), 2 * COUNT),
        _row("take axis 0", square, take(0), area),
        _row("take axis 1", square, take(1), area),
        _row("take_along axis 0", indices, along(0), 2 * area),
        _row("take_along axis 1", indices, along(1), 2 * area),
        _row("x[index]", square, each(lambda x, index: x[index]), area),
        _row("x[:, index]", square, each(lambda x, index: x[:, index]), area),
        _row("x[index, index]", square, each(lambda x, index: x[index, index]), SIDE),
        _row("x[index] = 1", square, each(set_rows), area // 2),
    ]


def _copies() -> list[Workload]:
    import cupy

    area = SIDE * SIDE

    def pairwise(name: str, peer: str, axis: int) -> _Functions:
        return {
            "xpops": lambda x, y: getattr(xp, name)([x, y], axis=axis),
            "torch": lambda x, y: getattr(torch, peer)([x, y], dim=axis),
            "cupy": lambda x, y: getattr(cupy, peer)([x, y], axis=axis),
        }

    def repeat(axis: int) -> _Functions:
        return {
            "xpops": lambda x: xp.repeat(x, 4, axis=axis),
            "torch": lambda x: torch.repeat_interleave(x, 4, dim=axis),
            "cupy": lambda x: cupy.repeat(x, 4, axis=axis),
        }

    def roll(axis: int) -> _Functions:
        return {
            "xpops": lambda x: xp.roll(x, 37, axis=axis),
            "torch": lambda x: torch.roll(x, 37, axis),
            "cupy": lambda x: cupy.roll(x, 37, axis=axis),
        }

    tile = {
        "xpops": lambda x: xp.tile(x, (2, 3)),
        "torch": lambda x: torch.tile(x, (2, 3)),
        "cupy": lambda x: cupy.tile(x, (2, 3)),
    }

    def small() -> dict[str, Any]:
        return {"x": torch.randn(SIDE // 2, SIDE // 2, device="cuda")}

    return [
        *(_row(f"concat axis {axis}", _pair, pairwise("concat", "concatenate", axis), 2 * area) for axis in (0, 1)),
        *(_row(f"stack axis {axis}", _pair, pairwise("stack", "stack", axis), 2 * area) for axis in (0, 1, 2)),
        *(_row(f"repeat axis {axis}", small, repeat(axis), area * 5 // 8) for axis in (0, 1)),
        *(_row(f"roll axis {axis}", _square(), roll(axis), area) for axis in (0, 1)),
        _row("tile (2, 3)", small, tile, area * 7 // 8),
    ]


def rows() -> list[Workload]:
    """All rows, in the order of the table."""
    return [*_gathers(), *_copies()]
