"""Sets, joining, differences and taking, on every device.

On the CPU NumPy sorts, or the compiled core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.testing import generator
from xpops.testing.strategies import numpy_arrays, shapes, views

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
ARITHMETIC = sorted(dt.CATEGORIES["arithmetic"], key=str)
dtypes = st.sampled_from(ARITHMETIC)
# All values of these are exact in float64.
HALVES = (dt.float16, dt.bfloat16)


def view(data: st.DataObject, device: Any, dtype: Any) -> tuple[Any, Any]:
    """The same view as an Array and as an ndarray."""
    host = data.draw(numpy_arrays(dtype))
    key, order = data.draw(views(host.shape))
    return xp.permute_dims(xp.asarray(host, device=device)[key], order), host[key].transpose(order)


def assert_unique(x: Any, host: NDArray) -> None:
    """Check all results of `unique_all` by plain comparisons."""
    flat = (host.astype(np.float32) if host.dtype in HALVES else host).reshape(-1)
    expected = np.unique(flat, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    got = xp.unique_all(x)
    assert got._fields == ("values", "indices", "inverse_indices", "counts")
    values = got.values.to_numpy()
    assert (values.dtype, got.inverse_indices.shape) == (host.dtype, host.shape)
    np.testing.assert_array_equal(values.astype(flat.dtype), expected[0])
    if host.dtype not in dt.COMPLEX_FLOATS or not np.isnan(flat).any():
        assert_same(got.indices, expected[1].astype(np.int64))
        assert_same(got.inverse_indices, expected[2].reshape(host.shape).astype(np.int64))
    assert_same(got.counts, expected[3].astype(np.int64))
    assert_same(xp.unique_counts(x).counts, expected[3].astype(np.int64))
    assert np.array_equal(xp.unique_inverse(x).inverse_indices.to_numpy(), got.inverse_indices.to_numpy())
    np.testing.assert_array_equal(xp.unique_values(x).to_numpy().astype(flat.dtype), expected[0])
    np.testing.assert_array_equal(flat[got.indices.to_numpy()], expected[0])
    np.testing.assert_array_equal(values.astype(flat.dtype)[got.inverse_indices.to_numpy()], flat.reshape(host.shape))


@given(st.data(), dtypes, devices)
def test_unique(data: st.DataObject, dtype: Any, device: Any) -> None:
    assert_unique(*view(data, device, dtype))


@pytest.mark.parametrize("dtype", ARITHMETIC, ids=str)
@pytest.mark.parametrize("size", [1025, 4097, 2**17 + 1])
def test_unique_of_many(size: int, dtype: Any, device: Any) -> None:
    host = generator("unique", size).integers(0, 100, size).astype(dtype)
    if dtype in dt.COMPLEX_FLOATS:
        host += 1j * generator("imag").integers(0, 3, size).astype(dtype)
    assert_unique(xp.asarray(host, device=device), host)


@pytest.mark.parametrize("dtype", [dt.bool, dt.int8, dt.uint8, dt.int16, dt.uint16, *HALVES], ids=str)
def test_unique_of_many_narrow_elements(dtype: Any, device: Any) -> None:
    """So many that they are counted instead of sorted."""
    host = generator("narrow", dtype).integers(-40_000, 40_000, 2**22 + 3).astype(dtype)
    assert_unique(xp.asarray(host, device=device), host)
    assert_unique(xp.asarray(host, device=device)[1::2], host[1::2])


@given(st.data(), dtypes, dtypes, st.booleans(), devices)
def test_isin(data: st.DataObject, first: Any, second: Any, invert: bool, device: Any) -> None:
    try:
        common = xp.result_type(first, second)
    except TypeError:
        return
    x, host = view(data, device, first)
    y, other = view(data, device, second)
    wide = dt.float32 if common in HALVES else common
    with np.errstate(all="ignore"):
        one, two = (each.astype(common).astype(wide) for each in (host, other))
    expected = (one[..., None] == two.reshape(-1)).any(-1) != invert
    assert_same(xp.isin(x, y, invert=invert), expected)


def test_isin_of_scalars(device: Any) -> None:
    x = xp.asarray([1, 2, 3], device=device)
    assert xp.isin(x, 2).tolist() == [False, True, False]
    assert xp.isin(x, 2, invert=True).tolist() == [True, False, True]
    assert xp.isin(2, x).item() is True
    assert xp.isin(4, x, invert=True).item() is True
    assert xp.isin(x, xp.zeros(0, device=device)).tolist() == [False] * 3


@given(st.data(), dtypes, dtypes, devices)
def test_concat(data: st.DataObject, first: Any, second: Any, device: Any) -> None:
    x, host = view(data, device, first)
    assert_same(xp.concat([x], axis=None), host.reshape(-1))
    try:
        common = xp.result_type(first, second)
    except TypeError:
        with pytest.raises(TypeError, match="concat"):
            xp.concat([x, xp.asarray(np.zeros(host.shape, second), device=device)])
        return
    y, _ = view(data, device, second)
    flat = [xp.astype(each, common).to_numpy().reshape(-1) for each in (x, y)]
    assert_same(xp.concat((x, y), axis=None), np.concatenate(flat))
    if host.ndim:
        axis = data.draw(st.integers(-host.ndim, host.ndim - 1))
        shape = list(host.shape)
        shape[axis] = data.draw(st.integers(0, 4))
        part = data.draw(numpy_arrays(first, st.just(tuple(shape))))
        got = xp.concat([x, xp.asarray(part, device=device), x], axis=axis)
        assert_same(got, np.concatenate([host, part, host], axis=axis))


@given(st.data(), st.sampled_from([*dt.INTEGERS, dt.bool, dt.float32, dt.float64, dt.complex128]), devices)
def test_diff(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = view(data, device, dtype)
    if host.ndim == 0:
        with pytest.raises(IndexError, match="diff: axis"):
            xp.diff(x)
        return
    axis, n = data.draw(st.integers(-host.ndim, host.ndim - 1)), data.draw(st.integers(1, 4))
    shape = list(host.shape)
    shape[axis] = data.draw(st.integers(0, 3))
    more: dict[str, NDArray] = {
        name: data.draw(numpy_arrays(dtype, st.just(tuple(shape))))
        for name in ("prepend", "append")
        if data.draw(st.booleans())
    }
    with np.errstate(all="ignore"):
        expected = np.diff(host, n, axis, **more)
    given_more = {name: xp.asarray(part, device=device) for name, part in more.items()}
    assert_same(xp.diff(x, axis=axis, n=n, **given_more), expected)
    assert_same(xp.diff(x, axis=axis, n=0), host)


@given(st.data(), st.sampled_from(list(dt.INFO)), st.sampled_from(dt.INTEGERS), devices)
def test_take(data: st.DataObject, dtype: Any, index: Any, device: Any) -> None:
    x, host = view(data, device, dtype)
    if host.ndim == 0 or host.size == 0:
        return
    axis = data.draw(st.integers(-host.ndim, host.ndim - 1))
    length = host.shape[axis]
    lowest = 0 if index in dt.UNSIGNED_INTEGERS else -length
    places = st.integers(lowest, length - 1)

    def indices(shape: tuple[int, ...]) -> NDArray:
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(places, min_size=size, max_size=size)), index).reshape(shape)

    which = indices(data.draw(shapes()))
    got = xp.take(x, xp.asarray(which, device=device), axis=axis)
    assert_same(got, np.take(host, which.astype(np.int64), axis=axis))
    shape = [1 if data.draw(st.booleans()) else n for n in host.shape]
    shape[axis] = data.draw(st.integers(0, 4))
    which = indices(tuple(shape))
    got = xp.take_along_axis(x, xp.asarray(which, device=device), axis=axis)
    assert_same(got, np.take_along_axis(host, which.astype(np.int64), axis=axis))


@pytest.mark.parametrize("shape", [(2**20 + 1,), (1001, 64), (33, 1025, 3)], ids=str)
@pytest.mark.parametrize("dtype", [dt.uint8, dt.float32, dt.complex128], ids=str)
def test_take_of_many(shape: tuple[int, ...], dtype: Any, device: Any) -> None:
    host = generator("take").integers(0, 200, shape).astype(dtype)
    x = xp.asarray(host, device=device)
    for axis, length in enumerate(shape):
        which = generator("which").integers(-length, length, 259)
        assert_same(xp.take(x, xp.asarray(which, device=device), axis=axis), np.take(host, which, axis=axis))


def test_indices_out_of_range(device: Any) -> None:
    x, indices = xp.asarray([1, 2, 3], device=device), xp.asarray([0, 7, -9], device=device)
    if device == "cpu":
        with pytest.raises(IndexError, match="take: indices holds 7; accepted: -3 to 2"):
            xp.take(x, indices)
    else:
        found = xp.take(x, indices)
        with pytest.raises(IndexError, match=r"take: indices holds (7|-9); accepted: -3 to 2"):
            found.tolist()
        assert found.tolist() == [1, 3, 1]


def test_results_are_of_the_framework_of_the_operands() -> None:
    x = np.array([3, 1, 3])
    for result in (*xp.unique_all(x), xp.isin(x, x), xp.concat([x, x]), xp.diff(x), xp.take(x, x - 1)):
        assert type(result) is np.ndarray


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.unique_values(3), TypeError, "unique_values"),
        (lambda x: xp.unique_all(xp.astype(x, xp.float8_e5m2)), TypeError, "unique_all: dtype float8_e5m2"),
        (lambda x: xp.isin(1, 2), TypeError, "scalar"),
        (lambda x: xp.concat(x), TypeError, "concat: arrays is an xpops.Array"),
        (lambda x: xp.concat([]), ValueError, "concat: arrays is empty"),
        (lambda x: xp.concat([x, 1]), TypeError, r"concat: arrays\[1\] is a Python int"),
        (lambda x: xp.concat([x, xp.zeros((2, 4))]), ValueError, r"concat: arrays\[1\] has shape \(2, 4\)"),
        (lambda x: xp.concat([x, x], axis=2), IndexError, "concat: axis is 2"),
        (lambda x: xp.diff(x, n=-1), ValueError, "diff: n is -1"),
        (lambda x: xp.diff(x, n=0.5), TypeError, "diff: n is 0.5"),
        (lambda x: xp.diff(x, append=xp.zeros((3, 1))), ValueError, "diff: append has shape"),
        (lambda x: xp.take(x, xp.asarray([0])), ValueError, "take: axis is None, and x has 2 axes"),
        (lambda x: xp.take(x, xp.asarray([0.5]), axis=0), TypeError, "take: indices has dtype float64"),
        (lambda x: xp.take(x, 1.5, axis=0), TypeError, "take: indices is a Python float"),
        (lambda x: xp.take(x[:0], xp.asarray([0]), axis=0), IndexError, "take: axis 0 is empty"),
        (lambda x: xp.take_along_axis(x, xp.asarray([0])), ValueError, "take_along_axis: indices has 1 axes"),
        (lambda x: xp.take_along_axis(x, xp.asarray([[0]] * 4)), ValueError, "take_along_axis: shapes"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str, device: Any) -> None:
    xp.set_default_device(device)
    try:
        with pytest.raises(error, match=message):
            call(xp.zeros((2, 3)))
    finally:
        xp.set_default_device(None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.isin(x, [1]), TypeError, "isin: x2 is a list; accepted: an array"),
        (lambda x: xp.isin(1, 2), TypeError, "isin: x1 and x2 are scalars"),
        (lambda x: xp.isin(x, 300), OverflowError, "isin: x2 is 300, which uint8 cannot hold; accepted: 0 to 255"),
        (lambda x: xp.isin(np.int64(-1), x), OverflowError, "isin: x1 is -1, which uint8 cannot hold"),
        (
            lambda x: xp.isin(xp.astype(x, xp.float8_e5m2), x),
            TypeError,
            "isin: uint8 and float8_e5m2|isin: float8_e5m2",
        ),
        (lambda x: xp.isin(xp.astype(x, xp.float8_e5m2), 1), TypeError, "isin: float8_e5m2 is for storage"),
    ],
)
def test_isin_is_what_errors_name(call: Any, error: type[Exception], message: str, device: Any) -> None:
    with pytest.raises(error, match=message):
        call(xp.asarray([1, 2], dtype=xp.uint8, device=device))
