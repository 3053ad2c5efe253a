"""Scans against plain NumPy, on every device.

On the CPU NumPy accumulates, or the compiled core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import eps
from xpops.core import dtypes as dt
from xpops.ops.scan import SCANS, scan_dtype
from xpops.testing.strategies import numpy_arrays

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
ARITHMETIC = sorted(dt.CATEGORIES["arithmetic"], key=str)
INTEGRAL = sorted(dt.CATEGORIES["integer or boolean"], key=str)
FLOATING = sorted(dt.CATEGORIES["floating-point"], key=str)
REAL = sorted(dt.CATEGORIES["real floating-point"], key=str)


def wide(x: Any) -> NDArray:
    """The same values, in a dtype in which NumPy's results are accurate."""
    return x if x.dtype.kind in "biu" else x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


@st.composite
def calls(draw: st.DrawFn, dtypes: Any) -> tuple[NDArray, int]:
    """An array of any strides, and an axis."""
    host = draw(numpy_arrays(draw(st.sampled_from(dtypes))).filter(lambda x: x.ndim > 0))
    if draw(st.booleans()):
        host = host.T
    if draw(st.booleans()):
        host = host[..., ::-1]
    if draw(st.booleans()):
        host = host[::2]
    return host, draw(st.integers(-host.ndim, host.ndim - 1))


def summed(x: NDArray, axis: int, initial: bool) -> NDArray:
    with np.errstate(all="ignore"):
        return np.cumulative_sum(x, axis=axis, include_initial=initial, dtype=x.dtype)


def discounted(x: NDArray, gamma: float, axis: int) -> NDArray:
    result = np.moveaxis(x.astype(np.float64), axis, 0)
    with np.errstate(all="ignore"):
        for i in reversed(range(len(result) - 1)):
            result[i] += gamma * result[i + 1]
    return np.moveaxis(result, 0, axis)


def assert_near(got: NDArray, wanted: NDArray, scale: NDArray, tolerance: float) -> None:
    """Assert that finite numbers are near, relative to the terms that were added, and that the others are equal."""
    narrow = got.dtype
    with np.errstate(all="ignore"):
        rounded, got = wide(wanted.astype(narrow)), wide(got)
        near = np.abs(got - wanted) <= tolerance * scale
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        at_the_end = ~np.isfinite(got) & (np.abs(wanted) >= 0.99 * float(dt_max(narrow)))
    assert np.all(near | same | at_the_end), (got, wanted)


def dt_max(dtype: Any) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(dtype).max


@given(calls(INTEGRAL), st.sampled_from(["cumulative_sum", "cumulative_prod"]), st.booleans(), devices)
def test_integers_wrap(call: Any, name: str, initial: bool, device: Any) -> None:
    host, axis = call
    result = scan_dtype(SCANS[name], host.dtype)
    got = getattr(xp, name)(xp.asarray(host, device=device), axis=axis, include_initial=initial)
    wanted = getattr(np, name)(host.astype(result), axis=axis, include_initial=initial, dtype=result)
    assert (got.dtype, got.shape) == (result, wanted.shape)
    np.testing.assert_array_equal(got.to_numpy(), wanted)


@given(calls(FLOATING), st.booleans(), devices)
def test_sums(call: Any, initial: bool, device: Any) -> None:
    host, axis = call
    got = xp.cumulative_sum(xp.asarray(host, device=device), axis=axis, include_initial=initial)
    wanted = summed(wide(host), axis, initial)
    assert (got.dtype, got.shape) == (host.dtype, wanted.shape)
    size = np.where(np.isfinite(wide(host)), np.abs(wide(host)), 0)
    assert_near(got.to_numpy(), wanted, summed(size, axis, initial), 4 * eps(host.dtype))


@given(calls(REAL), st.sampled_from([0.0, 0.5, 0.99, 1.0, -1.0, 1]), devices)
def test_discounted_sums(call: Any, gamma: float, device: Any) -> None:
    host, axis = call
    got = xp.nn.discounted_cumsum(xp.asarray(host, device=device), gamma, axis=axis)
    wanted = discounted(wide(host), gamma, axis)
    assert (got.dtype, got.shape) == (host.dtype, wanted.shape)
    size = np.where(np.isfinite(wide(host)), np.abs(wide(host)), 0)
    assert_near(got.to_numpy(), wanted, discounted(size, abs(gamma), axis), 8 * eps(host.dtype))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_products(dtype: Any, device: Any) -> None:
    units = [1, -1, 1j, -1j] if dtype in dt.COMPLEX_FLOATS else [1, -1, 2, 0.5]
    random = np.random.default_rng(5)
    host = np.array(units)[random.integers(0, 4, (70, 90))].astype(dtype)
    for axis in (0, 1):
        got = xp.cumulative_prod(xp.asarray(host, device=device), axis=axis)
        with np.errstate(over="ignore"):
            wanted = np.cumprod(wide(host), axis).astype(dtype)
        np.testing.assert_array_equal(wide(got.to_numpy()), wide(wanted))


