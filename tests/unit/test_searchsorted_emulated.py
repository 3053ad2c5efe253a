"""The kernels of binary search, run on the host."""

import numpy as np
import pytest

import xpops.engine.cuda.kernels.searchsorted as searching
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run, tuned
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.tuning import tuning_of

GENERATOR = np.random.default_rng(11)
ENGINE = EmulatedEngine()
TREES = tuning_of(90).search._replace(block=32, blocks=1, top_bytes=64, least=1, share=1 << 40)


def found(x1, x2, *, right=False, loop=None, sorter=None):
    ordered = layout_on_gpu(x1)
    wanted = layout_on_gpu(x2) if isinstance(x2, np.ndarray) else type(x2)
    out = layout_of(dt.int64, np.shape(x2), None, ordered.device)
    order = None if sorter is None else layout_on_gpu(sorter)
    kernel = ENGINE.searchsorted(ordered, wanted, right, out, loop, order)
    return run(ENGINE, (out,), kernel, x1, x2, *([] if sorter is None else [sorter]))[0]


@pytest.fixture
def trees(monkeypatch):
    """Build a tree above more than 16 values of 4 bytes, or 8 values of 8 bytes, even for few searches."""
    tuned(monkeypatch, search=TREES)


def check(x1, x2, right, **options):
    np.testing.assert_array_equal(
        found(x1, x2, right=right, **options), np.searchsorted(x1, x2, "right" if right else "left")
    )


@pytest.mark.parametrize("right", [False, True])
def test_every_length(trees, right):
    """Lengths at the limits of nodes, levels and shared memory, with NaN at the end."""
    x2 = np.arange(-1, 202, dtype=np.float32) / 4
    x2[5], x2[7], x2[9:12] = np.nan, -0.0, (np.inf, -np.inf, -np.nan)
    for length in (
        0,
        1,
        2,
        15,
        16,
        17,
        23,
        24,
        25,
        127,
        128,
        135,
        136,
        137,
        143,
        144,
        1023,
        1024,
        1025,
        1151,
        1152,
        1159,
    ):
        x1 = np.sort(GENERATOR.integers(0, 50, length).astype(np.float32))
        check(x1, x2, right)
        x1[length - length // 5 :] = np.nan
        check(x1, x2, right)
        check(x1, x2[:40], right)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", [*dt.SIGNED_INTEGERS, *dt.UNSIGNED_INTEGERS, dt.float32, dt.float64], ids=str)
def test_every_dtype(trees, dtype, right):
    info = np.iinfo(dtype) if dtype in dt.CATEGORIES["integer"] else np.finfo(dtype)
    x1 = np.sort(np.concatenate([GENERATOR.integers(0, 120, 1190).astype(dtype), np.full(9, info.max)]).astype(dtype))
    x1[:5] = info.min
    check(x1, np.append(x1[::7], np.array([info.min, info.max, 3, 119, 120], dtype)), right)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
def test_halves(trees, dtype):
    x1 = np.sort(GENERATOR.normal(size=300).astype(dtype).astype(np.float32))
    for right in (False, True):
        places = np.searchsorted(x1, x1, "right" if right else "left")
        np.testing.assert_array_equal(found(x1.astype(dtype), x1.astype(dtype), right=right), places)


def test_misaligned(trees):
    x1, x2 = np.sort(GENERATOR.normal(size=302).astype(np.float32)), GENERATOR.normal(size=50).astype(np.float32)
    for first in range(3):
        check(x1[first:], x2, False)


@pytest.mark.parametrize("fan_bits", [2, 4])
def test_other_nodes(trees, monkeypatch, fan_bits):
    tuned(monkeypatch, search=TREES._replace(fan_bits=fan_bits))
    x1, x2 = np.sort(GENERATOR.normal(size=1500).astype(np.float32)), GENERATOR.normal(size=200).astype(np.float32)
    check(x1, x2, True)


def test_64_bit_indices(trees, monkeypatch):
    monkeypatch.setattr(searching, "INDEX_LIMIT", 0)
    check(np.sort(GENERATOR.normal(size=1500)), GENERATOR.normal(size=200), False)


def test_in_memory():
    check(np.sort(GENERATOR.normal(size=300)), GENERATOR.normal(size=(5, 7)), False)


def test_in_shared_memory():
    check(np.sort(GENERATOR.normal(size=300)), GENERATOR.normal(size=tuning_of(90).search.least), True)


def test_promotion_and_many_searches(trees):
    x1 = np.sort(GENERATOR.integers(-100, 100, 999).astype(np.int16))
    check(x1, GENERATOR.integers(0, 200, 5000).astype(np.uint8), False, loop=dt.int16)
    check(x1, GENERATOR.normal(size=300) * 90, False, loop=dt.float64)


def test_scalars(trees):
    x1 = np.array([1, 3, 3, 5] + 96 * [7], np.uint8)
    assert found(x1, 3, right=True, loop=dt.int64) == 3
    assert found(x1, 2.5, loop=dt.float64) == 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint8], ids=str)
def test_sorter(trees, dtype):
    x1, x2 = GENERATOR.integers(0, 90, 150), np.arange(100)
    order = np.argsort(x1, kind="stable").astype(dtype)
    np.testing.assert_array_equal(found(x1, x2, sorter=order), np.searchsorted(x1, x2, sorter=order))


@pytest.mark.parametrize("length", [10, 1000])
def test_a_sorter_out_of_range_stays_inside(trees, length):
    x1, wild = np.arange(float(length)), GENERATOR.integers(-(2**40), 2**50, length)
    wild[::2] = GENERATOR.integers(-1, length + 1, wild[::2].size)
    places = found(x1, x1, sorter=wild)
    assert ((places >= 0) & (places <= length)).all()


@pytest.mark.parametrize("right", [False, True])
def test_arrays_that_shared_memory_holds_whole(monkeypatch, right):
    tuned(monkeypatch, search=TREES._replace(whole_bytes=48 << 10))
    for dtype, length in ((np.int64, 9), (np.int64, 777), (np.float16, 1001), (np.float32, 12288)):
        x1 = np.sort((GENERATOR.normal(size=length) * 100).astype(dtype))
        x2 = np.resize(
            np.concatenate([x1[:: 1 + length // 50], (GENERATOR.normal(size=60) * 150).astype(dtype)]), 5 * length
        )
        for _ in range(2):
            check(x1, x2, right)
