"""Dask arrays of xpops blocks, and xarray on them: NumPy's values, blocks of ours, and nothing that a GPU refuses."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.host_arrays import refuse_host_arrays

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
import_module("xpops.dask")

X = np.random.default_rng(0).normal(size=(12, 10))
COMPUTATIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: 2 * x + x / 3,
    "ufunc": np.sin,
    "dask ufunc": lambda x: da.sqrt(abs(x)),
    "comparison": lambda x: x > 0,
    "sum": lambda x: x.sum(),
    "sum of columns": lambda x: x.sum(axis=0),
    "mean": lambda x: x.mean(),
    "mean of rows": lambda x: x.mean(axis=1, keepdims=True),
    "std": lambda x: x.std(axis=0),
    "var": lambda x: x.var(ddof=1),
    "max": lambda x: x.max(axis=0),
    "argmin": lambda x: x.argmin(axis=1),
    "prod": lambda x: x.prod(axis=1),
    "any": lambda x: (x > 1).any(axis=0),
    "nanmean": lambda x: da.nanmean(da.where(x > 0, x, np.nan), axis=0),
    "matmul": lambda x: x @ x.T,
    "tensordot": lambda x: da.tensordot(x, x, axes=([0], [0])),
    "einsum": lambda x: da.einsum("ij,kj->ik", x, x),
    "transpose": lambda x: x.T,
    "rechunk": lambda x: x.rechunk((3, 7)),
    "concatenate": lambda x: da.concatenate([x, x], axis=1),
    "stack": lambda x: da.stack([x, x]),
    "where": lambda x: da.where(x > 0, x, -1.0),
    "cumsum": lambda x: x.cumsum(axis=0),
    "topk": lambda x: da.topk(x, 3, axis=1),
    "slices": lambda x: x[2:8, ::2],
    "indices": lambda x: x[[1, 9, 4]],
    "percentile": lambda x: da.percentile(x[:, 0].rechunk(-1), [20, 50]),
    "median": lambda x: da.median(x, axis=0),
    "ones_like": da.ones_like,
    "empty_like": lambda x: 0 * da.nan_to_num(da.empty_like(x)),
    "astype": lambda x: x.astype("f4"),
    "reshape": lambda x: x.reshape(-1),
    "overlap": lambda x: x.map_overlap(lambda block: 2 * block, depth=1, boundary="reflect"),
    "windows": lambda x: da.lib.stride_tricks.sliding_window_view(x, 3, axis=0).mean(axis=-1),
    "qr": lambda x: abs(da.linalg.qr(x.rechunk((6, 10)))[1]),
    "singular values": lambda x: da.linalg.svd(x.rechunk((6, 10)))[1],
    "cov": da.cov,
}


@pytest.fixture(autouse=True)
def chosen(device: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    refuse_host_arrays(monkeypatch)
    xp.set_default_device(device)
    yield
    xp.set_default_device(None)


@pytest.fixture
def backend(device: Any) -> Iterator[Any]:
    with dask.config.set({"array.backend": "xpops", "scheduler": "sync"}):
        yield device


def check(got: Any, wanted: Any, device: Any) -> None:
    """The result is an array of ours on the device, with NumPy's values, shape and dtype."""
    assert isinstance(got, xp.Array)
    assert got.device == device
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_computations(name: str, device: Any) -> None:
    compute = COMPUTATIONS[name]
    wanted = np.asarray(compute(da.from_array(X, chunks=(5, 4))).compute(scheduler="sync"))
    x = da.from_array(xp.asarray(X, device=device), chunks=(5, 4))
    for _ in range(2):
        lazy = compute(x)
        assert isinstance(lazy._meta, xp.Array)
        blocks = [block.compute(scheduler="sync") for block in lazy.to_delayed().ravel()]
        assert all(isinstance(block, xp.Array) and block.device == device for block in blocks)
        check(lazy.compute(scheduler="sync"), wanted, device)


def test_arrays_of_ours_beside_dask_arrays(device: Any) -> None:
    own = xp.asarray(X, device=device)
    x = da.from_array(own, chunks=(5, 4))
    for mixed in (x + own, own + x, np.add(own, x)):
        assert isinstance(mixed, da.Array)
        check(mixed.compute(scheduler="sync"), X + X, device)


def test_assignment(device: Any) -> None:
    x, wanted = da.from_array(xp.asarray(X, device=device), chunks=(5, 4)), X.copy()
    x[2:4] = 0.0
    x[x > 1] = 1.0
    wanted[2:4] = 0.0
    wanted[wanted > 1] = 1.0
    check(x.compute(scheduler="sync"), wanted, device)


@pytest.mark.parametrize("name", ["zeros", "ones", "full", "arange"])
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_creation(name: str, dtype: str, backend: Any) -> None:
    arguments = {"full": ((4, 3), 7), "arange": (2, 11, 3)}.get(name, ((4, 3),))
    made = getattr(da, name)(*arguments, dtype=dtype, chunks=2)
    assert isinstance(made._meta, xp.Array)
    check(made.compute(), getattr(np, name)(*arguments, dtype=dtype), backend)
    assert da.empty((4, 3), chunks=2).compute().shape == (4, 3)


