"""Functions that ignore NaNs, against NumPy's functions of the same names, on every device."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same, eps
from xpops.core import dtypes as dt
from xpops.testing.strategies import numpy_arrays

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
FLOATS = (dt.float32, dt.float64)
DTYPES = (*FLOATS, dt.complex64, dt.complex128, dt.int32, dt.uint8, dt.bool)
SUMS = ("nansum", "nanprod")
MOMENTS = ("nanmean", "nanvar", "nanstd")
EXTREMES = ("nanmax", "nanmin")


def wanted(name: str, x: NDArray, **options: Any) -> NDArray:
    """NumPy's answer, without its warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(getattr(np, name)(x, **options))


def holey(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> NDArray:
    """Small numbers, with NaNs where the dtype has one."""
    random = np.random.default_rng(seed)
    x = np.asarray(random.integers(1, 5, shape)).astype(dtype)
    if x.dtype.kind == "c":
        x += 1j * random.integers(0, 3, shape).astype(x.real.dtype)
    if x.dtype.kind in "fc":
        x[random.random(shape) < 0.4] = np.nan
    return x


@st.composite
def calls(draw: st.DrawFn, dtypes: Any, nonempty: bool = False) -> tuple[NDArray, Any, bool]:
    host = draw(numpy_arrays(draw(st.sampled_from(dtypes))))
    if nonempty and host.size == 0:
        host = np.ones([max(length, 1) for length in host.shape], host.dtype)
    if draw(st.booleans()) and host.ndim > 1:
        host = host.T
    axes: list[Any] = [None, *range(-host.ndim, host.ndim), *([(0, -1), ()] if host.ndim > 1 else [])]
    return host, draw(st.sampled_from(axes)), draw(st.booleans())


@given(calls(FLOATS, nonempty=True), devices, st.sampled_from(EXTREMES))
def test_extremes(call: Any, device: Any, name: str) -> None:
    host, axis, keepdims = call
    got = getattr(xp, name)(xp.asarray(host, device=device), axis=axis, keepdims=keepdims)
    expected = wanted(name, host, axis=axis, keepdims=keepdims)
    assert (got.dtype, got.shape) == (host.dtype, expected.shape)
    assert np.array_equal(got.to_numpy(), expected, equal_nan=True)


@pytest.mark.parametrize("name", [*SUMS, *MOMENTS])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()], ids=str)
def test_sums_and_moments(name: str, dtype: Any, axis: Any, device: Any) -> None:
    host = holey(dtype, (3, 4, 5))
    host[0] = np.nan if host.dtype.kind in "fc" else 1  # slices of NaNs only
    got = getattr(xp, name)(xp.asarray(host, device=device), axis=axis, keepdims=True)
    expected = wanted(name, host, axis=axis, keepdims=True)
    assert got.shape == expected.shape
    if name in MOMENTS or host.dtype.kind in "fc":
        assert got.dtype == expected.dtype
    np.testing.assert_allclose(got.to_numpy(), expected, rtol=16 * eps(got.dtype), atol=0)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("correction", [0, 1, 0.5, 3])
def test_corrections(name: str, correction: float, device: Any) -> None:
    host = holey(np.float64, (6, 5))
    x = xp.asarray(host, device=device)
    expected = wanted(name, host, axis=1, ddof=correction)
    for option in ("ddof", "correction"):
        got = getattr(xp, name)(x, axis=1, **{option: correction}).to_numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["var", "std"])
