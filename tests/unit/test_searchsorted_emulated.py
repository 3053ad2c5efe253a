"""Binary search, run on the host."""

import numpy as np
import pytest

import xpops.engine.cuda.searchsorted as searching
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of

GENERATOR = np.random.default_rng(11)
ENGINE = EmulatedEngine()


def found(x1, x2, *, right=False, loop=None, sorter=None):
    ordered = layout_on_gpu(x1)
    wanted = layout_on_gpu(x2) if isinstance(x2, np.ndarray) else type(x2)
    out = layout_of(dt.int64, np.shape(x2), None, ordered.device)
    order = None if sorter is None else layout_on_gpu(sorter)
    kernel = ENGINE.searchsorted(ordered, wanted, right, out, loop, order)
    return run(ENGINE, (out,), kernel, x1, x2, *([] if sorter is None else [sorter]))[0]


@pytest.fixture
def few_pivots(monkeypatch):
    """16 pivots of 4 bytes, for any number of searches."""
    monkeypatch.setattr(searching, "PIVOT_BYTES", 64)
    monkeypatch.setattr(searching, "LEAST_SEARCHES", 1)


@pytest.mark.parametrize("right", [False, True])
def test_every_length(few_pivots, right):
    x2 = np.arange(-1, 102, dtype=np.float32) / 2
    x2[5], x2[7] = np.nan, -0.0
    for length in (0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 100):
        x1 = np.sort(GENERATOR.integers(0, 50, length).astype(np.float32))
        x1[length - length // 5 :] = np.nan
        np.testing.assert_array_equal(found(x1, x2, right=right), np.searchsorted(x1, x2, "right" if right else "left"))


def test_without_pivots():
    x1, x2 = np.sort(GENERATOR.normal(size=300)), GENERATOR.normal(size=(5, 7))
    np.testing.assert_array_equal(found(x1, x2), np.searchsorted(x1, x2))


def test_promotion_and_many_searches(few_pivots):
    x1 = np.sort(GENERATOR.integers(-100, 100, 999).astype(np.int16))
    x2 = GENERATOR.integers(0, 200, 5000).astype(np.uint8)
    np.testing.assert_array_equal(found(x1, x2, loop=dt.int16), np.searchsorted(x1, x2))


def test_halves():
    x1 = np.sort(GENERATOR.normal(size=200).astype(dt.bfloat16).astype(np.float32))
    assert (found(x1.astype(dt.bfloat16), x1.astype(dt.bfloat16)) == np.searchsorted(x1, x1)).all()


def test_scalars():
    x1 = np.array([1, 3, 3, 5], np.uint8)
    assert found(x1, 3, right=True, loop=dt.int64) == 3
    assert found(x1, 2.5, loop=dt.float64) == 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint8], ids=str)
def test_sorter(few_pivots, dtype):
    x1, x2 = GENERATOR.integers(0, 90, 150), np.arange(100)
    order = np.argsort(x1, kind="stable").astype(dtype)
    np.testing.assert_array_equal(found(x1, x2, sorter=order), np.searchsorted(x1, x2, sorter=order))


def test_a_sorter_out_of_range_stays_inside():
    x1 = np.arange(10.0)
    wild = np.array([-(2**40), -1, 2**50, 3, 4, 5, 6, 7, 8, 10])
    places = found(x1, x1, sorter=wild)
    assert ((places >= 0) & (places <= 10)).all()
