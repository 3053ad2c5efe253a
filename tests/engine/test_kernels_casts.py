"""Casts between all dtypes: every result is the nearest number to the operand, rounded once, ties to even."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers.values import HALVES, assert_bits
from xpops.core import dtypes as dt
from xpops.testing import generator, random_bits, special_values

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose

NARROW = (*HALVES, *dt.FLOAT8)
FLOATS = (*NARROW, dt.float32, dt.float64)
PAIRS = [
    (a, b) for a, b in product(dt.INFO, repeat=2) if a not in dt.COMPLEX_FLOATS or b in (*dt.COMPLEX_FLOATS, dt.bool)
]
long = np.longdouble


def every_value(dtype: Any) -> NDArray:
    return np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)


def halfway(narrow: Any) -> NDArray:
    """Numbers of a narrow dtype, midpoints of neighbours, and numbers just next to them, in float64."""
    numbers = every_value(narrow).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])[:: 37 if narrow in HALVES else 1]
    middle = numbers[:-1] + np.diff(numbers) / 2
    return np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), [2 * numbers[-1]]])


def values(dtype: Any) -> NDArray:
    if dtype in NARROW:
        return every_value(dtype)
    if dtype in dt.COMPLEX_FLOATS:
        return special_values(dtype)
    parts = [special_values(dtype), random_bits(dtype, 2000)]
    if dtype in FLOATS:
        parts += [halfway(narrow).astype(dtype) for narrow in NARROW]
        parts += [(generator(dtype).normal(size=500) * 10.0 ** generator(dtype).integers(-3, 10, 500)).astype(dtype)]
    if dtype.itemsize >= 4 and dtype.kind in "iu":
        # Midpoints of neighbours of a float type, and integers next to them. An intermediate type would round twice.
        powers = [2**k for k in range(25, 8 * dtype.itemsize - 1)]
        beside = [p + p // 2**digits + d for p in powers for digits in (8, 9, 11, 12, 24, 25) for d in (-1, 0, 1)]
        parts.append(np.array(beside, dtype))
    return np.concatenate(parts)


def nearest(host: NDArray, dtype: Any) -> NDArray:
    """`host`, real numbers of any dtype, rounded once. They are exact in long double."""
    f: Any = ml_dtypes.finfo(dtype)
    exact = (
        host.astype(long)
        if host.dtype.kind in "biu" or host.dtype in (dt.float32, dt.float64)
        else host.astype(np.float64).astype(long)
    )
    _, exponent = np.frexp(np.abs(exact))
    unit = np.maximum(np.ldexp(long(f.eps), exponent - 1), long(f.smallest_subnormal))
    with np.errstate(all="ignore"):
        rounded = np.where(np.isfinite(exact), np.rint(exact / unit) * unit, exact)
    beyond = np.abs(rounded) > long(f.max)
    overflow = np.nan if dtype == dt.float8_e4m3fn else np.copysign(np.inf, rounded)  # it has no infinity
    return np.where(beyond, overflow, rounded).astype(np.float64).astype(dtype)


def expected(host: NDArray, dtype: Any) -> NDArray:
    if dtype == dt.bool:
        return host != 0
    if dtype in dt.COMPLEX_FLOATS:
        part = dt.REAL_OF[dtype]
        result = np.zeros(host.shape, dtype)
        is_complex = host.dtype in dt.COMPLEX_FLOATS
        result.real = nearest(host.real if is_complex else host, part)
        result.imag = nearest(host.imag, part) if is_complex else 0
        return result
    if dtype in FLOATS:
        return nearest(host, dtype)
    if host.dtype in FLOATS:
        return host.astype(np.float64).astype(dtype)  # in range, so truncated
    return host.astype(dtype)  # integers wrap


def defined(host: NDArray, dtype: Any) -> NDArray:
    """The elements whose cast is defined: floating-point numbers beyond an integer's range are not."""
    if dtype.kind not in "iu" or host.dtype not in FLOATS:
        return host
    info, wide = np.iinfo(dtype), np.trunc(host.astype(np.float64))
    return host[
        (wide >= float(info.min))
        & (wide <= float(info.max))
        & (wide < 2.0 ** (8 * dtype.itemsize - (dtype.kind == "i")))
    ]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda dtype: dtype.name)
def test_cast(source: Any, target: Any, device: Any) -> None:
    host = defined(values(source), target)
    x = xp.asarray(host, device=device)
    got = xp.astype(x, target)
    assert (got.dtype, got.device) == (target, device)
    if source == target:
        assert_bits(got.to_numpy(), host, host)
    else:
        assert_bits(got.to_numpy(), expected(host, target), host)


@pytest.mark.parametrize("target", [d for d in dt.INFO if d not in (*dt.COMPLEX_FLOATS, dt.bool)], ids=str)
@pytest.mark.parametrize("source", dt.COMPLEX_FLOATS, ids=str)
def test_complex_to_real_is_refused(source: Any, target: Any, device: Any) -> None:
    with pytest.raises(TypeError, match=f"astype: {source} to {target} would drop a part"):
        xp.astype(xp.ones(3, dtype=source, device=device), target)


@pytest.mark.parametrize("dtype", dt.FLOAT8, ids=str)
@pytest.mark.parametrize("name", ["add", "less", "exp", "equal", "negative", "where", "logical_not"])
def test_float8_is_for_storage_and_casts(name: str, dtype: Any, device: Any) -> None:
    x = xp.zeros(3, dtype=dtype, device=device)
    arguments = {
        "exp": (x,),
        "negative": (x,),
        "logical_not": (x,),
        "where": (xp.ones(3, dtype=xp.bool, device=device), x, x),
    }
    with pytest.raises(TypeError, match=f"{name}: .*float8"):
        getattr(xp, name)(*arguments.get(name, (x, x)))


@pytest.mark.parametrize("dtype", dt.INFO, ids=str)
def test_copies_keep_every_bit(dtype: Any, device: Any) -> None:
    host = values(dtype)
    copied = xp.asarray(host, device=device).copy().to_numpy()
    assert np.array_equal(copied.view(np.uint8), host.view(np.uint8))  # payloads of NaNs too


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_python_floats_are_rounded_once(dtype: Any, sign: int, device: Any) -> None:
    f: Any = ml_dtypes.finfo(dtype)
    value = sign * (
        1 + float(f.eps) / 2 + 2.0**-40
    )  # just beyond a midpoint; rounded to float32 first, it would be the midpoint
    expected = np.full(3, sign * (1 + float(f.eps))).astype(dtype)
    assert_bits(xp.full(3, value, dtype=dtype, device=device).to_numpy(), expected)
    if dtype in HALVES:
        assert_bits(xp.add(xp.zeros(3, dtype=dtype, device=device), value).to_numpy(), expected)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_integers_beside_halves_are_rounded_once_before_they_are_added(dtype: Any, device: Any) -> None:
    host = np.array([2049, 4099, 33685505, 257, -(2**31) + 1], np.int32)
    x, zeros = xp.asarray(host, device=device), xp.zeros(host.size, dtype=dtype, device=device)
    assert_bits(xp.add(x, zeros).to_numpy(), nearest(host, dtype), host)
