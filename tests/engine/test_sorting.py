"""Sorting, selecting and binary search, on every device.

On the CPU NumPy sorts, or the compiled core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch.sorting import searchsorted
from xpops.engine.cpu.engine import CpuEngine
from xpops.testing.strategies import numpy_arrays, views

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
DTYPES = (dt.bool, *dt.INTEGERS, *dt.REAL_FLOATS)
# Lengths at the limits of a thread, a warp, a block and a tile of a radix pass.
LENGTHS = (
    1,
    2,
    3,
    31,
    32,
    33,
    63,
    64,
    65,
    255,
    256,
    257,
    511,
    512,
    513,
    1023,
    1024,
    1025,
    2048,
    2049,
    4095,
    4096,
    4097,
)
LONG = (4223, 4224, 4225, 7295, 7296, 7297, 9216, 9217, 14593, 100_003)


def order(host: NDArray, axis: int, descending: bool) -> NDArray:
    """The stable order of values, with -0.0 before 0.0 and NaN last, by comparing in the widest dtype."""
    wide = host.astype(
        np.longdouble if host.dtype in dt.REAL_FLOATS else np.int64 if host.dtype != dt.uint64 else dt.uint64
    )
    zero = np.where(wide == 0, np.where(np.signbit(wide), -1, 1), 0) if host.dtype in dt.REAL_FLOATS else wide * 0
    _, ranks = np.unique(wide[wide == wide], return_inverse=True)
    keys = np.full(host.shape, 0, np.int64)
    keys[wide == wide] = 4 * ranks.reshape(-1)
    keys += zero.astype(np.int64)
    keys = -keys if descending else keys
    keys[wide != wide] = np.iinfo(np.int64).max
    return np.argsort(keys, axis=axis, kind="stable")


def some(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> NDArray:
    """Many ties, and every special value."""
    generator = np.random.default_rng(seed)
    if dtype == dt.bool:
        return generator.random(shape) < 0.5
    if dtype in dt.INTEGERS:
        info = np.iinfo(dtype)
        few = generator.integers(max(info.min, -500), min(info.max, 500), shape, endpoint=True)
        return np.where(
            generator.random(shape) < 0.9,
            few.astype(dtype),
            generator.choice(np.array([info.min, info.max], dtype), shape),
        ).astype(dtype)
    special = generator.choice([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-7], shape)
    return np.where(generator.random(shape) < 0.1, special, generator.normal(size=shape)).astype(dtype)


def check(host: NDArray, device: Any, axis: int = -1, descending: bool = False) -> None:
    x = xp.asarray(host, device=device, copy=True)
    expected = order(host, axis, descending)
    assert_same(xp.argsort(x, axis=axis, descending=descending), expected)
    assert_same(xp.sort(x, axis=axis, descending=descending), np.take_along_axis(host, expected, axis))
    assert_same(x, host)


@given(st.data(), devices, st.sampled_from(DTYPES), st.booleans())
def test_any_view_and_axis(data: st.DataObject, device: Any, dtype: Any, descending: bool) -> None:
    host = data.draw(numpy_arrays(dtype))
    key, axes = data.draw(views(host.shape))
    seen = host[key].transpose(axes)
    if seen.ndim == 0:
        return
    axis = data.draw(st.integers(-seen.ndim, seen.ndim - 1))
    x = xp.permute_dims(xp.asarray(host, device=device, copy=True)[key], axes)
    expected = order(seen, axis, descending)
    assert_same(xp.argsort(x, axis=axis, descending=descending), expected)
    assert_same(xp.sort(x, axis=axis, descending=descending), np.take_along_axis(seen, expected, axis))
    count = data.draw(st.integers(0, seen.shape[axis]))
    values, indices = xp.nn.topk(x, count, axis=axis, largest=descending)
    kept = np.take(expected, range(count), axis)
    assert_same(indices, kept)
    assert_same(values, np.take_along_axis(seen, kept, axis))


@pytest.mark.parametrize("length", LENGTHS)
def test_rows(device: Any, length: int) -> None:
    for dtype in (dt.float32, dt.int64, dt.bfloat16):
        check(some(dtype, (5, length)), device, descending=length % 2 == 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(device: Any, dtype: Any) -> None:
    for shape in ((70, 100), (3, 5000)):
        check(some(dtype, shape), device)
        check(some(dtype, shape), device, descending=True)


@pytest.mark.parametrize("length", LONG)
def test_long_rows(device: Any, length: int) -> None:
    for dtype in (dt.float32, dt.int64):
        check(some(dtype, (length,)), device)
        check(some(dtype, (3, length)), device, descending=True)


@pytest.mark.parametrize("length", [600, 20_000])
def test_columns(device: Any, length: int) -> None:
    check(some(dt.float32, (length, 40)), device, axis=0)


def test_digits_in_common(device: Any) -> None:
    """Passes that only some rows need, and rows that need none."""
    low = some(dt.uint8, (5000,)).astype(np.int64)
    check(np.stack([low, low << 24, np.full(5000, 7), low << 56, low << 8 | low << 40]), device)


def test_many_rows(device: Any) -> None:
    check(some(dt.float32, (100_003, 3)), device)
    check(some(dt.int16, (3001, 33)), device)


@pytest.mark.parametrize("shape", [(70, 20), (300, 257), (5, 4097), (3, 8193), (2, 70_001), (1, 1_000_003)], ids=str)
@pytest.mark.parametrize("count", [1, 7, 100, 1000, 4096, 4097])
def test_first_elements(device: Any, shape: tuple[int, int], count: int) -> None:
    count = min(count, shape[1])
    for dtype in (dt.float32, dt.uint8, dt.int64):
        host = some(dtype, shape)
        for largest in (True, False):
            values, indices = xp.nn.topk(xp.asarray(host, device=device), count, largest=largest)
            kept = order(host, 1, largest)[:, :count]
            assert_same(indices, kept)
            assert_same(values, np.take_along_axis(host, kept, 1))


@pytest.mark.parametrize("step", [1, -1, 0, 4099])
def test_first_elements_of_arranged_rows(device: Any, step: int) -> None:
    """Ascending, descending, constant and periodic rows."""
    host = np.arange(3_000_001, dtype=np.int64) * step % (100_003 if step > 1 else 2**40)
    values, indices = xp.nn.topk(xp.asarray(host, device=device), 50)
    expected = np.argsort(-host, kind="stable")[:50]
    assert_same(indices, expected)
    assert_same(values, host[expected])


def test_the_same_twice(device: Any) -> None:
    x = xp.asarray(some(dt.float32, (1_000_003,)), device=device)
    assert_same(xp.argsort(x), xp.argsort(x).to_numpy())


def test_frameworks_keep_their_arrays() -> None:
    assert isinstance(xp.sort(np.asarray([2, 1])), np.ndarray)
    values, indices = xp.nn.topk(np.asarray([2.0, 1.0]), 1)
    assert isinstance(values, np.ndarray)
    assert indices.dtype == np.int64


def test_refusals(device: Any) -> None:
    x = xp.zeros((2, 3), device=device)
    with pytest.raises(TypeError, match=r"sort: dtype complex64 is not accepted; accepted: real-valued"):
        xp.sort(xp.zeros(3, dtype=xp.complex64, device=device))
    with pytest.raises(IndexError, match=r"argsort: axis is 2"):
        xp.argsort(x, axis=2)
    with pytest.raises(IndexError, match=r"sort: axis is -1"):
        xp.sort(xp.zeros((), device=device))
    with pytest.raises(ValueError, match=r"topk: k is 4; accepted: 0 to 3"):
        xp.nn.topk(x, 4)
    with pytest.raises(TypeError, match=r"topk: k is 1.5"):
        xp.nn.topk(x, 1.5)


@settings(max_examples=50)
@given(st.data(), devices, st.sampled_from(DTYPES[1:]), st.sampled_from(DTYPES[1:]), st.sampled_from(["left", "right"]))
def test_searchsorted(data: st.DataObject, device: Any, first: Any, second: Any, side: str) -> None:
    host, wanted = data.draw(numpy_arrays(first)).reshape(-1), data.draw(numpy_arrays(second))
    x1, x2 = xp.asarray(host, device=device), xp.asarray(wanted, device=device)
    common = xp.result_type(x1, x2)
    ordered = xp.sort(x1)
    with np.errstate(all="ignore"):
        wide = np.float64 if common in dt.REAL_FLOATS else common
        places = np.searchsorted(
            ordered.to_numpy().astype(common).astype(wide), wanted.astype(common).astype(wide), side
        )
    assert_same(xp.searchsorted(ordered, x2, side=side), places)
    assert_same(xp.searchsorted(x1, x2, side=side, sorter=xp.argsort(x1)), places)


@pytest.mark.parametrize("searches", [20_011, 1_000_003])
@pytest.mark.parametrize("length", [0, 1, 4096, 4097, 4103, 4104, 32_775, 32_776, 300_001])
def test_many_searches(device: Any, length: int, searches: int) -> None:
    """Lengths at the limits of the levels of a tree."""
    host, wanted = np.sort(some(dt.float32, (length,))), some(dt.float32, (searches,), 1)
    x1, x2 = xp.asarray(host, device=device), xp.asarray(wanted, device=device)
    assert_same(xp.searchsorted(x1, x2, side="right"), np.searchsorted(host, wanted, "right"))
    assert_same(xp.searchsorted(x1, x2), np.searchsorted(host, wanted))


@pytest.mark.parametrize("shape", [(40, 1), (1, 40), (1, 40, 1), (1,), (40, 0), (1, 0)])
def test_searches_of_repeated_elements(device: Any, shape: tuple[int, ...]) -> None:
    host, wanted = np.sort(some(dt.float64, (5003,))), some(dt.float64, shape, 1)
    x1, x2 = xp.asarray(host, device=device), xp.asarray(wanted, device=device)
    target = tuple(7 if length == 1 else length for length in shape)
    repeated, places = xp.broadcast_to(x2, target), np.searchsorted(host, np.broadcast_to(wanted, target), "right")
    for _ in range(2):
        assert_same(xp.searchsorted(x1, repeated, side="right"), places)
        assert_same(xp.searchsorted(x1, x2, side="right"), np.searchsorted(host, wanted, "right"))
        assert_same(xp.searchsorted(x1, repeated, side="right", sorter=xp.argsort(x1)), places)


def test_repeated_elements_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, original = [], CpuEngine.searchsorted

    def search(x1: Any, x2: Any, *given: Any) -> Any:
        searched.append(x2.shape)
        return original(x1, x2, *given)

    monkeypatch.setattr(CpuEngine, "searchsorted", staticmethod(search))
    x1, x2 = layout_of(dt.float32, (9,), None, Device("cpu")), layout_of(dt.float32, (3, 5), (1, 0), Device("cpu"))
    searchsorted(CpuEngine(), (x1, x2), False)
    assert searched == [(3, 1)]


def test_many_searches_by_a_sorter(device: Any) -> None:
    host, wanted = some(dt.int64, (100_003,)), some(dt.int64, (50_000,), 1)
    x1, x2 = xp.asarray(host, device=device), xp.asarray(wanted, device=device)
    assert_same(xp.searchsorted(x1, x2, sorter=xp.argsort(x1)), np.searchsorted(np.sort(host), wanted))


def test_searching_scalars(device: Any) -> None:
    x = xp.asarray([1, 3, 3, 250], dtype=xp.uint8, device=device)
    assert_same(xp.searchsorted(x, 3, side="right"), np.asarray(3))
    assert_same(xp.searchsorted(x, 300), np.asarray(4))
    assert_same(xp.searchsorted(x, 2.5), np.asarray(1))
    with pytest.raises(OverflowError, match=r"searchsorted: x2 is -1"):
        xp.searchsorted(xp.astype(x, xp.uint64), -1)


def test_searchsorted_refusals(device: Any) -> None:
    x = xp.zeros(3, device=device)
    with pytest.raises(ValueError, match=r"searchsorted: side is 'middle'"):
        xp.searchsorted(x, x, side="middle")
    with pytest.raises(ValueError, match=r"searchsorted: x1 has shape \(1, 3\)"):
        xp.searchsorted(x[None], x)
    with pytest.raises(TypeError, match=r"searchsorted: x2 has dtype bool"):
        xp.searchsorted(x, x == 0)
    with pytest.raises(TypeError, match=r"searchsorted: sorter has dtype float64"):
        xp.searchsorted(x, x, sorter=x)
    with pytest.raises(ValueError, match=r"searchsorted: sorter has shape \(2,\); accepted: \(3,\)"):
        xp.searchsorted(x, x, sorter=xp.zeros(2, dtype=xp.int64, device=device))


def test_a_sorter_out_of_range(device: Any) -> None:
    x, sorter = xp.arange(3.0, device=device), xp.asarray([-9, 1, 9], device=device)
    if device.type == "cpu":
        with pytest.raises(IndexError, match=r"searchsorted: sorter is out of range"):
            xp.searchsorted(x, x, sorter=sorter)
    else:
        assert_same(xp.searchsorted(x, x, sorter=sorter), np.arange(3))


def test_more_than_2_to_the_31_elements(cuda: Any) -> None:
    size = 2**31 + 5
    x = xp.astype(xp.arange(size, dtype=xp.int64, device=cuda) * 37 % 251, xp.uint8)
    ordered = xp.sort(x)
    steps = xp.astype(ordered[1:] != ordered[:-1], xp.uint8)
    assert int(xp.searchsorted(ordered, 250, side="left")) == size - int((x == 250).sum())
    assert int(steps.sum()) == 250
    assert bool((ordered[1:] >= ordered[:-1]).all())
