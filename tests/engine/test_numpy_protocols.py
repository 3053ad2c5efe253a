"""NumPy's functions and ufuncs, called with xpops arrays, give xpops arrays with NumPy's values, on every device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import xpops as xp

X = np.array([[0.5, 2.0, -1.5], [3.0, -0.25, 4.0]])
Y = np.array([[1.0, -2.0, 0.5], [2.0, 8.0, -1.0]])
K = np.array([3, 1, 2])
CALLS: list[Callable[..., Any]] = [
    lambda x, y, k: np.sin(x),
    lambda x, y, k: np.add(x, y),
    lambda x, y, k: np.multiply(2, x),
    lambda x, y, k: np.multiply(np.float64(2.5), x),
    lambda x, y, k: np.matmul(x, y.T),
    lambda x, y, k: np.invert(k),
    lambda x, y, k: np.vecdot(x, y),
    lambda x, y, k: np.add(x, y, casting="same_kind", order="K", subok=True),
    lambda x, y, k: np.add.reduce(x),
    lambda x, y, k: np.add.reduce(x, axis=1, keepdims=True),
    lambda x, y, k: np.multiply.reduce(x, axis=-1),
    lambda x, y, k: np.maximum.reduce(x),
    lambda x, y, k: np.minimum.reduce(x, axis=None),
    lambda x, y, k: np.logical_and.reduce(x > 0),
    lambda x, y, k: np.logical_or.reduce(x > 3, axis=1),
    lambda x, y, k: np.add.accumulate(x),
    lambda x, y, k: np.multiply.accumulate(x, axis=1),
    lambda x, y, k: np.subtract.outer(x, k),
    lambda x, y, k: np.subtract.outer(x, 2.0),
    lambda x, y, k: np.sum(x, axis=0),
    lambda x, y, k: np.mean(x),
    lambda x, y, k: np.std(x, axis=1, ddof=1),
    lambda x, y, k: np.concatenate([x, y], axis=1),
    lambda x, y, k: np.where(x > 0, x, np.array(-7.0)),
    lambda x, y, k: np.where(x > 0)[1],
    lambda x, y, k: np.take(x, np.array([2, 0]), axis=1),
    lambda x, y, k: np.take(x, np.array([[5], [0]])),
    lambda x, y, k: np.take_along_axis(x, np.array([[2, 0], [1, 1]]), axis=1),
    lambda x, y, k: np.broadcast_to(x, (4, 2, 3)),
    lambda x, y, k: np.empty_like(x, shape=(0, 2)),
    lambda x, y, k: np.full_like(x, 3, dtype=np.int32, order="K", subok=False),
    lambda x, y, k: np.einsum("ij,kj->ik", x, y, dtype=np.float64, order="K", casting="safe"),
    lambda x, y, k: np.linalg.norm(x, axis=1),
    lambda x, y, k: np.fft.fft(x),
    lambda x, y, k: np.astype(x, np.float32),
    lambda x, y, k: np.cumulative_sum(k),
    lambda x, y, k: np.unique(k),
    lambda x, y, k: np.diff(x, 0, prepend=1.0),
    lambda x, y, k: sliding_window_view(x, 2, axis=1),
    lambda x, y, k: sliding_window_view(x, (2, 2)),
    lambda x, y, k: sliding_window_view(x[:, ::-1], (2, 1), axis=(1, 0)),
    lambda x, y, k: sliding_window_view(x, (2, 2), axis=(1, 1)),
    lambda x, y, k: np.asarray([1, 2], like=x),
    lambda x, y, k: np.asanyarray([1.5], like=x),
    lambda x, y, k: np.full((2, 2), 5.0, like=x),
    lambda x, y, k: np.arange(3, like=x),
    lambda x, y, k: np.eye(3, like=x),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_values_and_device(number: int, device: Any) -> None:
    call = CALLS[number]
    wanted = call(X, Y, K)
    for _ in range(2):
        got = call(*(xp.asarray(each, device=device) for each in (X, Y, K)))
        assert isinstance(got, xp.Array)
        assert got.device == device
        assert got.dtype == np.asarray(wanted).dtype
        assert got.shape == np.shape(wanted)
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-14)


def test_windows_are_read_only(device: Any) -> None:
    windows = sliding_window_view(xp.asarray(X, device=device), 2, axis=1)
    with pytest.raises(ValueError, match="read-only"):
        windows[0, 0] = 1.0
    with pytest.raises(ValueError, match="accepted: up to 3"):
        sliding_window_view(xp.asarray(X, device=device), 4, axis=1)
    with pytest.raises(ValueError, match="accepted: 2 lengths"):
        sliding_window_view(xp.asarray(X, device=device), 2)


def test_out(device: Any) -> None:
    x, out = xp.asarray(X, device=device), xp.empty((2, 3), device=device)
    assert np.negative(x, out=out) is out
    assert np.sum(x, axis=0, out=out[0]) is not None
    np.testing.assert_allclose(out.to_numpy(), [X.sum(0), -X[1]])


OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x / y,
    lambda x, y: x @ y.T,
    lambda x, y: x < y,
    lambda x, y: x == y,
    lambda x, y: x**2.0,
]


@pytest.mark.parametrize("number", range(len(OPERATORS)))
def test_numpy_on_the_left_of_operators(number: int) -> None:
    compute, y = OPERATORS[number], xp.asarray(Y, device="cpu")
    got = compute(X, y)
    assert isinstance(got, xp.Array) or number == 6
    np.testing.assert_allclose(np.asarray(got), compute(X, Y), rtol=1e-14)


def test_numpy_arrays_are_written_in_place() -> None:
    x = before = X.copy()
    x += xp.asarray(Y, device="cpu")
    assert x is before
    assert np.array_equal(x, X + Y)


def test_functions_that_xpops_lacks(device: Any) -> None:
    x = xp.asarray(X, device=device)
    if device == "cpu":
        assert np.array2string(x) == np.array2string(X)
    else:
        with pytest.raises(xp.HostCopyError):
            np.trim_zeros(x[0])
    assert np.shape(x) == (2, 3)
    for call in (lambda: np.spacing(x), lambda: np.add.at(x, [0], 1.0), lambda: np.frompyfunc(abs, 1, 1)(x)):
        with pytest.raises(TypeError, match="NotImplemented"):
            call()


def test_wrappers_are_refused() -> None:
    x, masked = xp.asarray(X, device="cpu"), np.ma.masked_array(X, X > 1)
    with pytest.raises(TypeError, match="NotImplemented"):
        np.add(masked, x)
    with pytest.raises(TypeError, match="no implementation found"):
        np.concatenate([x, masked])
