"""The kernels that find distinct elements of narrow dtypes, run on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, read, tuned
from tests.unit.conftest import PretendedEngine
from xpops.core import dtypes as dt
from xpops.engine.cuda.kernels.distinct import Table
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of

NDArray = np.ndarray[Any, Any]

ALL = ("values", "indices", "inverse_indices", "counts")
INTEGERS = (dt.bool, dt.int8, dt.uint8, dt.int16, dt.uint16)
HALVES = (dt.float16, dt.bfloat16)
POLICY = tuning_of(90).distinct
GENERATOR = np.random.default_rng(11)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> EmulatedEngine:
    """Arrays of any length are counted; blocks are small, so that some thousand elements are many tiles."""
    tuned(monkeypatch, distinct=POLICY._replace(least={1: 1, 2: 1}, block=256))
    return EmulatedEngine()


def distinct(engine: EmulatedEngine, x: NDArray, parts: tuple[str, ...] = ALL) -> dict[str, NDArray]:
    measure = engine.distinct(layout_on_gpu(x), parts)
    assert measure is not None
    program = measure(STREAM, x.ctypes.data)
    results = [engine.allocate(layout, STREAM) for layout in program.layouts]
    program.kernel(STREAM, *(data for data, _ in results), x.ctypes.data)
    found = [read(data, layout) for (data, _), layout in zip(results, program.layouts, strict=True)]
    return dict(zip(parts, found, strict=True))


def check(engine: EmulatedEngine, x: NDArray) -> None:
    values, *others = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    expected = dict(zip(ALL, (values, *(each.astype(np.int64) for each in others)), strict=True))
    for parts in (ALL, ("values", "counts"), ("values", "inverse_indices"), ("values",)):
        for name, found in distinct(engine, x, parts).items():
            assert found.dtype == expected[name].dtype
            np.testing.assert_array_equal(found, expected[name])


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("size", [1, 15, 8191, 8192, 40_003])
def test_integers(engine: EmulatedEngine, dtype: Any, size: int) -> None:
    check(engine, GENERATOR.integers(-300, 300, size).astype(dtype))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_all_values_in_descending_order(engine: EmulatedEngine, dtype: Any) -> None:
    check(engine, np.repeat(np.arange(70_000)[::-1], 2)[:100_001].astype(dtype))


def test_any_byte_is_true(engine: EmulatedEngine) -> None:
    x = GENERATOR.integers(0, 4, 5000).astype(np.uint8)
    found = distinct(engine, x.view(np.bool_))
    np.testing.assert_array_equal(found["values"].view(np.uint8), [0, 1])
    np.testing.assert_array_equal(found["inverse_indices"], x != 0)
    np.testing.assert_array_equal(found["counts"], [np.sum(x == 0), np.sum(x != 0)])
    np.testing.assert_array_equal(found["indices"], [np.argmax(x == 0), np.argmax(x != 0)])


def test_misaligned(engine: EmulatedEngine) -> None:
    for dtype in (dt.uint8, dt.int16):
        check(engine, GENERATOR.integers(0, 99, 20_001).astype(dtype)[1:])


@pytest.mark.parametrize("dtype", [dt.uint8, dt.uint16], ids=str)
def test_counters_do_not_overflow(engine: EmulatedEngine, dtype: Any) -> None:
    """Neighbouring counters share a word; each counts more than 16 bits hold."""
    x = np.tile(np.array([4, 5], dtype), 150_000)
    np.testing.assert_array_equal(distinct(engine, x, ("values", "counts"))["counts"], [150_000, 150_000])
    np.testing.assert_array_equal(distinct(engine, np.sort(x), ("values", "counts"))["counts"], [150_000, 150_000])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("zeros", [(0.0, -0.0), (0.0,), (-0.0,)])
def test_floats(engine: EmulatedEngine, dtype: Any, zeros: tuple[float, ...]) -> None:
    special = np.array([*zeros, np.inf, -np.inf, np.nan, -np.nan, 1e-7, 1.0, -1.0, 2.5])
    x = GENERATOR.choice(special, 10_001).astype(dtype)
    values, counts = np.unique(x.astype(np.float64), return_counts=True, equal_nan=False)
    found = distinct(engine, x, ("values", "counts"))
    np.testing.assert_array_equal(found["values"].astype(np.float64), values)
    np.testing.assert_array_equal(found["counts"], counts)
    (zero,) = found["values"][found["values"] == 0]
    assert np.signbit(zero) == any(map(np.signbit, zeros))


def test_public_functions(pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a strided view, whose shape the inverse indices have."""
    tuned(monkeypatch, distinct=POLICY._replace(least={1: 1, 2: 1}))
    host = GENERATOR.integers(-9, 9, (300, 7)).astype(np.int16)
    found = xp.unique_all(pretended.array(host)[::2, 1:])
    expected = np.unique(host[::2, 1:], return_index=True, return_inverse=True, return_counts=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.to_numpy(), other)
    assert found.inverse_indices.shape == (150, 6)


def test_only_nans(engine: EmulatedEngine) -> None:
    found = distinct(engine, np.full(70_001, np.nan, dt.float16), ("values", "counts"))
    assert np.isnan(found["values"]).all()
    np.testing.assert_array_equal(found["counts"], np.ones(70_001))


def test_what_is_sorted_instead() -> None:
    engine, x = EmulatedEngine(), np.zeros(1 << 22, np.float16)
    assert engine.distinct(layout_on_gpu(x.astype(np.int32)), ("values",)) is None
    assert engine.distinct(layout_on_gpu(x[:100]), ("values",)) is None
    assert engine.distinct(layout_on_gpu(x), ("values", "inverse_indices")) is None
    assert engine.distinct(layout_on_gpu(x), ("values", "counts")) is not None
    engine.context.shared = 99 << 10
    assert engine.distinct(layout_on_gpu(x), ("values", "counts")) is None


@pytest.mark.parametrize("capability", [75, 80, 90, 100, 120])
def test_every_architecture(capability: int) -> None:
    for dtype in (dt.bool, dt.int16, dt.bfloat16):
        table = Table(dtype, 1 << 20, dtype != dt.bool, POLICY)
        for name in ("count", "first", "number", "write"):
            assert compile_cubin("unique", table.source(name), capability)
