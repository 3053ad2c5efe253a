"""Kernels of functions that are one plan over several primitives, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
import xpops.engine
from tests.helpers.emulator import GPU, EmulatedEngine, layout_on_gpu, run
from tests.unit.conftest import PretendedEngine
from xpops.api import fusion
from xpops.api.linalg.products import _plan_cross
from xpops.api.statistics.order_plans import interpolate, mean_of_two, places_of_middle, plan_median

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> EmulatedEngine:
    made = EmulatedEngine()
    monkeypatch.setitem(xpops.engine._engines, GPU, made)
    return made


def numbers(dtype: str, *shape: int) -> NDArray:
    return (9 * RANDOM.normal(size=shape)).astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "first", "second", "axis"),
    [
        ("float32", (9, 3), (9, 3), -1),
        ("float32", (130, 3), (3,), -1),
        ("float64", (5, 3, 70), (3, 70), -2),
        ("complex64", (4, 3), (1, 3), -1),
        ("float16", (1000, 3), (1000, 3), -1),
        ("int32", (3,), (3,), -1),
        ("float32", (0, 3), (1, 3), -1),
    ],
)
def test_cross(engine: EmulatedEngine, dtype: str, first: Any, second: Any, axis: int) -> None:
    x, y = numbers(dtype, *first), numbers(dtype, *second)
    wide: Any = [np.moveaxis(each, axis, -1) for each in np.broadcast_arrays(x, y)]
    (got,) = run(engine, *_plan_cross(engine, (layout_on_gpu(x), layout_on_gpu(y)), axis), x, y)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.moveaxis(np.cross(*wide), -1, axis))


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("dtype", "shape", "axis"),
    [
        ("float32", (9, 5), 1),
        ("float32", (9, 6), 0),
        ("float64", (4, 5, 6), (0, 2)),
        ("float16", (8, 3), None),
        ("int32", (7,), None),
        ("int8", (3, 64), -1),
        ("float32", (3, 0), 1),
        ("float32", (0, 3), 1),
        ("float32", (5, 1), 1),
    ],
)
def test_median(engine: EmulatedEngine, dtype: str, shape: Any, axis: Any, keepdims: bool) -> None:
    x = numbers(dtype, *shape)
    if x.size and x.dtype.kind == "f":
        x.flat[2] = np.nan
    (got,) = run(engine, *plan_median(engine, (layout_on_gpu(x),), axis, keepdims), x)
    wanted = np.median(x, axis=axis, keepdims=keepdims)
    assert (got.shape, got.dtype) == (wanted.shape, x.dtype if x.dtype.kind == "f" else np.float64)
    np.testing.assert_allclose(got, wanted, rtol=np.finfo(got.dtype).eps)


def fused(engine: EmulatedEngine, function: Any, *arguments: NDArray) -> tuple[NDArray, ...]:
    specs = tuple(map(layout_on_gpu, arguments))
    program: Any = fusion._plan(fusion.Fused(function), engine, specs)
    return run(engine, *program, *arguments)


def test_quantiles_between_two_ranks(engine: EmulatedEngine) -> None:
    below = np.array([[1, 2, np.inf, 3, -4], [0, 5, 1, 1, 1]], np.float32)
    above = np.array([[3, 2, np.inf, 5, 7], [4, 5, 2, 2, 2]], np.float32)
    part, last = np.array([0.25, 0.75, 0.5, 1, 0], np.float32), np.array([[1], [np.nan]], np.float32)
    (got,) = fused(engine, interpolate, below, above, part, last)
    np.testing.assert_array_equal(got, [[1.5, 2, np.inf, 5, -4], [np.nan] * 5])


def test_the_middle_of_what_is_no_nan(engine: EmulatedEngine) -> None:
    x = np.array([[1, np.nan, 2, 3], [np.nan] * 4, [1, 2, 3, 4], [np.nan, np.nan, np.nan, 5]], np.float32)
    low, high = fused(engine, places_of_middle, x)
    assert (low.ravel().tolist(), high.ravel().tolist()) == ([1, 0, 1, 0], [1, 0, 2, 0])
    below, above = np.array([np.inf, 1, 3e38], np.float32), np.array([np.inf, 2, 3e38], np.float32)
    (got,) = fused(engine, mean_of_two, below, above)
    np.testing.assert_array_equal(got, np.array([np.inf, 1.5, 3e38], np.float32))


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_functions_without_nan(engine: EmulatedEngine, name: str, axis: int | None) -> None:
    x = numbers("float32", 7, 12) / 9
    x[2, 3] = x[5, 5:] = np.nan
    (got,) = fused(engine, lambda x: getattr(xp, name)(x, axis=axis), x)
    size = getattr(np, name)(np.abs(x), axis=axis) if name in ("nansum", "nanmean") else 0  # they may be near 0
    wanted = getattr(np, name)(x.astype(np.float64), axis=axis)
    assert np.all(np.abs(got - wanted) <= 2e-6 * np.maximum(np.abs(wanted), size))


@pytest.mark.parametrize("order", [1, -1, np.inf, -np.inf, "fro"], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norms(engine: EmulatedEngine, order: Any, keepdims: bool) -> None:
    x = numbers("float32", 2, 5, 8)
    (got,) = fused(engine, lambda x: xp.linalg.matrix_norm(x, ord=order, keepdims=keepdims), x)
    np.testing.assert_allclose(got, np.linalg.matrix_norm(x, ord=order, keepdims=keepdims), rtol=2e-6)


@pytest.mark.parametrize("order", [2, 1.0, 0, 3, -1, 2.5, np.inf])
def test_vector_norm(pretended: PretendedEngine, order: float) -> None:
    host = numbers("float32", 4, 6)
    x, wanted = pretended.array(host), np.linalg.vector_norm(host.astype(float), axis=1, ord=order)
    for _ in range(2):
        got = xp.linalg.vector_norm(x, axis=1, ord=order).to_numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("order", [2, -1, 3, np.inf])
def test_norms_of_single_elements(pretended: PretendedEngine, order: float, dtype: str) -> None:
    host = numbers(dtype, 4, 1, 37)
    x = pretended.array(host)
    for keepdims in (False, True):
        got = xp.linalg.vector_norm(x, axis=1, ord=order, keepdims=keepdims).to_numpy()
        np.testing.assert_allclose(got, np.abs(host) if keepdims else np.abs(host)[:, 0], rtol=1e-7)


def test_norms_of_halves_need_no_second_number(pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    sources, launcher = list[str](), pretended.launcher
    monkeypatch.setattr(
        pretended, "launcher", lambda name, source, *rest: sources.append(source) or launcher(name, source, *rest)
    )
    for dtype, compensated in (("float16", False), ("float32", True)):
        for order in (1, 2, 3, 2.5, -1):
            host = RANDOM.uniform(0.5, 2, (3, 1500)).astype(dtype)
            got = xp.linalg.vector_norm(pretended.array(host), axis=1, ord=order).to_numpy()
            wanted = np.linalg.vector_norm(host.astype(float), axis=1, ord=order)
            np.testing.assert_allclose(got, wanted, rtol=2 * np.finfo(dtype).eps)
            assert any("CompensatedSum" in source for source in sources) == compensated
            sources.clear()


def test_names_of_families_in_errors(pretended: PretendedEngine) -> None:
    with pytest.raises(TypeError, match="vector_norm: x has dtype int32; accepted: floating-point dtypes"):
        xp.linalg.vector_norm(pretended.array(numbers("int32", 4)))
