"""Histograms against NumPy, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.dispatch import primitives, steady
from xpops.testing import generator

devices = st.sampled_from(DEVICES)
DTYPES = [dt.float16, dt.bfloat16, dt.float32, dt.float64, dt.int8, dt.uint8, dt.int32, dt.uint32, dt.int64]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def check(x: Any, device: Any, *options: Any) -> None:
    with np.errstate(all="ignore"):
        wanted = np.histogram(x, *options)
    given = [xp.asarray(each, device=device) if isinstance(each, np.ndarray) else each for each in (x, *options)]
    for got, expected in zip(xp.nn.histogram(*given), wanted, strict=True):
        assert_same(got, expected)


def ordinary(dtype: Any, *shape: int) -> Any:
    random = generator("histogram", str(dtype))
    if dtype.kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    return random.normal(size=shape).astype(dtype)


@every_dtype
@pytest.mark.parametrize("ends", [None, (0.1, 0.7), (-1, 3), (2.0, 2.0), (1000.0, 2000.0)], ids=str)
@pytest.mark.parametrize("count", [1, 10, 100])
def test_equal_bins(dtype: Any, ends: Any, count: int, device: Any) -> None:
    if count == 100 and dtype in (dt.float16, dt.bfloat16):  # NumPy also raises for equal edges
        count = 5
    if dtype == dt.bfloat16 and ends in ((2.0, 2.0), (1000.0, 2000.0)):
        count = min(count, 3)
    x = ordinary(dtype, 1003, 9)
    check(x, device, count, ends)
    check(x[::-2, ::3], device, count, ends)


@given(st.data(), st.floats(-1e3, 1e3, width=32), st.floats(2**-10, 1e3, width=32), st.integers(1, 300), devices)
def test_numbers_near_edges(data: Any, first: float, width: float, count: int, device: Any) -> None:
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    try:
        edges = np.histogram_bin_edges(np.zeros(0, dtype), count, (first, first + width))
    except ValueError:
        assume(False)
    near = [np.nextafter(edges, edges.dtype.type(to)) for to in (-np.inf, np.inf)]
    drawn = data.draw(hnp.arrays(dtype, 20, elements=st.floats(width=8 * np.dtype(dtype).itemsize)))
    check(np.concatenate([edges, *near, drawn]), device, count, (first, first + width))


@every_dtype
def test_given_edges(dtype: Any, device: Any) -> None:
    x = ordinary(dtype, 50, 60)
    check(x, device, np.sort(np.array([-2, 0, 0, 0.5, 1, 7, 7.5, 99]).astype(dtype)))
    counts, found = xp.nn.histogram(xp.asarray(x, device=device), [0, 1, 1, 30])
    wanted = np.histogram(x.astype(np.float64), [0, 1, 1, 30])
    assert_same(counts, wanted[0])
    assert found.tolist() == [0, 1, 1, 30]


def test_given_edges_and_what_is_outside(device: Any) -> None:
    x = np.array([np.nan, -np.inf, np.inf, 0.0, -0.0, 1, 2, 3, 2.5], np.float32)
    for edges in ([0.0, 1, 2], [1.0, 2, 3], [5.0, 6], [0.0], [-np.inf, 0, np.inf]):
        check(x, device, np.array(edges, np.float32))


@pytest.mark.parametrize("count", [1, 256, 300, 8192, 8193, 100_000])
def test_counts_of_bins(count: int, device: Any) -> None:
    x = generator("bins", count).uniform(-0.1, 1.1, 300_001).astype(np.float32)
    check(x, device, count, (0.0, 1.0))
    check(x[1:], device, count, (0.0, 1.0))


@pytest.mark.parametrize("dtype", [dt.float32, dt.uint8], ids=str)
@pytest.mark.parametrize("count", [1, 256, 10_000])
def test_one_value(dtype: Any, count: int, device: Any) -> None:
    x = np.full(2**20 + 5, 3, dtype)
    check(x, device, count, (0, 9))
    check(x, device, count)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32], ids=str)
def test_one_value_alone(dtype: Any, device: Any) -> None:
    check(np.full(9, 3, dtype), device, 3)


def test_ends_given_and_found(device: Any) -> None:
    """NumPy divides by a float32 number in one case, and by a float64 number in the other."""
    x = np.linspace(0.1, 0.7, 5001, dtype=np.float32)
    check(x, device, 77)
    check(x, device, 77, (float(x[0]), float(x[-1])))
    check(x, device, 77, (x[0].item(), np.float64(x[-1]).item()))
    check(x, device, 77)


def test_empty(device: Any) -> None:
    check(np.zeros((0, 3), np.float32), device, 4)
    check(np.zeros(0, np.int32), device, 4, (2, 5))
    check(np.zeros(0, np.float32), device, np.array([1.0, 2, 3], np.float32))


def test_no_axes(device: Any) -> None:
    check(np.array(2.5), device, 2, (0.0, 3.0))


def test_large_integers(device: Any) -> None:
    info = np.iinfo(np.int64)
    check(np.array([info.min, -1, 0, 5, info.max]), device, 3)
    check(np.array([0, 2**63, 2**64 - 1], np.uint64), device, 4)


X = np.arange(6.0)
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda h: h(X > 2), TypeError, "histogram: dtype bool is not accepted; accepted: real-valued dtypes"),
    (lambda h: h(X + 0j, 3, (0, 1)), TypeError, "histogram: dtype complex128 is not accepted"),
    (lambda h: h(X, 0), ValueError, "histogram: bins is 0; accepted: 1 and more"),
    (lambda h: h(X, 2.5), TypeError, "histogram: bins"),
    (lambda h: h(X, 3, (1, 0)), ValueError, "histogram: range is from 1 to 0; accepted: finite, and in ascending"),
    (lambda h: h(X, 3, (0, np.inf)), ValueError, "histogram: range is from 0 to inf; accepted: finite"),
    (lambda h: h(X, 3, (0, np.nan)), ValueError, "histogram: range is from 0 to nan; accepted: finite"),
    (lambda h: h(X, 3, 5), TypeError, "histogram: range is 5; accepted: two numbers"),
    (lambda h: h(X, 3, (0, "a")), TypeError, r"histogram: range is \(0, 'a'\); accepted: two numbers"),
    (lambda h: h(X, 3, (0, 1, 2)), TypeError, r"histogram: range is \(0, 1, 2\); accepted: two numbers"),
    (lambda h: h(np.array([1, np.nan])), ValueError, "histogram: x holds numbers from nan to nan; accepted: finite"),
    (lambda h: h(np.array([1, np.inf])), ValueError, "histogram: x holds numbers from 1.0 to inf; accepted: finite"),
    (lambda h: h(X.astype(np.float16), 9999, (1, 2)), ValueError, "bins is 9999; accepted: as many as float16 tells"),
    (lambda h: h(X, X[:, None]), ValueError, r"histogram: bins has shape \(6, 1\); accepted: an integer, or one axis"),
    (lambda h: h(X, X[:0]), ValueError, r"histogram: bins has shape \(0,\); accepted: an integer, or one axis"),
    (lambda h: h(X, X[::-1]), ValueError, "histogram: bins are not in ascending order"),
    (lambda h: h(X, X > 1), TypeError, "histogram: dtype bool is not accepted"),
    (lambda h: h([1.0, 2.0], 3), TypeError, "histogram"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[2][:40])
def test_refusals(case: Any) -> None:
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call(xp.nn.histogram)


def test_data_leave_no_plans_behind(device: Any) -> None:
    before = len(primitives._programs), len(steady.launches)
    for _ in range(20):
        xp.nn.histogram(xp.asarray(generator("plans").normal(size=50), device=device), 7)
    assert len(primitives._programs) <= before[0] + 4
    assert len(steady.launches) <= before[1] + 4


def test_ends_that_the_dtype_cannot_hold(device: Any) -> None:
    x = xp.arange(3, dtype=xp.float32, device=device)
    for ends in ((-1e39, 1e39), (0, 1e39), (0, 10**400)):
        with pytest.raises(ValueError, match=r"histogram: range is from .*; accepted: "):
            xp.nn.histogram(x, 1, ends)
    with pytest.raises(TypeError, match="histogram: range is"):
        xp.nn.histogram(x, 1, (False, True))
    assert xp.nn.histogram(xp.arange(10.0, device=device), xp.asarray([3], device=device))[0].shape == (0,)
