"""Scans whose operation does not commute, without a GPU: affine maps and matrices must be composed in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.api.kernel import ScanKernel
from xpops.engine.cuda.tuning import tuning_of

NDArray = np.ndarray[Any, Any]

# Composes the maps t -> factor * t + shift, modulo 2^32. The result is the value of the composed map at 0.
AFFINE = ScanKernel(
    "uint32 x", "uint32 y", "Map{x | 1u, x >> 7}", "Map{b.factor * a.factor, b.factor * a.shift + b.shift}",
    "y = a.shift", "affine", scan_type="Map", preamble="struct Map { unsigned factor, shift; };",
)  # fmt: skip
# Products of ((x, 1), (1, 0)), modulo 2^32.
MATRICES = ScanKernel(
    "uint32 x", "uint32 y", "Matrix{x, 1u, 1u, 0u}",
    "Matrix{a.p * b.p + a.q * b.r, a.p * b.q + a.q * b.s, a.r * b.p + a.s * b.r, a.r * b.q + a.s * b.s}",
    "y = a.q + 3 * a.r", "matrices", scan_type="Matrix", preamble="struct Matrix { unsigned p, q, r, s; };",
)  # fmt: skip


def affine(x: NDArray) -> NDArray:
    """The expected result along the first axis, computed sequentially."""
    place, results = np.zeros(x.shape[1:], np.uint32), np.empty_like(x)
    for i, each in enumerate(x):
        place = (each | np.uint32(1)) * place + (each >> np.uint32(7))
        results[i] = place
    return results


def matrices(x: NDArray) -> NDArray:
    one, zero, results = np.ones(x.shape[1:], np.uint32), np.zeros(x.shape[1:], np.uint32), np.empty_like(x)
    p, q, r, s = one, zero, zero, one
    for i, each in enumerate(x):
        p, q, r, s = p * each + q, p, r * each + s, r
        results[i] = q + np.uint32(3) * r
    return results


KERNELS: dict[str, tuple[ScanKernel, Callable[[NDArray], NDArray]]] = {
    "affine": (AFFINE, affine),
    "matrices": (MATRICES, matrices),
}
kinds = pytest.mark.parametrize("kind", KERNELS)


def numbers(*shape: int) -> NDArray:
    return np.random.default_rng(shape).integers(0, 2**32, shape, np.uint32)


def check(kind: str, x: NDArray, axis: int, workers: int = 3) -> None:
    kernel, reference = KERNELS[kind]
    engine = EmulatedEngine(workers)
    (got,) = run(engine, *kernel._plan(engine, (layout_on_gpu(x),), axis), x)
    with np.errstate(over="ignore"):
        wanted = reference(np.moveaxis(x, axis, 0))
    np.testing.assert_array_equal(got, np.moveaxis(wanted, 0, axis))


LAYOUTS: dict[str, tuple[NDArray, int]] = {
    "one": (numbers(1), 0),
    "short rows": (numbers(300, 5), 1),
    "rows": (numbers(20, 131), 1),
    "mirrored rows": (numbers(20, 131)[:, ::-1], 1),
    "misaligned": (numbers(5001)[1:], 0),
    "a tile": (numbers(3, 1500), 1),
    "short columns": (numbers(5, 300), 0),
    "columns": (numbers(300, 40), 0),
    "ragged columns": (numbers(301, 43)[:, 1:], 0),
    "middle": (numbers(3, 200, 24), 1),
    "transposed": (numbers(60, 70).T, 0),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout(name: str) -> None:
    x, axis = LAYOUTS[name]
    check("affine", x, axis)


@kinds
def test_rows_that_a_few_lanes_walk_down(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpops.engine.cuda.user.scan.scan_policy", lambda *_: tuning_of(90).scan._replace(rows=8))
    check(kind, numbers(9, 1300), 1)
    check(kind, numbers(9, 601)[:, 1:], 1)


@kinds
@pytest.mark.parametrize(("rows", "tiles"), [(1, 33), (1, 70), (3, 11)])
def test_rows_of_many_tiles(rows: int, tiles: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are several runs of 32 tiles, which the warps of the first block compute in turn."""
    policy = tuning_of(90).scan._replace(rows=4224, tile_block=64, packs=1)
    monkeypatch.setattr("xpops.engine.cuda.user.scan.scan_policy", lambda *_: policy)
    check(kind, numbers(rows, tiles * 256 - 5), 1)


@kinds
@pytest.mark.parametrize("columns", [31, 132])
@pytest.mark.parametrize("radix", [1, 4, 8])
def test_columns_of_many_tiles(radix: int, columns: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are several groups and supergroups, so that all three parts of a prefix are used."""
    for module in ("columns", "staged"):
        monkeypatch.setattr(f"xpops.plan.scan.{module}.look_back_radix", lambda *_: radix)
    policy = tuning_of(90).scan._replace(rows=4224, column_warps=2)
    monkeypatch.setattr("xpops.engine.cuda.user.scan.scan_policy", lambda *_: policy)
    check(kind, numbers(3000 if radix < 8 else 8000, columns), 0)
