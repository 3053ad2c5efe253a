"""zarr with xpops buffers: selections are xpops arrays on the default device, and arrays of ours are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.host_arrays import refuse_host_arrays

zarr = pytest.importorskip("zarr")
NDBuffer = pytest.importorskip("xpops.zarr").NDBuffer

FORMATS = {
    "v2": {"zarr_format": 2},
    "v3": {},
    "not compressed": {"compressors": None},
    "shards": {"shards": (6, 6)},
}
KEYS: list[Any] = [..., slice(None), (slice(2, 11), slice(1, 8, 3)), (3, slice(None)), (slice(4, 4), 0)]


@pytest.fixture(autouse=True)
def buffers(device: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    refuse_host_arrays(monkeypatch)
    xp.set_default_device(device)
    with zarr.config.set({"ndbuffer": "xpops.zarr.NDBuffer"}):
        yield
    xp.set_default_device(None)


def check(got: Any, wanted: Any, device: Any) -> None:
    assert isinstance(got, xp.Array)
    assert got.device == device
    assert got.dtype == wanted.dtype.newbyteorder("=")
    assert np.array_equal(got.to_numpy(), wanted)


@pytest.mark.parametrize("dtype", ["f8", ">f4", "i2", "c16", "?"])
@pytest.mark.parametrize("name", FORMATS)
def test_selections(name: str, dtype: str, device: Any) -> None:
    host = (3 * np.random.default_rng(0).normal(size=(13, 9))).astype(dtype)
    native = host.astype(host.dtype.newbyteorder("="))
    z = zarr.create_array({}, shape=host.shape, chunks=(3, 3), dtype=host.dtype, fill_value=0, **FORMATS[name])
    check(z[:4], np.zeros((4, 9), dtype), device)  # no chunk is written yet
    z[:] = xp.asarray(native, device=device)
    z[2:5, 1] = xp.asarray(native[4:7, 1], device=device)
    z[5] = 1
    host[2:5, 1], host[5] = host[4:7, 1].copy(), 1
    for key in KEYS:
        check(z[key], host[key], device)
    check(z.oindex[[1, 5], [2, 0]], host[np.ix_([1, 5], [2, 0])], device)
    assert z[2, 1] == host[2, 1]
    with zarr.config.set({"ndbuffer": "zarr.buffer.cpu.NDBuffer"}):
        assert np.array_equal(z[:], host)


def test_dtypes_that_xpops_lacks() -> None:
    host = np.datetime64("2020-01-01", "ns") + np.arange(8)
    z = zarr.create_array({}, shape=host.shape, chunks=3, dtype=host.dtype)
    z[:] = host
    assert type(z[2:5]) is np.ndarray
    assert np.array_equal(z[2:5], host[2:5])


def test_buffers(device: Any) -> None:
    out = NDBuffer(xp.zeros((2, 3), device=device))
    z = zarr.create_array({}, shape=(2, 3), chunks=(1, 3), dtype="f8")
    z[:] = xp.ones((2, 3), device=device)
    z.get_basic_selection(..., out=out)
    assert out.as_numpy_array().tolist() == [[1.0] * 3] * 2
    check(out[0].as_ndarray_like(), np.ones(3), device)
    host = NDBuffer.from_ndarray_like(np.zeros((2, 3)))
    host[1] = out[0]
    assert host.as_numpy_array().tolist() == [[0.0] * 3, [1.0] * 3]
