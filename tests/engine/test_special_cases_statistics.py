"""Infinities, NaNs, subnormal numbers and empty arrays in reductions and scans, at any position, on every device."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers.values import assert_bits
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]
floats = pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's warnings about special values

LENGTHS = (2, 33, 5001)  # lines that one thread, one block, or several blocks reduce


def lines(dtype: Any, length: int, filler: float) -> NDArray:
    """Every pair of special numbers at the ends of a line, between fillers."""
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    pairs = np.array(list(product([np.inf, -np.inf, np.nan, tiny, -0.0, 1.0], repeat=2)), np.float64).astype(dtype)
    host = np.full((len(pairs), length), filler, dtype)
    host[:, 0], host[:, -1] = pairs.T
    return host


def both_ways(name: str, host: NDArray, device: Any, **options: Any) -> list[NDArray]:
    """The results of a function along rows, and along columns."""
    rows, columns = (xp.asarray(each, device=device) for each in (host, np.ascontiguousarray(host.T)))
    function = getattr(xp, name)
    found = function(columns, axis=0, **options)
    return [function(rows, axis=1, **options).to_numpy(), found.to_numpy().T]


@floats
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_pairs(name: str, length: int, dtype: Any, device: Any) -> None:
    filler = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}[name]
    host = lines(dtype, length, filler)
    wide = host.astype(np.longdouble if dtype == dt.float64 else np.float64)
    wanted = getattr(np, name)(wide, axis=1).astype(dtype)
    for got in both_ways(name, host, device):
        np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


@floats
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_pairs_up_to_each(name: str, length: int, dtype: Any, device: Any) -> None:
    host = lines(dtype, length, float(name == "cumulative_prod"))
    function = np.cumsum if name == "cumulative_sum" else np.cumprod
    wanted = function(host.astype(np.float64), axis=1).astype(dtype)
    for got in both_ways(name, host, device):
        np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


@floats
@pytest.mark.parametrize("length", LENGTHS)
def test_moments(length: int, dtype: Any, device: Any) -> None:
    """An infinity makes the mean infinite and the deviations NaN."""
    host = lines(dtype, length, 0.0)
    total = np.sum(host.astype(np.float64), axis=1)
    special = ~np.isfinite(total)
    for got in both_ways("mean", host, device):
        np.testing.assert_array_equal(got.astype(np.float64)[special], total[special])
    for name, correction in product(("var", "std"), (0, 1)):
        for got in both_ways(name, host, device, correction=correction):
            assert np.isnan(got.astype(np.float64)[special]).all()
            assert np.isfinite(got.astype(np.float64)[~special]).all()


@floats
@pytest.mark.parametrize("length", LENGTHS)
def test_as_many_corrections_as_elements(length: int, dtype: Any, device: Any) -> None:
    host = np.resize([1, 2, 4], (3, length)).astype(dtype)
    for name, correction in product(("var", "std"), (length, length + 0.5)):
        for got in both_ways(name, host, device, correction=correction):
            assert np.isnan(got.astype(np.float64)).all()


@pytest.mark.parametrize("dtype", dt.COMPLEX_FLOATS, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_parts_of_complex_sums_are_apart(length: int, dtype: Any, device: Any) -> None:
    part = lines(dt.REAL_OF[dtype], length, 0.0)
    host = np.empty(part.shape, dtype)
    host.real, host.imag = part, np.roll(part, 1, axis=0)
    for name in ("sum", "mean", "cumulative_sum"):
        for got in both_ways(name, host, device):
            for mine, theirs in ((got.real, host.real), (got.imag, host.imag)):
                wanted = np.cumsum(theirs, axis=1) if name == "cumulative_sum" else np.sum(theirs, axis=1)
                special = ~np.isfinite(wanted)
                np.testing.assert_array_equal(mine[special], wanted[special])
                assert np.isfinite(mine[~special]).all()


@floats
def test_subnormal_numbers_add_up(dtype: Any, device: Any) -> None:
    tiny = ml_dtypes.finfo(dtype).smallest_subnormal
    count = 1 << (ml_dtypes.finfo(dtype).nmant - 1)
    host = np.full((2, min(count, 4096)), tiny, dtype)
    wanted = np.full(2, float(tiny) * host.shape[1]).astype(dtype)
    for got in both_ways("sum", host, device):
        assert_bits(got, wanted)
    for got in both_ways("cumulative_sum", host, device):
        assert_bits(np.ascontiguousarray(got[:, -1]), wanted)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "count_nonzero", "cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", [dt.bool, dt.int8, dt.float32, dt.complex64], ids=str)
def test_nothing_along_an_axis(name: str, dtype: Any, device: Any) -> None:
    theirs = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod}.get(name) or getattr(np, name)
    for shape, axis in product([(3, 0), (0, 3), (2, 0, 4)], (0, 1)):
        got = getattr(xp, name)(xp.zeros(shape, dtype=dtype, device=device), axis=axis)
        np.testing.assert_array_equal(got.to_numpy(), theirs(np.zeros(shape, dtype), axis=axis))