def test_ddof_beside_correction(name: str, device: Any) -> None:
    x = xp.asarray([1.0, 2.0, 4.0], device=device)
    function = getattr(xp, name)
    assert float(function(x, ddof=1)) == float(function(x, correction=1)) == float(getattr(x, name)(ddof=1))
    for each in (name, f"nan{name}"):
        with pytest.raises(TypeError, match=rf"^{each}: correction is 1 and ddof 2; accepted: one of them$"):
            getattr(xp, each)(x, correction=1, ddof=2)


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_scans(name: str, dtype: Any, axis: int | None, device: Any) -> None:
    host = holey(dtype, (3, 4))
    got = getattr(xp, name)(xp.asarray(host, device=device), axis=axis)
    expected = wanted(name, host, axis=axis)
    np.testing.assert_allclose(got.to_numpy(), expected, rtol=16 * eps(got.dtype), atol=0)
    assert got.shape == expected.shape


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nancumsum", "nancumprod", "nanmean", "nanvar", "nanstd"])
def test_the_dtype_of_the_result(name: str, device: Any) -> None:
    host = holey(np.float32, (20,))
    got = getattr(xp, name)(xp.asarray(host, device=device), dtype=xp.float64)
    expected = wanted(name, host.astype(np.float64))
    assert got.dtype == np.float64
    np.testing.assert_allclose(got.to_numpy(), expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
def test_half_types_are_rounded_once(dtype: Any, device: Any) -> None:
    host = np.array([60000, 60000, np.nan, 60000], np.float64).astype(dtype)
    x = xp.asarray(host, device=device)
    assert_same(xp.nanmean(x), host[0])
    assert_same(xp.nanvar(x), dtype.type(0))
    assert_same(xp.nanmax(x), host[0])


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_positions(name: str, axis: int | None, keepdims: bool, device: Any) -> None:
    for dtype in (np.float32, np.float64, np.int16):
        host = holey(dtype, (7, 6), 3)
        host[:, 0], host[0] = 2, 3
        got = getattr(xp, name)(xp.asarray(host, device=device), axis=axis, keepdims=keepdims)
        assert_same(got, wanted(name, host, axis=axis, keepdims=keepdims))


def test_an_infinity_is_found_beside_nan(device: Any) -> None:
    x = xp.asarray([xp.nan, -xp.inf], device=device)
    assert int(xp.nanargmax(x)) == 1  # NumPy's result is 0, the position of the NaN
    assert int(xp.nanargmin(-x)) == 1


def test_positions_of_numbers_after_nans_and_infinities(device: Any) -> None:
    host = np.full((3, 5000), np.nan, np.float32)
    host[0, 4997], host[1, 70], host[1, 4000], host[2, 1] = -np.inf, 2, 2, np.inf
    for _ in range(2):
        assert_same(xp.nanargmax(xp.asarray(host, device=device), axis=1), np.array([4997, 70, 1]))
        assert_same(xp.nanargmin(xp.asarray(-host, device=device).mT, axis=0), np.array([4997, 70, 1]))


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_positions_in_repeated_elements(name: str, device: Any) -> None:
    line = xp.asarray([1.0, xp.nan], device=device)
    assert_same(getattr(xp, name)(xp.broadcast_to(line[:1], (4, 3)), axis=0), np.array([0, 0, 0]))
    with pytest.raises(ValueError, match="has NaNs only"):
        getattr(xp, name)(xp.broadcast_to(line, (4, 2)), axis=0)
    with pytest.raises(ValueError, match="has NaNs only"):
        getattr(xp, name)(line[1:])


def test_slices_of_nans_only(device: Any) -> None:
    x = xp.asarray([[xp.nan, xp.nan], [1.0, xp.nan]], device=device)
    assert_same(xp.nansum(x, axis=1), np.array([0.0, 1.0]))
    assert_same(xp.nanprod(x, axis=1), np.array([1.0, 1.0]))
    for name in ("nanmean", "nanmax", "nanmin", "nanmedian"):
        assert_same(getattr(xp, name)(x, axis=1), np.array([np.nan, 1.0]))
    for name in ("nanvar", "nanstd"):
        assert_same(getattr(xp, name)(x, axis=1), np.array([np.nan, 0.0]))
    for name in ("nanargmax", "nanargmin"):
        with pytest.raises(ValueError, match=f"^{name}: a slice of x along axis 1 has NaNs only; accepted: a number"):
            getattr(xp, name)(x, axis=1)


def test_empty_arrays(device: Any) -> None:
    x = xp.zeros((2, 0), device=device)
    assert_same(xp.nansum(x, axis=1), np.zeros(2))
    assert_same(xp.nanprod(x), np.array(1.0))
    for name in (*MOMENTS, "nanmedian"):
        assert_same(getattr(xp, name)(x, axis=1), np.full(2, np.nan))
        assert getattr(xp, name)(x, axis=0).shape == (0,)
    assert_same(xp.nancumsum(x), np.zeros(0))
    for name in (*EXTREMES, "nanargmax", "nanargmin"):
        with pytest.raises(ValueError, match=rf"^{name}: x has shape \(2, 0\), nothing along axis 1; accepted: at l"):
            getattr(xp, name)(x, axis=1)


def test_zero_dimensions_and_views(device: Any) -> None:
    assert float(xp.nansum(xp.asarray(xp.nan, device=device))) == 0
    assert_same(xp.nanmax(xp.asarray(3.0, device=device)), np.array(3.0))
    assert_same(xp.nancumsum(xp.asarray(3.0, device=device)), np.array([3.0]))
    host = holey(np.float64, (8, 6))
    view = xp.asarray(host, device=device)[::-2, 1::2].mT
    assert_same(xp.nanmin(view, axis=0), wanted("nanmin", host[::-2, 1::2].T, axis=0))


NAMES = (*SUMS, *MOMENTS, *EXTREMES, "nanargmax", "nanargmin", "nancumsum", "nancumprod", "nanmedian")


@pytest.mark.parametrize("name", NAMES)
def test_errors_name_the_function(name: str, device: Any) -> None:
    function = getattr(xp, name)
    with pytest.raises(TypeError, match=f"^{name}: x is a list; accepted: an array$"):
        function([1.0])
    with pytest.raises(IndexError, match=f"^{name}: axis is 2"):
        function(xp.zeros((2, 2), device=device), axis=2)
    with pytest.raises(TypeError, match=f"^{name}: dtype float8_e5m2 is not accepted; accepted: "):
        function(xp.zeros(2, dtype=xp.float8_e5m2, device=device))


@pytest.mark.parametrize("name", [*EXTREMES, "nanargmax", "nanargmin", "nanmedian"])
def test_complex_numbers_have_no_order(name: str, device: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name}: dtype complex128 is not accepted; accepted: "):
        getattr(xp, name)(xp.asarray([1j], device=device))


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_are_floating_point(name: str, device: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name}: dtype is int32; accepted: floating-point dtypes$"):
        getattr(xp, name)(xp.zeros(2, device=device), dtype=xp.int32)


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_positions_have_one_axis(name: str, device: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{name}: axis is \(0, 1\); accepted: one integer, or None"):
        getattr(xp, name)(xp.zeros((2, 2), device=device), axis=(0, 1))


@pytest.mark.parametrize("name", NAMES)
def test_numpy_arrays_stay_numpy_arrays(name: str) -> None:
    host = np.array([[1.0, np.nan], [3.0, 2.0]])
    got = getattr(xp, name)(host, axis=1)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, wanted(name, host, axis=1))


@pytest.mark.parametrize("name", MOMENTS)
def test_plain_moments_in_another_dtype(name: str, device: Any) -> None:
    plain = name.removeprefix("nan")
    function, host = getattr(xp, plain), np.array([1, 2, 4], np.float32)
    for x in (host, host.astype(np.int8)):
        got = function(xp.asarray(x, device=device), dtype=xp.float64)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got.to_numpy(), wanted(plain, host.astype(np.float64)), rtol=1e-15)
    assert function(xp.asarray(host, device=device), dtype=xp.float16).dtype == np.float16
    with pytest.raises(TypeError, match=f"^{plain}: dtype is int32; accepted: floating-point dtypes$"):
        function(xp.asarray(host, device=device), dtype=xp.int32)
