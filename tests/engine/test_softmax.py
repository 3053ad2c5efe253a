"""Softmax and log-softmax against long double, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.softmax import exact_softmax
from xpops.core import dtypes as dt
from xpops.testing import ulp_error
from xpops.testing.strategies import numpy_arrays, views

NDArray = np.ndarray[Any, Any]

nn = xp.nn
# The bounds of docs/accuracy.md.
BOUNDS = {dt.float16: 0.51, dt.bfloat16: 0.51, dt.float32: 10.0, dt.float64: 10.0}
floats = pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)


def check(x: NDArray, axis: int, device: Any, make: Any = lambda x: x) -> None:
    """`make` turns the array into the view that is taken."""
    given, host = make(xp.asarray(x, device=device)), make(x)
    plain, logarithm = exact_softmax(host, axis)
    bound = BOUNDS[x.dtype]
    found = nn.softmax(given, axis=axis)
    assert (found.dtype, found.shape) == (x.dtype, host.shape)
    error = ulp_error(found.to_numpy().reshape(-1), plain.reshape(-1))
    assert np.max(error, initial=0) <= bound
    found = nn.log_softmax(given, axis=axis)
    assert (found.dtype, found.shape) == (x.dtype, host.shape)
    error = ulp_error(found.to_numpy().reshape(-1), logarithm.reshape(-1))
    assert np.max(error, initial=0) <= bound


def numbers(shape: tuple[int, ...], dtype: Any, scale: float = 4.0) -> NDArray:
    return (scale * np.random.default_rng(sum(shape)).normal(size=shape)).astype(dtype)


ROWS = [
    1,
    2,
    3,
    7,
    8,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    129,
    255,
    256,
    1000,
    1023,
    1024,
    1025,
    4096,
    5000,
    16384,
    20000,
]


@floats
@pytest.mark.parametrize("length", ROWS)
def test_rows(length: int, dtype: Any, device: Any) -> None:
    for count in (1, 5, 37):
        check(numbers((count, length), dtype), 1, device)


@floats
@pytest.mark.parametrize("length", [32768, 32769, 40000, 131072, 200001])
def test_long_rows(length: int, dtype: Any, device: Any) -> None:
    for count in (1, 3):
        check(numbers((count, length), dtype), 1, device)


def test_many_long_rows(device: Any) -> None:
    x = numbers((300, 33000), dt.float32)
    found = nn.softmax(xp.asarray(x, device=device)).to_numpy()
    weights = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(found, weights / np.sum(weights, axis=1, keepdims=True), rtol=1e-6)


@floats
@pytest.mark.parametrize("shape", [(5, 1), (5, 3), (3, 8), (64, 4), (33, 100), (1000, 16), (5000, 3), (20000, 64)])
def test_columns(shape: Any, dtype: Any, device: Any) -> None:
    check(numbers(shape, dtype), 0, device)
    check(numbers((2, *shape), dtype), 1, device)


@given(st.data(), st.sampled_from(DEVICES), st.sampled_from([dt.float16, dt.float32, dt.float64]))
@settings(max_examples=60)
def test_views(data: Any, device: Any, dtype: Any) -> None:
    host = data.draw(numpy_arrays(dtype))
    key, order = data.draw(views(host.shape))
    ndim = len(np.empty(host.shape)[key].shape)
    if ndim == 0:
        return
    axis = data.draw(st.integers(-ndim, ndim - 1))
    if np.permute_dims(host[key], order).size == 0:
        found = nn.softmax(xp.permute_dims(xp.asarray(host, device=device)[key], order), axis=axis)
        assert found.shape == np.permute_dims(host[key], order).shape
        return
    check(host, axis, device, lambda x: (np if isinstance(x, np.ndarray) else xp).permute_dims(x[key], order))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_order_of_axes_stays(axis: int, device: Any) -> None:
    x = numbers((6, 5, 40), np.float32)
    check(x, axis, device, lambda x: (np if isinstance(x, np.ndarray) else xp).permute_dims(x, (2, 0, 1)))
    check(x, axis, device, lambda x: x[:, ::2, 1:])
    check(x, axis, device, lambda x: x[::-1, :, ::-3])


@floats
@pytest.mark.parametrize("shape", [(5,), (5000,), (70000,)], ids=str)
def test_large_numbers(shape: Any, dtype: Any, device: Any) -> None:
    far = float(xp.finfo(dtype).max)
    x = np.full(shape, -far).astype(dtype)
    check(x, 0, device)
    x[2] = far
    found = nn.softmax(xp.asarray(x, device=device)).to_numpy()
    assert (found[2], np.sum(found != 0)) == (1, 1)
    for shift in (3000.0, -3000.0, 600.0, -1e4):
        check(numbers(shape, dtype) + dtype.type(shift), 0, device)


@floats
@pytest.mark.parametrize("shape", [(3, 6), (3, 3000), (3, 50000)], ids=str)
def test_infinity_and_nan(shape: Any, dtype: Any, device: Any) -> None:
    x = np.zeros(shape, dtype)
    x[0], x[1, 0], x[2, 1] = -np.inf, np.inf, np.nan
    for axis, host in ((1, x), (0, np.ascontiguousarray(x.T))):
        for call in (nn.softmax, nn.log_softmax):
            assert np.all(np.isnan(call(xp.asarray(host, device=device), axis=axis).to_numpy()))
    x[:] = -np.inf
    x[:, -2:] = 1
    found = nn.softmax(xp.asarray(x, device=device)).to_numpy()
    assert np.all(found == np.concatenate([np.zeros(shape[1] - 2), [0.5, 0.5]]))
    found = nn.log_softmax(xp.asarray(x, device=device)).to_numpy()
    assert np.all(found[:, :-2] == -np.inf)
    wanted = np.full((3, 2), -np.log(np.longdouble(2)))
    assert np.max(ulp_error(found[:, -2:], wanted)) <= BOUNDS[dtype]


def test_a_sum_of_many(device: Any) -> None:
    x = np.zeros(1 << 20, np.float32)
    assert np.all(nn.softmax(xp.asarray(x, device=device)).to_numpy() == 2.0**-20)


@pytest.mark.parametrize("out", [*dt.REAL_FLOATS, *dt.FLOAT8], ids=str)
@floats
def test_converted_in_the_same_pass(dtype: Any, out: Any, device: Any) -> None:
    for shape, axis in (((3, 100), 1), ((40, 24), 0)):
        x = numbers(shape, dtype)
        found = nn.softmax(xp.asarray(x, device=device), axis=axis, dtype=out)
        assert found.dtype == out
        wanted = exact_softmax(x, axis)[0]
        if out == dt.float64 and dtype != dt.float64:  # computed in float32
            found = xp.astype(found, dt.float32)
        error = ulp_error(found.to_numpy().reshape(-1), wanted.reshape(-1))
        assert np.max(error) <= BOUNDS.get(found.dtype, 0.51)


def test_empty_arrays(device: Any) -> None:
    for shape, axis in (((0,), 0), ((0, 3), 0), ((0, 3), 1), ((3, 0), 1)):
        assert nn.softmax(xp.zeros(shape, device=device), axis=axis).shape == shape


def test_misaligned(device: Any) -> None:
    x = xp.asarray(numbers((1 + 5 * 64,), np.float32), device=device)
    wanted = nn.softmax(xp.reshape(xp.asarray(x[1:], copy=True), (5, 64)))
    np.testing.assert_allclose(nn.softmax(xp.reshape(x[1:], (5, 64))).to_numpy(), wanted.to_numpy(), rtol=1e-6)


def test_runs_give_the_same_bits(device: Any) -> None:
    x = xp.asarray(numbers((7, 100_000), np.float32), device=device)
    first = nn.softmax(x).to_numpy()
    assert all(np.array_equal(first, nn.softmax(x).to_numpy()) for _ in range(3))


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        lambda f, x: f(xp.astype(x, xp.int32)),
        TypeError,
        ": dtype int32 is not accepted; accepted: real floating",
    ),
    (lambda f, x: f(xp.astype(x, xp.complex64)), TypeError, ": dtype complex64 is not accepted"),
    (lambda f, x: f(x, axis=2), IndexError, ": axis is 2"),
    (lambda f, x: f(x[0, 0]), IndexError, ": axis is -1; accepted: arrays of one axis or more"),
    (lambda f, x: f(x, axis=0.5), TypeError, ": axis is 0.5"),
    (lambda f, x: f(x, dtype=xp.int8), TypeError, ": dtype int8 is not accepted; accepted: float16, bfloat16"),
    (lambda f, x: f(1.0), TypeError, ": "),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[2][:40])
@pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax])
def test_refusals(function: Any, case: Any, device: Any) -> None:
    call, kind, message = case
    with pytest.raises(kind, match=f"^{function.__name__}{message}"):
        call(function, xp.ones((2, 3), device=device))
