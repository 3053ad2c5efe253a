"""The sorting kernels, run on the host."""

import numpy as np
import pytest

import xpops.engine.cuda.kernels.sort as sorting
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run, tuned
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cpu.engine import CpuEngine
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.tuning.policies import PassPolicy

GENERATOR = np.random.default_rng(7)
SPECIAL = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, -np.nan, 1e-40, 3.0])
ENGINE = EmulatedEngine()
POLICY = tuning_of(90).sort
SMALL = POLICY._replace(
    passes=dict.fromkeys(POLICY.passes, PassPolicy(256, 2, 1)), row_limits=dict.fromkeys(POLICY.row_limits, 16)
)


def random(dtype, *shape):
    """Values with many ties; floating-point ones with every special value."""
    if dtype in dt.REAL_FLOATS:
        chosen = GENERATOR.choice(SPECIAL, shape)
        return np.where(GENERATOR.random(shape) < 0.2, chosen, GENERATOR.normal(size=shape)).astype(dtype)
    if dtype == dt.bool:
        return GENERATOR.random(shape) < 0.5
    return GENERATOR.integers(-100, 1000, shape).astype(dtype)


def check(x, *, values=True, index=None, descending=False, engine=ENGINE):
    layout = layout_on_gpu(x)
    placed = None if index is None else layout_of(index, x.shape, None, layout.device)
    wanted = (layout if values else None, placed)
    results = tuple(each for each in wanted if each is not None)
    found = run(engine, results, engine.sort(layout, *wanted, descending), x)
    expected = [np.empty(each.shape, each.dtype) for each in results]
    CpuEngine().sort(layout, *wanted, descending)(0, *expected, x)
    for one, other in zip(found, expected, strict=True):
        if one.dtype in dt.REAL_FLOATS:
            np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
            one, other = (np.where(np.isnan(each), 1, each.astype(np.float64)) for each in (one, other))
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("length", [1, 2, 5, 32, 64, 100])
def test_short_rows(length):
    check(random(dt.float32, 67, length))


@pytest.mark.parametrize(("dtype", "length"), [(dt.float32, 2048), (dt.int64, 1000), (dt.bool, 130)], ids=str)
def test_rows_of_several_warps(dtype, length):
    check(random(dtype, 2, length), descending=True)


@pytest.mark.parametrize("dtype", [dt.bfloat16, dt.int32, dt.float64], ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_rows_with_indices(dtype, descending):
    check(random(dtype, 9, 70), index=dt.int64, descending=descending)


def test_indices_of_rows_alone():
    check(random(dt.uint8, 3, 600), values=False, index=dt.int32)


@pytest.fixture
def small(monkeypatch):
    """Small tiles, so that a few thousand keys are many of them; two blocks at a time."""
    tuned(monkeypatch, sort=SMALL._replace(count_items=1))
    return EmulatedEngine(workers=2)


@pytest.mark.parametrize(
    ("dtype", "index", "values"),
    [(dt.float32, None, True), (dt.int64, dt.int64, True), (dt.float16, dt.int64, False), (dt.uint8, dt.uint32, True)],
    ids=str,
)
def test_radix(small, dtype, index, values):
    for shape in [(1, 17), (1, 2048), (3, 1500)]:
        check(random(dtype, *shape), values=values, index=index, engine=small)


def test_radix_of_equal_keys(small):
    check(np.full((2, 900), 7, np.int32), index=dt.int64, engine=small)


def test_radix_skips_digits_that_rows_have_in_common(small):
    x = random(dt.uint32, 4, 700)
    x[1] = x[1] << 16
    x[2] = 5
    x[3] = x[3] << 8 | 3
    check(x, index=dt.int64, descending=True, engine=small)


def test_radix_with_wide_counts_and_indices(small, monkeypatch):
    monkeypatch.setattr(sorting, "LONG_COUNT", 0)
    monkeypatch.setattr(sorting, "LONG_INDEX", 0)
    check(random(dt.bfloat16, 2, 1100), index=dt.int64, descending=True, engine=small)


@pytest.mark.parametrize("high", [1, 200])
def test_rows_that_finish_at_different_digits(high: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned(monkeypatch, sort=SMALL)
    generator = np.random.default_rng(5)
    x = np.stack([generator.integers(0, top, 700) for top in (high, 2**32)]).astype(np.uint32)
    layout = layout_on_gpu(x)
    placed = layout_of(dt.int64, x.shape, None, layout.device)
    engine = EmulatedEngine()
    (found,) = run(engine, (placed,), engine.sort(layout, None, placed, False), x)
    np.testing.assert_array_equal(found, np.argsort(x, axis=-1, kind="stable"))
