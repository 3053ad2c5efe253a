"""Methods and attributes that users of NumPy, cupy and torch type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.testing import to_numpy

HOSTS = (
    np.arange(6.0).reshape(2, 3) / 4,
    np.array([[1 + 2j, 3], [0, -1j]]),
    np.array([3, 1, 2], np.int8),
    np.zeros((0, 4), np.float32),
    np.array(2.5),
)
CALLS: list[Callable[[Any], Any]] = [
    lambda x: x.cumsum(),
    lambda x: x.cumsum(0) if x.ndim else x,
    lambda x: x.cumprod(axis=-1) if x.ndim else x,
    lambda x: x.cumsum(dtype="float64") if x.dtype.kind != "c" else x,
    lambda x: x.swapaxes(0, -1) if x.ndim else x,
    lambda x: x.round() if x.dtype.kind == "f" else x,
    lambda x: x.round(1) if x.dtype.kind == "f" else x,
    lambda x: x.dot(2),
    lambda x: x.dot(x.T) if x.ndim == 2 else x,
    lambda x: x.dot(x) if x.ndim == 1 else x,
    lambda x: x.ptp() if not hasattr(x, "__array_interface__") else np.ptp(x),
    lambda x: x.trace() if x.ndim == 2 else x,
    lambda x: x.trace(1) if x.ndim == 2 else x,
    lambda x: x.diagonal(1) if x.ndim == 2 else x,
    lambda x: x.repeat(2),
    lambda x: x.repeat(3, 0) if x.ndim else x,
    lambda x: x.real,
    lambda x: x.imag if x.dtype.kind == "c" else x,
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_what_numpy_computes(number: int, device: Any) -> None:
    call = CALLS[number]
    for host in HOSTS:
        x = xp.asarray(host, device=device)
        if number == 10 and (host.size == 0 or host.dtype.kind == "c"):
            continue
        for _ in range(2):
            found, wanted = call(x), np.asarray(call(host))
            assert (found.shape, found.device) == (wanted.shape, x.device)
            np.testing.assert_allclose(to_numpy(found), wanted, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_attributes(device: Any) -> None:
    for host in HOSTS:
        x = xp.asarray(host, device=device)
        assert (x.itemsize, x.nbytes, x.tobytes()) == (host.itemsize, host.nbytes, host.tobytes())
    x = xp.asarray(HOSTS[0], device=device)
    assert x.strides == (24, 8)
    assert x.T[::-1].strides == (-8, 24)


@pytest.mark.parametrize("device", DEVICES)
def test_parts_of_booleans(device: Any) -> None:
    host = np.array([True, False, True])
    x = xp.asarray(host, device=device)
    for _ in range(2):
        assert x.real is x
        assert x.imag.dtype == host.imag.dtype
        np.testing.assert_array_equal(to_numpy(x.imag), host.imag)


@pytest.mark.parametrize("device", DEVICES)
def test_places_and_dtypes(device: Any) -> None:
    x = xp.asarray(HOSTS[0], device=device, copy=True)
    assert x.to(device) is x
    assert x.detach() is x
    assert x.cpu().device == "cpu"
    assert (x is x.cpu()) == (device == "cpu")
    moved = x.to("cpu", xp.float32)
    assert (moved.device, moved.dtype) == ("cpu", xp.float32)
    assert x.to("float64") is x
    for found in (x.numpy(), x.get()):
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, HOSTS[0])
    x.fill(3)
    np.testing.assert_array_equal(to_numpy(x), np.full((2, 3), 3.0))
    assert xp.asarray([1.0, 2.0, 4.0], device=device).searchsorted(xp.asarray(3.0, device=device)) == 2
    with pytest.raises(TypeError, match="nothing"):
        x.to("nothing")
    if device != "cpu":
        assert x.cpu().cuda(device).device == device
