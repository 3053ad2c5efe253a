"""Medians and quantiles against NumPy's, on every device.

On the CPU NumPy sorts, or the compiled core.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.oracle import assert_same, eps
from xpops.core import dtypes as dt
from xpops.plan.ranks import METHODS
from xpops.testing import generator

NDArray = np.ndarray[Any, Any]

PARTS = (0.0, 1.0, 0.5, 0.25, 1 / 3, 0.9, 0.05)
AXES = (None, 0, -1, (0, 2), (2, 1, 0))


def sample(dtype: Any, shape: tuple[int, ...], holes: float = 0) -> NDArray:
    random = generator(dtype, shape, "order")
    x = np.asarray(random.normal(0, 20, shape) if np.dtype(dtype).kind == "f" else random.integers(0, 100, shape))
    x = x.astype(dtype)
    if holes:
        x[random.random(shape) < holes] = np.nan
    return x


def quiet(function: Any, *args: Any, **options: Any) -> NDArray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(function(*args, **options))


def assert_near(got: Any, expected: NDArray) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    # Interpolation between elements of different signs cancels, so there is an absolute tolerance.
    np.testing.assert_allclose(got.to_numpy(), expected, rtol=4 * eps(got.dtype), atol=100 * eps(got.dtype))


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.int8, dt.int64, dt.uint64], ids=str)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_median(dtype: Any, axis: Any, keepdims: bool, device: Any) -> None:
    for shape in ((3, 4, 5), (2, 1, 7)):
        host = sample(dtype, shape)
        got = xp.median(xp.asarray(host, device=device), axis=axis, keepdims=keepdims)
        assert_near(got, np.asarray(np.median(host, axis=axis, keepdims=keepdims)))


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_nanmedian(dtype: Any, axis: Any, keepdims: bool, device: Any) -> None:
    host = sample(dtype, (3, 4, 5), 0.4)
    host[0] = np.nan
    got = xp.nanmedian(xp.asarray(host, device=device), axis=axis, keepdims=keepdims)
    assert_near(got, quiet(np.nanmedian, host, axis=axis, keepdims=keepdims))


def test_medians_of_integers_without_nans(device: Any) -> None:
    x = xp.asarray([3, 1, 2, 8], device=device)
    assert_same(xp.nanmedian(x), np.array(2.5))
    assert_same(xp.median(x), np.array(2.5))


@pytest.mark.parametrize("name", ["median", "quantile"])
def test_a_nan_spoils_its_slice(name: str, device: Any) -> None:
    x = xp.asarray([[1.0, xp.nan, 2.0], [1.0, 2.0, 3.0]], device=device)
    q = (0.5,) if name == "quantile" else ()
    assert_same(getattr(xp, name)(x, *q, axis=1), np.array([np.nan, 2.0]))


def test_infinities_and_extremes(device: Any) -> None:
    large = np.finfo(np.float64).max
    for values in ([np.inf, np.inf], [-np.inf, -np.inf, -np.inf, -np.inf]):
        x = xp.asarray(values, device=device)
        assert_same(xp.median(x), np.array(values[0]))
        assert_same(xp.quantile(x, 0.3), np.array(values[0]))  # NumPy's result is NaN
    assert_same(xp.median(xp.asarray([-np.inf, np.inf], device=device)), np.array(np.nan))
    assert_same(xp.median(xp.asarray([large, large], device=device)), np.array(large))


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
def test_half_types(dtype: Any, device: Any) -> None:
    x = xp.asarray(np.array([1, 2, 4, 3], np.float32).astype(dtype), device=device)
    for got in (xp.median(x), xp.nanmedian(x), xp.quantile(x, 0.5)):
        assert got.dtype == dtype
        assert float(got) == 2.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 10, 20, 101])
def test_methods(method: str, length: int, device: Any) -> None:
    host = sample(np.float64, (2, length))
    q = np.array([*PARTS, *np.linspace(0, 1, 21)])
    got = xp.quantile(xp.asarray(host, device=device), q, axis=1, method=method)
    assert_near(got, np.quantile(host, q, axis=1, method=method))


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.int16, dt.uint8], ids=str)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("q", [0.3, [0.3], [[0.1, 0.9, 1.0], [0.0, 0.5, 0.25]], []], ids=str)
def test_quantile(dtype: Any, axis: Any, keepdims: bool, q: Any, device: Any) -> None:
    host = sample(dtype, (3, 4, 5))
    got = xp.quantile(xp.asarray(host, device=device), q, axis=axis, keepdims=keepdims)
    expected = np.asarray(np.quantile(host.astype(np.float64), q, axis=axis, keepdims=keepdims))
    assert got.dtype == (dtype if dtype.kind == "f" else np.float64)
    assert got.shape == expected.shape
    np.testing.assert_allclose(
        got.to_numpy(), expected, rtol=8 * eps(got.dtype), atol=1e-5 if dtype.itemsize == 4 else 1e-13
    )


def test_quantiles_from_arrays(device: Any) -> None:
    x = xp.asarray([1.0, 2.0, 3.0], device=device)
    for q in (xp.asarray([0.0, 0.5], device=device), np.array([0.0, 0.5]), (0, 0.5)):
        assert_same(xp.quantile(x, q), np.array([1.0, 2.0]))
    assert_same(xp.quantile(x, xp.asarray(0.5, device=device)), np.array(2.0))


def test_a_quantile_beside_an_infinity(device: Any) -> None:
    host = np.array([[1.0, np.inf, 2.0], [-np.inf, 5.0, -np.inf]])
    for q in (0.0, 0.5, 1.0):
        assert_same(xp.quantile(xp.asarray(host, device=device), q, axis=1), np.sort(host)[:, int(2 * q)])


def test_nothing_and_one(device: Any) -> None:
    nothing = xp.zeros((2, 0), device=device)
    assert_same(xp.median(nothing, axis=1), np.full(2, np.nan))
    assert_same(xp.median(nothing, axis=0), np.zeros(0))
    assert_same(xp.median(xp.zeros(0, dtype=xp.float32, device=device)), np.array(np.nan, np.float32))
    with pytest.raises(ValueError, match=r"^quantile: x has shape \(2, 0\), nothing along axis 1; accepted: at least"):
        xp.quantile(nothing, 0.5, axis=1)
    assert xp.quantile(nothing, [0.5, 1.0], axis=0).shape == (2, 0)
    one = xp.asarray(3.0, device=device)
    for got in (xp.median(one), xp.nanmedian(one), xp.quantile(one, 0.7), xp.median(xp.expand_dims(one), axis=())):
        assert float(got[...].sum()) == 3


def test_views(device: Any) -> None:
    host = sample(np.float64, (9, 8))
    view, wanted = xp.asarray(host, device=device)[::-2, 1::3].mT, host[::-2, 1::3].T
    assert_near(xp.median(view, axis=0), np.median(wanted, axis=0))
    assert_near(xp.quantile(view, 0.2, axis=1), np.quantile(wanted, 0.2, axis=1))


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile"])
def test_errors(name: str, device: Any) -> None:
    q = (0.5,) if name == "quantile" else ()
    function = getattr(xp, name)
    with pytest.raises(TypeError, match=f"^{name}: x is a list; accepted: an array"):
        function([1.0], *q)
    with pytest.raises(TypeError, match=f"^{name}: dtype bool is not accepted; accepted: int8"):
        function(xp.asarray([True], device=device), *q)
    with pytest.raises(IndexError, match=f"^{name}: axis is 1"):
        function(xp.zeros(2, device=device), *q, axis=1)
    with pytest.raises(ValueError, match=rf"^{name}: axis is \(0, 0\), which names an axis twice"):
        function(xp.zeros((2, 2), device=device), *q, axis=(0, 0))


def test_errors_of_quantile(device: Any) -> None:
    x = xp.zeros(2, device=device)
    for q in (1.5, [-0.1], np.nan):
        with pytest.raises(ValueError, match=r"^quantile: q is .*; accepted: from 0 to 1$"):
            xp.quantile(x, q)
    with pytest.raises(TypeError, match=r"^quantile: q is 'half'; accepted: a float or an array of them$"):
        xp.quantile(x, "half")
    with pytest.raises(ValueError, match=r"^quantile: method is 'odd'; accepted: 'linear', 'lower', "):
        xp.quantile(x, 0.5, method="odd")


def test_numpy_arrays_stay_numpy_arrays() -> None:
    host = np.array([3.0, 1.0, 2.0])
    for got in (xp.median(host), xp.nanmedian(host), xp.quantile(host, 0.5)):
        assert isinstance(got, np.ndarray)
        assert got == 2


def test_the_smallest_numbers_are_not_halved(device: Any) -> None:
    for host in ([5e-324], [1e-320, 15e-324, 35e-324]):
        x = xp.asarray(host, device=device)
        assert float(xp.median(x)) == float(xp.nanmedian(x)) == float(np.median(host))
