"""Functions along an axis, of operands that are broadcast along any axes, against NumPy, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from tests.helpers.softmax import exact_softmax
from xpops.core import dtypes as dt
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
FLOATING = dt.CATEGORIES["floating-point"]
NUMBERS = sorted(dt.CATEGORIES["real-valued"], key=str)
# The bounds of docs/accuracy.md.
BOUNDS = {dt.float16: 0.51, dt.bfloat16: 0.51, dt.float32: 10.0, dt.float64: 10.0}


@st.composite
def broadcast(draw: st.DrawFn, dtypes: Any, ndim: int | None = None, nan: bool = True) -> tuple[NDArray, NDArray, int]:
    """Small integers, and NaN if the dtype has it; their broadcast to a shape, along any axes; an axis."""
    low, high = (1, 4) if ndim is None else (ndim, ndim)
    shape = tuple(draw(st.lists(st.integers(0, 5) | st.just(9), min_size=low, max_size=high)))
    repeated = draw(st.sets(st.integers(0, len(shape) - 1)))
    kept = tuple(1 if axis in repeated else length for axis, length in enumerate(shape))
    dtype = draw(st.sampled_from(dtypes))
    host = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 3, kept).astype(dtype)
    if nan and dtype in FLOATING and draw(st.booleans()):
        host[np.random.default_rng(0).random(kept) < 0.1] = np.nan
    if draw(st.booleans()):  # the order of axes in memory is any
        order = draw(st.permutations(range(len(shape))))
        host = np.ascontiguousarray(host.transpose(order)).transpose(np.argsort(order))
    return host, np.broadcast_to(host, shape), draw(st.integers(-len(shape), len(shape) - 1))


def spread(host: NDArray, shape: tuple[int, ...], device: Any) -> Any:
    return xp.broadcast_to(xp.asarray(host, device=device), shape)


@given(broadcast(NUMBERS), st.booleans(), devices)
def test_scans(case: Any, initial: bool, device: Any) -> None:
    host, whole, axis = case
    x = spread(host, whole.shape, device)
    for dtype in (None, dt.float64, dt.int64)[: 2 + (host.dtype not in FLOATING)]:
        loop = dtype or (host.dtype if host.dtype in FLOATING else np.cumulative_sum(whole, axis=axis).dtype)
        wide = whole.astype(np.float64 if np.dtype(loop) in FLOATING else loop)
        wanted = np.cumulative_sum(wide, axis=axis, include_initial=initial).astype(loop)
        for _ in range(2):
            found = xp.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=initial)
            assert_same(found, wanted)


@given(broadcast(sorted(dt.REAL_FLOATS, key=str)), st.sampled_from([0.5, 1.0, -2.0]), devices)
def test_scans_backwards(case: Any, gamma: float, device: Any) -> None:
    host, whole, axis = case
    x = spread(host, whole.shape, device)
    wanted = np.moveaxis(whole.astype(np.float64), axis, 0)
    for place in reversed(range(len(wanted) - 1)):  # exact, because the terms are small multiples of powers of 2
        wanted[place] += gamma * wanted[place + 1]
    for _ in range(2):
        assert_same(xp.nn.discounted_cumsum(x, gamma, axis=axis), np.moveaxis(wanted, 0, axis).astype(host.dtype))


@given(broadcast(sorted(dt.REAL_FLOATS, key=str)), devices)
def test_softmax(case: Any, device: Any) -> None:
    host, whole, axis = case
    if whole.shape[axis] == 0:
        return
    x = spread(host, whole.shape, device)
    for name, wanted in zip(("softmax", "log_softmax"), exact_softmax(whole, axis), strict=True):
        for dtype in (None, dt.float64, None):
            found = getattr(xp.nn, name)(x, axis=axis, dtype=dtype)
            assert (found.dtype, found.shape) == (dtype or host.dtype, whole.shape)
            if dtype is None:
                assert np.max(ulp_error(found.to_numpy(), wanted), initial=0) <= BOUNDS[host.dtype]


@given(broadcast(NUMBERS), st.booleans(), devices)
def test_sorts(case: Any, descending: bool, device: Any) -> None:
    host, whole, axis = case
    x = spread(host, whole.shape, device)
    # NaN is last in both directions, so the keys of a descending sort are negated numbers.
    keys = whole.astype(np.float64) * (-1 if descending else 1)
    order = np.argsort(keys, axis=axis, stable=True)
    wanted = np.take_along_axis(whole, order, axis)
    for _ in range(2):
        assert_same(xp.sort(x, axis=axis, descending=descending), wanted)
        assert_same(xp.argsort(x, axis=axis, descending=descending), order)


@given(broadcast(NUMBERS), devices)
def test_topk(case: Any, device: Any) -> None:
    host, whole, axis = case
    x, count = spread(host, whole.shape, device), (whole.shape[axis] + 1) // 2
    order = np.argsort(-whole.astype(np.float64), axis=axis, stable=True)
    order = np.moveaxis(np.moveaxis(order, axis, 0)[:count], 0, axis)
    for _ in range(2):
        values, places = xp.nn.topk(x, count, axis=axis)
        assert_same(values, np.take_along_axis(whole, order, axis))
        assert_same(places, order)


@given(broadcast([dt.float64, dt.complex128], nan=False), st.sampled_from(["fft", "ifft", "rfft", "irfft"]), devices)
def test_fourier_transforms(case: Any, name: str, device: Any) -> None:
    host, whole, axis = case
    if name == "rfft":
        host, whole = host.real, whole.real
    if whole.shape[axis] == 0:
        return
    x = spread(host, whole.shape, device)
    for n in (5, 12, 5):
        found = getattr(xp.fft, name)(x, n=n, axis=axis, norm="ortho")
        wanted = getattr(np.fft, name)(whole, n=n, axis=axis, norm="ortho")
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=0, atol=1e-13)


@given(broadcast([dt.float32, dt.complex64], ndim=3, nan=False), devices)
def test_fourier_transforms_of_several_axes(case: Any, device: Any) -> None:
    host, whole, axis = case
    axes = (axis, (axis + 1) % 3 - 3 * (axis < 0))
    x = spread(host, whole.shape, device)
    for _ in range(2):
        found = xp.fft.fftn(x, s=(4, 3), axes=axes)
        wanted = np.fft.fftn(whole.astype(np.complex128), s=(4, 3), axes=axes)
        assert (found.dtype, found.shape) == (dt.complex64, wanted.shape)
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=0, atol=1e-4)


@given(broadcast(sorted(dt.REAL_FLOATS, key=str), ndim=4), st.sampled_from(["NCHW", "NHWC"]), devices)
def test_upsampling(case: Any, layout: str, device: Any) -> None:
    host, whole, _ = case
    rows = layout.index("H")
    if 0 in whole.shape[rows : rows + 2]:
        return
    x = spread(host, whole.shape, device)
    large = np.repeat(np.repeat(whole, 2, rows), 3, rows + 1)
    lengths = [(whole if rows <= axis <= rows + 1 else host).shape[axis] for axis in range(4)]
    gradient = np.repeat(np.repeat(np.broadcast_to(host, lengths), 2, rows), 3, rows + 1)
    grad = spread(gradient, large.shape, device)
    for _ in range(2):
        assert_same(xp.nn.upsample_nearest2d(x, scale=(2, 3), layout=layout), large)
        back = xp.nn.upsample_nearest2d_backward(grad, whole.shape[rows : rows + 2], scale=(2, 3), layout=layout)
        assert_same(back, (6 * whole.astype(np.float64)).astype(host.dtype))


CALLS = {
    "cumulative_sum": lambda x, axis: xp.cumulative_sum(x, axis=axis),
    "softmax": lambda x, axis: xp.nn.softmax(x, axis=axis),
    "sort": lambda x, axis: xp.sort(x, axis=axis),
    "argsort": lambda x, axis: xp.argsort(x, axis=axis),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_in_c_order(name: str, device: Any) -> None:
    host = np.random.default_rng(1).random((5, 1, 4)).astype(np.float32)
    for made in (host, np.asfortranarray(host)):
        x = xp.broadcast_to(xp.asarray(made, device=device), (5, 3, 4))
        for axis in range(3):
            for _ in range(2):
                found = CALLS[name](x, axis)
                assert found.strides == np.empty(found.shape, found.dtype).strides


def test_results_of_fourier_transforms_end_with_the_transformed_axis(device: Any) -> None:
    x = xp.broadcast_to(xp.ones((5, 1, 4), device=device), (5, 3, 4))
    for axis, order in ((0, (0, 1, 2)), (1, (0, 2, 1)), (2, (0, 1, 2))):
        for _ in range(2):
            found = xp.permute_dims(xp.fft.fft(x, axis=axis), order)
            assert found.strides == np.empty(found.shape, found.dtype).strides