LENGTHS = sorted({1, 2, 3, 5, 1000, *(2**k + d for k in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13) for d in (-1, 0, 1))})


def walk(*shape: int) -> NDArray:
    """Small steps up and down, whose sums are exact in float32."""
    return np.random.default_rng(sum(shape)).integers(-2, 3, shape).astype(np.int8)


def check_sum(host: NDArray, x: Any, axis: int) -> None:
    got = xp.cumulative_sum(x, axis=axis).to_numpy()
    wanted = np.cumsum(host.astype(np.int64), axis)
    np.testing.assert_array_equal(got, wanted.astype(got.dtype))


@pytest.mark.parametrize("dtype", [xp.int8, xp.float16, xp.float32, xp.int64, xp.complex128], ids=str)
@pytest.mark.parametrize("start", [0, 1])
def test_rows_of_every_length(dtype: Any, start: int, device: Any) -> None:
    for length in LENGTHS:
        for rows in (1, 3, 70):
            host = walk(rows, length + start)
            check_sum(host[:, start:], xp.asarray(host.astype(dtype), device=device)[:, start:], 1)


@pytest.mark.parametrize("dtype", [xp.int8, xp.float16, xp.float32, xp.float64], ids=str)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 31, 33, 64, 129, 260])
def test_columns_of_every_width(dtype: Any, width: int, device: Any) -> None:
    for length in (1, 2, 3, 8, 9, 31, 63, 64, 65, 129, 1025):
        host = walk(length, width)
        x = xp.asarray(host.astype(dtype), device=device)
        check_sum(host, x, 0)
        check_sum(host[:, 1:], x[:, 1:], 0)


@pytest.mark.parametrize("shape", [(1_100_000,), (3, 300_000), (200_000, 3), (5000, 130), (6, 3000, 40), (4, 5, 6, 70)])
def test_many_tiles(shape: tuple[int, ...], device: Any) -> None:
    host = walk(*shape)
    x = xp.asarray(host.astype(np.float32), device=device)
    for axis in range(len(shape)):
        check_sum(host, x, axis)
        check_sum(host[1:], x[1:], axis)
        got = xp.cumulative_sum(x, axis=axis, include_initial=True).to_numpy()
        np.testing.assert_array_equal(got, np.cumulative_sum(host.astype(np.float32), axis=axis, include_initial=True))


@pytest.mark.parametrize("shape", [(1_000_003,), (3, 40_000), (20_000, 30)])
def test_the_same_bits_every_time(shape: tuple[int, ...], device: Any) -> None:
    x = xp.asarray(np.random.default_rng(1).normal(size=shape).astype(np.float32), device=device)
    for axis in range(len(shape)):
        wanted = xp.cumulative_sum(x, axis=axis).to_numpy()
        for _ in range(5):
            np.testing.assert_array_equal(xp.cumulative_sum(x, axis=axis).to_numpy(), wanted)


def test_no_less_exact_than_numpy(device: Any) -> None:
    host = np.random.default_rng(2).lognormal(sigma=3, size=300_000).astype(np.float32)
    exact = np.cumsum(host.astype(np.float64))
    got = xp.cumulative_sum(xp.asarray(host, device=device)).to_numpy()
    assert np.abs(got / exact - 1).max() <= np.abs(np.cumsum(host) / exact - 1).max() * 1.01


@pytest.mark.parametrize("shape", [(5000,), (300, 40), (40, 300)])
def test_zeros_keep_their_sign(shape: tuple[int, ...], device: Any) -> None:
    x = xp.asarray(np.full(shape, -0.0, np.float32), device=device)
    assert np.signbit(xp.cumulative_sum(x, axis=-1).to_numpy()).all()
    first = xp.cumulative_sum(x, axis=-1, include_initial=True).to_numpy()
    assert not np.signbit(first[..., 0]).any()
    assert np.signbit(first[..., 1:]).all()


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64], ids=str)
def test_long_returns(dtype: Any, device: Any) -> None:
    host = np.random.default_rng(4).normal(size=(2, 30_000)).astype(dtype)
    host[1, 20_000] = np.inf
    wanted = discounted(host, 0.97, 1)
    got = xp.nn.discounted_cumsum(xp.asarray(host, device=device), 0.97)
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-4, atol=1e-4)
    transposed = xp.nn.discounted_cumsum(xp.asarray(np.ascontiguousarray(host.T), device=device), 0.97, axis=0)
    np.testing.assert_allclose(transposed.to_numpy(), wanted.T, rtol=1e-4, atol=1e-4)