def test_backends(backend: Any) -> None:
    ours = da.from_array(X, chunks=5).to_backend("xpops")
    check(ours.compute(), X, backend)
    assert ours.to_backend("xpops") is ours
    theirs = ours.to_backend("numpy").compute()
    assert type(theirs) is np.ndarray
    assert np.array_equal(theirs, X)


DRAWS: list[Callable[[Any], Any]] = [
    lambda rng: rng.normal(3.0, 2.0, size=(4000, 3), chunks=(1000, 2)),
    lambda rng: 3 + 2 * rng.standard_normal((4000, 3), chunks=1000),
    lambda rng: rng.poisson(3.0, size=(4000, 3), chunks=1000),
    lambda rng: rng.uniform(0.0, 6.0, size=(4000, 3), chunks=1000),
    lambda rng: rng.hypergeometric(60, 40, 5, size=(4000, 3), chunks=1000),
]


@pytest.mark.parametrize("number", range(len(DRAWS)))
def test_random_numbers(number: int, backend: Any) -> None:
    for make in (da.random.default_rng, da.random.RandomState):
        found = DRAWS[number](make(5)).compute()
        again, other = DRAWS[number](make(5)).compute(), DRAWS[number](make(6)).compute()
        assert isinstance(found, xp.Array)
        assert found.device == backend
        assert found.tolist() == again.tolist() != other.tolist()
        assert abs(found.to_numpy().mean() - 3) < 0.15
        assert not np.array_equal(found.to_numpy()[:1000], found.to_numpy()[1000:2000])  # blocks differ
    assert da.random.random((6, 4), chunks=2).compute().shape == (6, 4)
    integers = da.random.default_rng(5).integers(10, size=100, chunks=30).compute().tolist()
    assert set(integers) <= set(range(10))
    assert sorted(da.random.default_rng(5).permutation(da.arange(9, chunks=3)).compute().tolist()) == list(range(9))


def test_pickled_arrays_register_the_class(device: Any) -> None:
    x = xp.asarray(X, device=device)
    data = pickle.dumps(x)
    check(pickle.loads(data), X, device)
    code = "import pickle, sys; pickle.load(sys.stdin.buffer); assert 'xpops.dask' in sys.modules"
    subprocess.run([sys.executable, "-c", code], input=data, check=True)
    assert dask.sizeof.sizeof(x) == X.nbytes
    assert dask.tokenize.tokenize(x) == dask.tokenize.tokenize(xp.asarray(X, device=device))


def test_workers(device: Any) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        x = da.from_array(xp.asarray(X, device=device), chunks=(5, 4))
        y = x.map_blocks(lambda block: (block + 1).to_device(block.device))
        check(client.compute(y.mean(axis=0)).result(), (X + 1).mean(axis=0), device)
        kinds = client.run(lambda: "xpops.dask" in __import__("sys").modules)
        assert all(kinds.values())
        with dask.config.set({"array.backend": "xpops"}):
            total = da.random.default_rng(3).normal(size=(100, 10), chunks=10).sum()
        assert isinstance(client.compute(total).result(), xp.Array)


def test_the_entry_point_names_the_backend() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["dask.array.backends"]["xpops"].partition(":")
    assert issubclass(getattr(import_module(module), name), da.backends.ArrayBackendEntrypoint)


def test_import_of_xpops_imports_neither_dask_nor_zarr() -> None:
    code = "import sys, xpops, xpops.numpy; assert not {'dask', 'zarr'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


LABELLED: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: x.mean("time"),
    "anomalies": lambda x: x.groupby("time.month") - x.groupby("time.month").mean("time"),
    "resample": lambda x: x.resample(time="QS").mean(),
    "coarsen": lambda x: x.coarsen(lat=2, lon=2).mean(),
    "rolling": lambda x: x.rolling(time=3).mean(),
    "labels": lambda x: x.sel(lat=slice(-30, 30)),
    "where": lambda x: x.where(x > 0).fillna(-1.0),
    "cumsum": lambda x: x.cumsum("time"),
    "shift": lambda x: x.shift(time=1),
    "stack": lambda x: x.stack(place=("lat", "lon")),
    "sin": np.sin,
}


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.filterwarnings("ignore")
def test_xarray(name: str, device: Any) -> None:
    xr = pytest.importorskip("xarray")
    host = np.random.default_rng(1).normal(size=(24, 6, 8))
    host[3, 2, 1] = np.nan
    time = (np.datetime64("2020-01", "M") + np.arange(24)).astype("datetime64[ns]")

    def labelled(values: Any) -> Any:
        coords = {"time": time, "lat": np.linspace(-50, 50, 6)}
        return xr.DataArray(values, dims=("time", "lat", "lon"), coords=coords)

    wanted = LABELLED[name](labelled(host)).values
    lazy = LABELLED[name](labelled(da.from_array(xp.asarray(host, device=device), chunks=(6, 3, 8))))
    check(lazy.data.compute(scheduler="sync"), wanted, device)
