"""xarray on xpops arrays computes the same as on NumPy arrays, including NaN-skipping reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr

import xpops as xp

HOST = np.array([[1.0, 2.0, np.nan, 4.0], [5.0, np.nan, np.nan, 8.0], [9.0, 10.0, np.nan, 12.0]])


def wrapped(array: Any) -> xr.DataArray:
    return xr.DataArray(array, dims=("x", "y"), coords={"x": [10, 20, 30]}, name="values")


def check(compute: Callable[[xr.DataArray], xr.DataArray]) -> None:
    """The result holds an xpops array, and has the values of NumPy's result."""
    got, wanted = compute(wrapped(xp.asarray(HOST))), compute(wrapped(HOST))
    assert isinstance(got.data, xp.Array)
    assert got.dims == wanted.dims
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got.data.to_numpy(), wanted.values, rtol=1e-14)


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "prod", "std", "var", "count"])
@pytest.mark.parametrize("dim", [None, "x", "y"])
def test_reductions_that_skip_nans(name: str, dim: str | None) -> None:
    check(lambda x: getattr(x, name)(dim))


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "prod", "std", "var"])
@pytest.mark.parametrize("dim", [None, "x", ("x", "y")])
def test_reductions_that_do_not(name: str, dim: Any) -> None:
    check(lambda x: getattr(x, name)(dim, skipna=False))


@pytest.mark.parametrize("name", ["median", "cumsum", "cumprod"])
def test_more_reductions(name: str) -> None:
    check(lambda x: getattr(x, name)("x"))


@pytest.mark.parametrize("name", ["std", "var"])
def test_degrees_of_freedom(name: str) -> None:
    check(lambda x: getattr(x, name)("x", ddof=1))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x + 7,
        lambda x: x * x.mean("x"),
        lambda x: x.astype("float32"),
        lambda x: x[1:, ::2],
        lambda x: x.isel(y=2),
        lambda x: x.sel(x=20),
        lambda x: x.isel(x=[2, 0]),
        lambda x: x.transpose(),
        lambda x: x.stack(z=("x", "y")).unstack(),
        lambda x: x.where(x > 4),
        lambda x: x.fillna(0.0),
        lambda x: xr.where(x.isnull(), -1.0, x),
        lambda x: xr.concat([x, x + 1], "x"),
        lambda x: x.expand_dims("t"),
        lambda x: x.shift(x=1),
        lambda x: x.roll(x=1),
        lambda x: x.clip(2.0, 8.0),
        lambda x: x.notnull().any("x") * 1.0,
        lambda x: xr.ones_like(x),
        lambda x: x.pad(y=1),
        lambda x: x.fillna(0.0).dot(x.fillna(1.0)),
    ],
    ids=lambda compute: None,
)
def test_computations(compute: Callable[[xr.DataArray], xr.DataArray]) -> None:
    check(compute)


def test_datasets() -> None:
    dataset = xr.Dataset({"a": wrapped(xp.asarray(HOST))})
    assert isinstance((dataset + 1).sum()["a"].data, xp.Array)
