"""Every elementwise function against plain NumPy, on every device.

On the CPU NumPy computes, or the compiled core.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xpops as xp
from conformance.references import reference_of
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from tests.helpers.rows import STANDARD, accepts
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator
from xpops.testing.strategies import numpy_arrays

devices = st.sampled_from(DEVICES)
ROWS = [op for op in STANDARD if op.arity < 3]
HALVES = (xp.float16, xp.bfloat16)
UNITS = 8


def expected_of(op: Operator, *hosts: Any) -> Any:
    """NumPy's result, computed in float32 for 16-bit floats, in float64 for integers of floating-point functions, and
    in long double for complex numbers, because NumPy's own sign and pow lose digits.
    """
    dtype = hosts[0].dtype
    loop = (
        np.dtype(np.float32)
        if dtype in HALVES
        else np.dtype(np.float64)
        if op.floating and dtype.kind in "biu"
        else dtype
    )
    loop = np.dtype(bool) if op.logical else loop
    function = reference_of(op)
    with np.errstate(all="ignore"):
        found = np.asarray(function(*(host.astype(np.clongdouble if loop.kind == "c" else loop) for host in hosts)))
        if op.result == "bool":
            return found
        return (
            found.astype(dtype)
            if dtype in HALVES
            else found.astype(dt.REAL_OF.get(dtype, loop) if op.result == "real" else loop)
        )


def assert_matches(op: Operator, x: Any, expected: Any, complex_: bool) -> None:
    if op.name in ("maximum", "minimum"):
        # The standard does not say which of +0 and -0 is larger, and NumPy's result depends on the position.
        assert (x.dtype, x.shape) == (expected.dtype, expected.shape)
        kind = expected.dtype if expected.dtype.kind in "iu" else np.float64
        np.testing.assert_array_equal(x.to_numpy().astype(kind), expected.astype(kind))
        return
    exact = op.ulps[0] <= 0.5 or op.name == "floor_divide"
    if expected.dtype.kind in "biu" or (exact and not complex_):
        assert_same(x, expected)
        return
    assert (x.dtype, x.shape) == (expected.dtype, expected.shape)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    got, wanted = x.to_numpy().astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        info = ml_dtypes.finfo(expected.dtype)
        # exp(y log x) loses a bit for each doubling of |y log x|, which is up to 2000 here.
        units = 512 * UNITS if complex_ and op.name == "pow" else UNITS
        error = units * (float(info.eps) * np.abs(wanted) + float(info.smallest_subnormal))
        if complex_ and op.name == "pow":  # 1 / x**n is 0 where x**n overflows, as NumPy's
            error += float(info.tiny)
        same = np.ones(wanted.shape, bool)
        for part, right in ((got.real, wanted.real), (got.imag, wanted.imag)):
            near = np.abs(part - right) <= np.where(np.isfinite(error), error, units * float(info.eps) * np.abs(right))
            same &= (part == right) | (np.isnan(part) & np.isnan(right)) | (np.isfinite(right) & near)
    assert same.all(), f"{op.name}: {got[~same]} is not {wanted[~same]}"


@pytest.mark.parametrize("op", ROWS, ids=str)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), device=devices)
def test_is_numpys(op: Operator, data: st.DataObject, device: Any) -> None:
    dtype = data.draw(st.sampled_from([dtype for dtype in dt.INFO if accepts(op, dtype)]))
    if op.name == "nextafter" and dtype in HALVES:
        return  # tested below, by hand
    shape, *more = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4)).input_shapes
    hosts = [data.draw(numpy_arrays(dtype, st.just(s))) for s in (shape, *more)[: op.arity]]
    if op.domain.endswith("shift"):
        hosts[1] = (np.abs(hosts[1].astype(np.float64)) % 70).astype(dtype)
    if dtype in dt.COMPLEX_FLOATS and op.header != "comparison":
        # Infinities and NaN are tested by the tables of special cases.
        hosts = [np.where(np.isfinite(host) & (np.abs(host) < 50), host, 1 + 0.5j).astype(dtype) for host in hosts]
        if op.name == "log1p":  # NumPy adds 1 first, and loses all digits near -1
            hosts = [np.where(np.abs(1 + host) < 0.01, 1 + 0.5j, host).astype(dtype) for host in hosts]
        if op.name in ("divide", "reciprocal"):
            # NumPy's quotient by a subnormal overflows, and C does not specify the NaN of a quotient by 0.
            tiny = np.finfo(dtype).tiny
            hosts = [np.where(np.abs(host) < tiny, tiny, host).astype(dtype) for host in hosts]
    if (
        op.name == "pow" and dtype in dt.REAL_FLOATS
    ):  # for 0.5 NumPy computes the square root, which differs at -inf and -0
        hosts[0] = np.where(np.signbit(hosts[0]) & (hosts[1] == 0.5), np.ones_like(hosts[0]), hosts[0]).astype(dtype)
    expected = expected_of(op, *hosts)
    arrays = [xp.asarray(host, device=device) for host in hosts]
    function = getattr(xp, op.name)
    result = function(*arrays)
    assert_matches(op, result, expected, dtype in dt.COMPLEX_FLOATS)
    out = xp.empty(result.shape, dtype=result.dtype, device=device)
    assert function(*arrays, out=out) is out
    assert_same(out, result.to_numpy())


@pytest.mark.parametrize("op", [op for op in ROWS if op.arity == 2], ids=str)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), device=devices)
def test_scalars_on_either_side(op: Operator, data: st.DataObject, device: Any) -> None:
    dtype = data.draw(st.sampled_from(sorted(dt.CATEGORIES[op.accepts], key=str)))
    value = data.draw(numpy_arrays(dtype, st.just(()))).item()
    host = data.draw(numpy_arrays(dtype, st.just((3,))))
    if op.domain.endswith("shift"):
        host, value = host % 7, abs(value) % 7
    x, y, function = (
        xp.asarray(host, device=device),
        xp.full((), value, dtype=dtype, device=device),
        getattr(xp, op.name),
    )
    assert_same(function(x, value), function(x, y).to_numpy())
    assert_same(function(value, x), function(y, x).to_numpy())


@given(st.data(), st.sampled_from(sorted(dt.CATEGORIES["real-valued"], key=str)), devices)
def test_clip(data: st.DataObject, dtype: Any, device: Any) -> None:
    host, low, high = (data.draw(numpy_arrays(dtype, st.just(shape))) for shape in ((2, 3), (3,), (2, 1)))
    x = xp.asarray(host, device=device)
    ends = [data.draw(st.sampled_from([None, end])) for end in (low, high)]
    with np.errstate(all="ignore"):
        expected = host if ends[0] is None else np.maximum(host, ends[0])
        expected = expected if ends[1] is None else np.minimum(expected, ends[1])
    arrays = [None if end is None else xp.asarray(end, device=device) for end in ends]
    result = xp.clip(x, *arrays)
    assert result is not x
    # If +0 and -0 meet, the sign of the result is not specified. Adding 0 removes it.
    assert_same(result + xp.zeros((), dtype=dtype, device=device), (expected + np.zeros((), dtype)).astype(dtype))
    assert_same(
        xp.clip(x, max=xp.asarray(high, device=device)), xp.minimum(x, xp.asarray(high, device=device)).to_numpy()
    )


@given(st.data(), st.sampled_from(sorted(dt.CATEGORIES["arithmetic"], key=str)), devices)
def test_where(data: st.DataObject, dtype: Any, device: Any) -> None:
    mask = data.draw(numpy_arrays(xp.bool, st.just((2, 3))))
    a, b = (data.draw(numpy_arrays(dtype, st.just(shape))) for shape in ((3,), (2, 1)))
    condition, x1, x2 = (xp.asarray(host, device=device) for host in (mask, a, b))
    assert_same(xp.where(condition, x1, x2), np.where(mask, a, b))
    assert_same(xp.where(condition, x1, False), np.where(mask, a, np.zeros((), dtype)))


def test_nextafter_of_halves(device: Any) -> None:
    for dtype in HALVES:
        x = xp.asarray([1.0, -1.0, 0.0], dtype=dtype, device=device)
        step = float(ml_dtypes.finfo(dtype).eps)
        smallest = float(ml_dtypes.finfo(dtype).smallest_subnormal)
        expected = np.array([1 + step, -1 + step / 2, smallest], dtype)
        assert_same(xp.nextafter(x, xp.full(3, 2.0, dtype=dtype, device=device)), expected)


INF, NAN = np.inf, np.nan
SPECIAL = [
    ("expm1", complex(-0.0, 0.0), complex(0.0, 0.0)), ("expm1", complex(INF, 0.0), complex(INF, 0.0)),
    ("expm1", complex(-INF, INF), complex(-1.0, 0.0)), ("expm1", complex(-INF, NAN), complex(-1.0, 0.0)),
    ("expm1", complex(INF, INF), complex(INF, NAN)), ("expm1", complex(NAN, 0.0), complex(NAN, 0.0)),
    ("expm1", complex(NAN, 1.0), complex(NAN, NAN)), ("tanh", complex(INF, 2.0), complex(1.0, 0.0)),
    ("tanh", complex(INF, 0.5), complex(1.0, 0.0)), ("tanh", complex(0.0, INF), complex(0.0, NAN)),
    ("sign", complex(INF, NAN), complex(NAN, NAN)), ("sign", complex(-0.0, -0.0), complex(0.0, 0.0)),
    ("sign", -0.0, 0.0), ("round", -0.4, -0.0), ("round", 2.5, 2.0), ("sqrt", -0.0, -0.0), ("log1p", -0.0, -0.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "expected"), SPECIAL)
def test_special_cases(name: str, x: Any, expected: Any, device: Any) -> None:
    got = getattr(xp, name)(xp.asarray(x, device=device)).item()
    for part, wanted in ((got.real, expected.real), (got.imag, expected.imag)):
        assert np.isnan(part) if np.isnan(wanted) else part == wanted
        if name != "expm1" or not np.isinf(complex(x).imag):  # there the sign is not specified
            assert np.isnan(wanted) or np.signbit(part) == np.signbit(wanted)


@pytest.mark.parametrize(
    ("x1", "x2", "expected"),
    [(INF, 2.0, INF), (INF, -2.0, -INF), (5.0, -INF, -0.0), (-5.0, INF, -0.0), (5.0, INF, 0.0), (-0.0, 2.0, -0.0)],
)
def test_floor_divide_at_infinity(x1: float, x2: float, expected: float, device: Any) -> None:
    got = xp.floor_divide(xp.asarray(x1, device=device), x2).item()
    assert (got, np.signbit(got)) == (expected, np.signbit(expected))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.bitwise_and(x, 1.5), TypeError, "bitwise_and: dtype float32"),
        (lambda x: xp.less(xp.astype(x, xp.complex64), 1), TypeError, "less: dtype complex64"),
        (lambda x: xp.add(xp.astype(x, xp.float8_e5m2), x), TypeError, "add: float8_e5m2 and float32"),
        (lambda x: xp.add(x, xp.zeros(4)), ValueError, r"add: shapes \(3,\), \(4,\) cannot be broadcast"),
        (lambda x: xp.add(x, [1, 2, 3]), TypeError, "add: x2 is a list"),
        (lambda x: xp.add(1, 2), TypeError, "add: every operand is a Python scalar"),
        (lambda x: xp.add(xp.astype(x, xp.int8), 128), OverflowError, "add: x2 is 128, which int8 cannot hold"),
        (lambda x: xp.add(x, 1, out=xp.zeros(4, dtype=xp.float32)), ValueError, "add: out has shape"),
        (lambda x: xp.add(x, 1, out=xp.zeros(3, dtype=xp.int32)), ValueError, "add: out has shape .* dtype int32"),
        (lambda x: xp.add(x, 1, out=xp.broadcast_to(x[0], (3,))), ValueError, "add: out is read-only"),
        (lambda x: xp.where(x, x, x), TypeError, "where: the condition has dtype float32"),
        (lambda x: xp.clip(x, xp.zeros(3)), TypeError, "clip: x has dtype float32, to which min does not promote"),
        (lambda x: xp.clip(xp.astype(x, xp.int8), 0, 1.5), TypeError, "clip: x has dtype int8, to which max"),
        (lambda x: xp.clip(x > 0, False, True), TypeError, "clip"),
        (lambda x: xp.abs("text"), TypeError, "abs: x is a str"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    xp.set_default_device("cpu")
    with pytest.raises(error, match=message):
        call(xp.ones(3, dtype=xp.float32))


def test_integers_beyond_float64(device: Any) -> None:
    x = xp.ones(3, dtype=xp.float32, device=device)
    for call in (
        lambda: x * 10**400,
        lambda: xp.maximum(-(10**400), x),
        lambda: xp.fuse(lambda x, n: x + n)(x, 10**400),
    ):
        with pytest.raises(OverflowError):
            call()
    assert (x * 2).tolist() == [2.0] * 3
