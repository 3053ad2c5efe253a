"""Methods of arrays beyond the standard, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.oracle import assert_same

HOST = np.array([[3.0, 1.0], [2.0, 2.5]])


@pytest.mark.parametrize("name", ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions(name: str, axis: Any, device: Any) -> None:
    x = xp.asarray(HOST, device=device)
    method, wanted = getattr(x, name), np.asarray(getattr(HOST, name)(axis=axis))
    for got in (method(axis=axis), method(axis), getattr(xp, name)(x, axis=axis)):
        assert_same(got, wanted)
    assert_same(method(axis=axis, keepdims=True), getattr(np, name)(HOST, axis=axis, keepdims=True))


def test_reading_on_the_host(device: Any) -> None:
    x = xp.asarray(HOST, device=device)
    assert x.tolist() == HOST.tolist()
    assert x[0, 0].item() == 3.0
    assert np.array_equal(x.to_numpy(), HOST)
    copied = x.copy()
    copied[0, 0] = 9
    assert float(x[0, 0]) == 3


def test_shapes(device: Any) -> None:
    x = xp.asarray(HOST.copy(), device=device)
    assert_same(x.mT.flatten(), HOST.T.flatten())
    assert_same(x.mT.ravel(), HOST.T.ravel())
    assert_same(x.reshape(4), HOST.reshape(4))
    assert_same(x.transpose(), HOST.T)
    line, copied = x.ravel(), x.flatten()
    x[0, 0] = 7
    assert (float(line[0]), float(copied[0])) == (7, 3)
    thin = xp.zeros((1, 3, 1), device=device)
    assert thin.squeeze().shape == (3,)
    assert thin.squeeze(0).shape == (3, 1)
    assert thin.squeeze(axis=(0, 2)).shape == (3,)
    assert xp.zeros((), device=device).squeeze().shape == ()


def test_elements(device: Any) -> None:
    x = xp.asarray(HOST, device=device)
    assert_same(x.clip(1.5, 2.5), HOST.clip(1.5, 2.5))
    assert_same(x.argsort(axis=0), HOST.argsort(axis=0))
    assert_same(x.take(xp.asarray([1, 0], device=device), axis=1), HOST.take([1, 0], axis=1))
    assert_same(x.astype(xp.float32), HOST.astype(np.float32))
    assert_same(xp.asarray([1j, 2], device=device).conj(), np.array([1j, 2]).conj())
    for got, wanted in zip((x > 2).nonzero(), (HOST > 2).nonzero(), strict=True):
        assert_same(got, wanted)


def test_the_most_dimensions(device: Any) -> None:
    most = xp.__array_namespace_info__().capabilities()["max dimensions"]
    x = xp.ones((2, *(1,) * (most - 2), 3), device=device)
    assert x.ndim == most
    assert float(xp.sum(x + 1)) == 12


def test_one_slice(device: Any) -> None:
    host = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    for x, wanted in ((xp.asarray(host, device=device), host), (xp.asarray(host, device=device).mT, host.mT)):
        for axis in (0, 1, -1):
            for index in range(-wanted.shape[axis], wanted.shape[axis]):
                assert_same(xp.take(x, index, axis=axis), wanted.take(index, axis=axis))
    assert_same(xp.take(xp.asarray([5, 6], device=device), 1), np.array(6))
    assert xp.take(xp.zeros((0, 2), device=device), 1, axis=1).shape == (0,)
    with pytest.raises(IndexError, match=r"^take: indices is 2; accepted: -2 to 1$"):
        xp.take(xp.zeros(2, device=device), 2)
    with pytest.raises(ValueError, match=r"^take: axis is None, and x has 2 axes"):
        xp.take(xp.zeros((2, 2), device=device), 0)