def test_result_dtypes(device: Any) -> None:
    for dtype in ARITHMETIC:
        x = xp.ones(3, dtype=dtype, device=device)
        unsigned = dtype in dt.UNSIGNED_INTEGERS
        wanted = (xp.uint64 if unsigned else xp.int64) if dtype in dt.CATEGORIES["integer or boolean"] else dtype
        assert xp.cumulative_sum(x).dtype == wanted
        assert xp.cumulative_prod(x).dtype == wanted
    ones = xp.ones(300, dtype=xp.uint8, device=device)
    assert int(xp.cumulative_sum(ones, dtype=xp.int8)[-1]) == 300 - 256
    assert xp.cumulative_sum(xp.asarray([1.7, 1.7], device=device), dtype=xp.int32).to_numpy().tolist() == [1, 2]
    assert xp.nn.discounted_cumsum(ones, 0.5).dtype == xp.float64


def test_empty(device: Any) -> None:
    x = xp.zeros((0, 3), dtype=xp.float32, device=device)
    assert xp.cumulative_sum(x, axis=0).shape == (0, 3)
    assert xp.cumulative_sum(x, axis=1, include_initial=True).shape == (0, 4)
    assert xp.cumulative_prod(x, axis=0, include_initial=True).to_numpy().tolist() == [[1, 1, 1]]
    assert xp.nn.discounted_cumsum(x, 0.5, axis=0).shape == (0, 3)


def test_results_lie_as_operands_do(device: Any) -> None:
    x = xp.asarray(walk(40, 50).astype(np.float32), device=device).T
    assert xp.cumulative_sum(x, axis=0)._layout.strides == (1, 50)
    assert xp.cumulative_sum(x, axis=0, include_initial=True)._layout.strides == (1, 51)


def test_errors(device: Any) -> None:
    x = xp.ones((2, 3), device=device)
    with pytest.raises(IndexError, match="cumulative_sum: axis is 2; accepted: -2 to 1"):
        xp.cumulative_sum(x, axis=2)
    with pytest.raises(ValueError, match="cumulative_prod: axis is None for an array of 2 axes"):
        xp.cumulative_prod(x)
    with pytest.raises(ValueError, match="axis is None for an array of 0 axes"):
        xp.cumulative_sum(x[0, 0])
    with pytest.raises(TypeError, match="cumulative_sum: axis is 'x'; accepted: an integer"):
        xp.cumulative_sum(x, axis="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cumulative_sum: dtype is bool for an array of float64; accepted: numeric"):
        xp.cumulative_sum(x, axis=0, dtype=xp.bool)
    with pytest.raises(TypeError, match="dtype is float32 for an array of complex128; accepted: complex"):
        xp.cumulative_sum(xp.astype(x, xp.complex128), axis=0, dtype=xp.float32)
    with pytest.raises(TypeError, match="discounted_cumsum: dtype complex128 is not accepted; accepted: "):
        xp.nn.discounted_cumsum(xp.astype(x, xp.complex128), 0.5)
    with pytest.raises(TypeError, match="discounted_cumsum: gamma is an array of float64; accepted: a real"):
        xp.nn.discounted_cumsum(x, x)
    with pytest.raises(TypeError, match="gamma is a Python complex"):
        xp.nn.discounted_cumsum(x, 1j)
    with pytest.raises(TypeError, match="dtype float8_e5m2 is not accepted"):
        xp.cumulative_sum(xp.zeros(3, dtype=xp.float8_e5m2, device=device))


@pytest.mark.parametrize(("shape", "axis"), [((2**31 + 5,), 0), ((65539, 32771), 0), ((65539, 32771), 1)])
def test_more_than_31_bits_of_elements(shape: tuple[int, ...], axis: int, cuda: Any) -> None:
    x = xp.zeros(shape, dtype=xp.uint8, device=cuda)
    flat = xp.reshape(x, (-1,))
    for place in (0, 1, 2**31 - 7, 2**31 - 1, 2**31, x.size - 1):
        flat[place] = 1
    y = xp.cumulative_sum(x, axis=axis, dtype=xp.uint8)
    if len(shape) == 1:
        found = xp.reshape(y, (-1,))
        assert [int(found[place]) for place in (0, 1, 5, 2**31 - 8, 2**31 - 1, x.size - 1)] == [1, 2, 2, 2, 4, 6]
        return
    lines = sorted({place // shape[1] if axis else place % shape[1] for place in (0, 1, 2**31 - 7, 2**31, x.size - 1)})
    for line in lines:
        key = (line, slice(None)) if axis else (slice(None), line)
        np.testing.assert_array_equal(y[key].to_numpy(), np.cumsum(x[key].to_numpy(), dtype=np.uint8))
