"""cast<To>(From) for every pair, against NumPy and ml_dtypes; narrow floats against a single rounding computed here."""

import functools

import ml_dtypes
import numpy as np
import pytest
from functor_table import cpp
from functors import special_values
from host_compile import COMPILER, PRELUDE, build, call

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]
RNG = np.random.default_rng(3)
DTYPES = {
    **{
        n: np.dtype(n)
        for n in [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "float32",
            "float64",
        ]
    },
    **{n: np.dtype(n) for n in ("complex64", "complex128")},
    **{n: np.dtype(getattr(ml_dtypes, n)) for n in ("bfloat16", "float8_e4m3fn", "float8_e5m2")},
}
INTEGERS = [n for n in DTYPES if "int" in n]
FLOATING = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32", "float64"]
NARROW = FLOATING[:4]


@functools.cache
def library():
    body = '#include "xpops/core/cast.cuh"\n' + PRELUDE
    for a in DTYPES:
        for b in DTYPES:
            body += f"ELEMENTWISE1({a}_to_{b}, cast<{cpp(b)}>, {cpp(a)}, {cpp(b)})\n"
    return build(body)


def cast(x, to):
    return call(library(), f"{x.dtype.name}_to_{to}", DTYPES[to], x)


def values(name):
    dtype = DTYPES[name]
    if name == "bool":
        return np.array([False, True])
    if name in INTEGERS:
        info = np.iinfo(dtype)
        powers = [s * 2**k + d for k in range(64) for s in (1, -1) for d in (-1, 0, 1)]
        # Integers near ties of mantissas of 2 to 10 bits, also at distances around the precision of double.
        ties = [
            (2**p + odd << e - p) + (1 << e - p - 1) for e in range(12, 63) for p in (2, 3, 7, 10) for odd in (0, 1)
        ]
        near = [
            s * (tie + s2 * d) for tie in ties for d in (0, 1, 2**9, 2**10, 2**11) for s in (1, -1) for s2 in (1, -1)
        ]
        edges = [v for v in powers + near if info.min <= v <= info.max]
        return np.concatenate([np.array(edges, dtype), RNG.integers(info.min, info.max, 5000, dtype, True)])
    if name.startswith("complex"):
        part = "float32" if name == "complex64" else "float64"
        re = np.concatenate([special_values(part), RNG.normal(size=50).astype(part)])
        return (re[:, None] + 1j * np.where(np.isfinite(re), re, 0)[None, :]).astype(dtype).ravel()
    if dtype.itemsize <= 2:
        return np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)
    return np.concatenate([special_values(name), *(halfway(name, narrow) for narrow in NARROW)])


def halfway(name, narrow):
    """Every value of a narrow type, the midpoints between neighbours, and the neighbours of those in `name`."""
    dtype = DTYPES[narrow]
    every = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype).astype(np.float64)
    every = np.unique(every[np.isfinite(every)])
    step = np.diff(every)
    middle = np.concatenate([every[:-1] + step / 2, [every[-1] + step[-1] / 2, every[0] - step[0] / 2]])
    middle = np.concatenate([every, middle]).astype(name)
    down, up = (np.nextafter(middle, np.array(s * np.inf, name)) for s in (-1, 1))
    return np.concatenate([middle, down, up])


def round_once(x, to):
    """Round to a narrow type once, by an exact or round-to-odd float32. ml_dtypes rounds float64 and int64 twice."""
    if x.dtype.kind in "iu":
        x = x.astype(np.longdouble)  # exact, because it has 64 bits of mantissa
    with np.errstate(all="ignore"):
        near = x.astype(np.float32)
        zero = np.nextafter(near, np.float32(0))
        near = np.where(np.isfinite(x) & (np.abs(near.astype(x.dtype)) > np.abs(x)), zero, near)
        inexact = (near.astype(x.dtype) != x) & ~np.isnan(x)
        odd = (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
        return odd.astype(DTYPES[to])


def same(got, want):
    u = f"u{got.dtype.itemsize}"
    nan = np.isnan(got) & np.isnan(want)
    return (got.view(u) == want.view(u)) | nan


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("name", DTYPES)
def test_cast(name, to):
    x = values(name)
    source = x.real if name.startswith("complex") and to != "bool" and not to.startswith("complex") else x
    if to in INTEGERS and source.dtype.kind not in "iub":
        info = np.iinfo(to)
        wide = source.astype(np.float64)
        inside = np.isfinite(wide) & (np.trunc(wide) >= float(info.min)) & (np.trunc(wide) < float(info.max) + 1)
        x, source = x[inside], source[inside]
    got = cast(x, to)
    with np.errstate(all="ignore"):
        if to in NARROW and source.dtype.name not in NARROW and source.dtype != bool:
            want = round_once(np.ascontiguousarray(source), to)
        elif to == "bool":
            want = x != 0
        else:
            want = source.astype(DTYPES[to])
    if to in FLOATING:
        ok = same(got, want)
        np.testing.assert_array_equal(np.signbit(got.astype(np.float64)), np.signbit(want.astype(np.float64)))
    elif to.startswith("complex"):
        part = got.real.dtype
        ok = same(got.view(part).reshape(-1, 2), want.view(part).reshape(-1, 2)).all(axis=1)
    else:
        ok = got == want
    assert ok.all(), (x[~ok][:5], got[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("to", NARROW)
def test_narrow_floats_equal_ml_dtypes(to):
    """All float32 bit patterns in steps of a prime, against numpy and ml_dtypes themselves."""
    x = np.arange(0, 2**32, 1021, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        assert same(cast(x, to), x.astype(DTYPES[to])).all()


def test_nan_is_true():
    for name in FLOATING:
        assert cast(np.array([np.nan, 0.0, -0.0], DTYPES[name]), "bool").tolist() == [True, False, False]


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_out_of_range_does_not_trap(name, to):
    """Results out of range are not specified, but elements next to them must be correct. Negative integers wrap."""
    beyond = [np.nan, np.inf, -np.inf, 3e38, -3e38]
    x = np.array([each for pair in zip(range(100, 105), beyond, strict=True) for each in pair] + [-1.0, 0.0])
    with np.errstate(over="ignore"):
        got = cast(x.astype(DTYPES[name]), to)
    assert got.dtype == DTYPES[to]
    assert got[::2].tolist() == [100, 101, 102, 103, 104, np.iinfo(to).max if to.startswith("u") else -1]
    assert got[-1] == 0
