"""Softmax kernels without a GPU."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.softmax import exact_softmax
from tests.helpers.values import ulp_error
from xpops.core import dtypes as dt
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.softmax import Way, plan_softmax

NDArray = np.ndarray[Any, Any]

# Not by attribute, because the package has a function with the module's name.
softmax = import_module("xpops.api.nn.softmax")
RANDOM = np.random.default_rng(7)
BOUNDS = {dt.float16: 0.51, dt.bfloat16: 0.51, dt.float32: 7.5, dt.float64: 8.0}
# With an emulated GPU of 4 multiprocessors.
CASES = [
    ((3, 5), 1, Way.HELD),
    ((9, 64), 1, Way.HELD),
    ((3, 130), 1, Way.HELD),
    ((2, 4096), 1, Way.HELD),
    ((40, 33001), 1, Way.LONG),
    ((1, 70000), 1, Way.SPLIT),
    ((3, 5), 0, Way.HELD),
    ((2, 33, 8), 1, Way.HELD),
    ((300, 16), 0, Way.HELD),
    ((9000, 4), 0, Way.SPLIT),
    ((2100, 2048), 0, Way.LONG),
]


def emulated(x: NDArray, axis: int, log: bool = False, out: Any = None) -> NDArray:
    engine = EmulatedEngine(workers=2)
    (found,) = run(engine, *softmax._plan(engine, (layout_on_gpu(x),), axis, out, log), x)
    return found


def error(found: NDArray, wanted: NDArray) -> Any:
    return np.max(ulp_error(found.reshape(-1), wanted.reshape(-1).astype(np.longdouble)))


@pytest.mark.parametrize("case", [case for case in CASES if np.prod(case[0]) < 100_000], ids=str)
def test_values(case: Any) -> None:
    shape, axis, _ = case
    check(shape, axis, dt.float32)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float64], ids=str)
@pytest.mark.parametrize("case", [((3, 130), 1), ((2, 33, 8), 1), ((1, 40000), 1)], ids=str)
def test_dtypes(case: Any, dtype: Any) -> None:
    check(*case, dtype)


def check(shape: tuple[int, ...], axis: int, dtype: Any) -> None:
    x = (6 * RANDOM.normal(size=shape)).astype(dtype)
    plain, logarithm = exact_softmax(x, axis)
    assert error(emulated(x, axis), plain) <= BOUNDS[dtype]
    assert error(emulated(x, axis, True), logarithm) <= BOUNDS[dtype]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_way_is_taken(case: Any) -> None:
    shape, axis, way = case
    x = layout_on_gpu(np.empty(shape, np.float32))
    assert plan_softmax(x, axis, 4, 4, tuning_of(90).softmax).way is way


def test_one_block_a_long_row() -> None:
    x = RANDOM.normal(size=(16, 17000)).astype(np.float64)
    assert plan_softmax(layout_on_gpu(x), 1, 8, 4, tuning_of(90).softmax).way is Way.LONG
    assert error(emulated(x, 1), exact_softmax(x, 1)[0]) <= BOUNDS[dt.float64]


@pytest.mark.parametrize("shape", [(2, 7), (2, 300), (2, 40000)], ids=str)
def test_special_values(shape: Any) -> None:
    x = np.zeros(shape, np.float32)
    x[0], x[1, 0] = -np.inf, np.inf
    for host, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        assert np.all(np.isnan(emulated(host, axis)))
        assert np.all(np.isnan(emulated(host, axis, True)))
    x[:], x[:, -2:] = -np.inf, 1
    for host, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        np.testing.assert_array_equal(emulated(host, axis), np.where(host == 1, np.float32(0.5), np.float32(0)))
        assert np.all(emulated(host, axis, True)[host != 1] == -np.inf)
    x[1, 3] = np.nan
    assert np.array_equal(np.isnan(emulated(x, 1)), np.broadcast_to([[False], [True]], shape))


@pytest.mark.parametrize("shift", [0, 450, 499.9, 500.1, -1e4, 1e30])
def test_far_from_zero(shift: float) -> None:
    x = (6 * RANDOM.normal(size=(4, 300)) + shift).astype(np.float32)
    x[:, 5] -= 2000
    wanted = exact_softmax(x, 1)[0]
    assert error(emulated(x, 1), wanted) <= BOUNDS[dt.float32]


@pytest.mark.parametrize("out", [dt.float16, dt.float64, *dt.FLOAT8], ids=str)
@pytest.mark.parametrize("dtype", [dt.float16, dt.float32], ids=str)
def test_another_dtype(dtype: Any, out: Any) -> None:
    for shape, axis in (((3, 24), 1), ((24, 16), 0)):
        x = RANDOM.normal(size=shape).astype(dtype)
        wanted = exact_softmax(x, axis)[0]
        found = emulated(x, axis, out=out)
        assert found.dtype == out
        tolerance = max(xp.finfo(dt.float32).eps * 8, {1: 0.14, 2: 0.005}.get(out.itemsize, 0))
        np.testing.assert_allclose(
            found.astype(np.float64), wanted, rtol=tolerance, atol=0.002 if out.itemsize == 1 else 0
        )


def test_the_order_of_axes_stays() -> None:
    x = RANDOM.normal(size=(5, 6, 40)).astype(np.float32)
    for view in (x.transpose(2, 0, 1), x.transpose(2, 1, 0), x[1:].transpose(1, 0, 2)):
        for axis in range(view.ndim):
            wanted = exact_softmax(view, axis)[0]
            assert error(emulated(view, axis), wanted) <= BOUNDS[dt.float32]
