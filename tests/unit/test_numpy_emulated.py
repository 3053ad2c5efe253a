"""Kernels of the rows that only `xpops.numpy` has, without a GPU: special values, and remainders of huge quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import xpops as xp
from conformance.references import reference_of
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.rows import function_of
from tests.helpers.values import WIDE, assert_bits, binary_values, computed, equal_bits, report
from xpops.api import fusion
from xpops.core import dtypes as dt
from xpops.numpy.arithmetic import _float_power
from xpops.numpy.elementwise import _converting
from xpops.numpy.rounding import _frexp, _scaled
from xpops.ops.elementwise import OF_NUMPY, OPERATORS
from xpops.ops.operator import Operator
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]
INTEGERS = dt.SIGNED_INTEGERS + dt.UNSIGNED_INTEGERS
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references meet NaN and overflow on purpose


def alone(op: Operator, *operands: Any) -> NDArray:
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in operands)
    engine, signature = EmulatedEngine(), signature_of(op, specs)
    out = result_layout(signature, specs, next(spec.device for spec in specs if not isinstance(spec, type)))
    return run(engine, (out,), engine.elementwise(op, signature, specs, out), *operands)[0]


def fused(function: Any, *operands: Any) -> tuple[NDArray, ...]:
    """The results of a fused function, which is one kernel."""
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in operands)
    made = function if isinstance(function, fusion.Fused) else fusion.fuse(function)
    results, kernel = fusion._plan(made, EmulatedEngine(), specs)
    return tuple(run(EmulatedEngine(), results, kernel, *operands))


def check(op: Operator, got: NDArray, *hosts: NDArray) -> None:
    if op.error(got.dtype) > 0.5:
        wide = [x.astype(WIDE[got.dtype]) for x in hosts]
        wanted = reference_of(op)(*wide)
        larger = np.maximum(*map(np.abs, wide))  # where the terms cancel, the error is one of the larger operand
        near = np.abs(got.astype(wanted.dtype) - wanted) <= 2 * np.finfo(computed(got.dtype)).eps * larger
        report((ulp_error(got, wanted) <= 2) | near, got, wanted, *hosts)
        return
    wanted = np.asarray(reference_of(op)(*(x.astype(computed(x.dtype)) for x in hosts))).astype(got.dtype)
    zeros = (got == 0) & (wanted == 0) if op.name in ("fmax", "fmin") else np.zeros(got.shape, bool)
    report(equal_bits(got, wanted) | zeros, got, wanted, *hosts)


@pytest.mark.parametrize(
    ("op", "dtype"),
    [pytest.param(op, x, id=f"{op.name}-{x}") for op in OF_NUMPY for x in dt.INFO if x in dt.CATEGORIES[op.accepts]],
)
def test_values(op: Operator, dtype: Any) -> None:
    """Of all pairs of special values, and of random bits; alone, fused, and with the operands in turn."""
    pair = binary_values(dtype, 500)
    for hosts in (pair, pair[::-1]):
        got = alone(op, *hosts[: op.arity])
        check(op, got, *hosts[: op.arity])
        assert_bits(fused(function_of(op), *hosts[: op.arity])[0], got)


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
def test_zeros_of_both_signs(name: str, dtype: Any) -> None:
    x, y = np.array([0.0, -0.0, -0.0, 0.0]).astype(dtype), np.array([-0.0, 0.0, -0.0, 0.0]).astype(dtype)
    signs = np.signbit(alone(OPERATORS[name], x, y).astype(np.float32)).tolist()
    assert signs == ([False, False, True, False] if name == "fmax" else [True, True, True, False])


FLOATS = {np.float32: st.floats(width=32), np.float64: st.floats()}


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_random_remainders(dtype: Any, data: st.DataObject) -> None:
    shape = data.draw(array_shapes(max_dims=3, max_side=7))
    x, y = (data.draw(arrays(dtype, shape, elements=FLOATS[dtype])) for _ in range(2))
    assert_bits(alone(OPERATORS["fmod"], x, y).ravel(), np.fmod(x, y).ravel(), x.ravel(), y.ravel())


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_of_quotients_of_every_size(dtype: Any) -> None:
    """Multiples of the divisor and their neighbours, and divisors that are subnormal."""
    random, limits = np.random.default_rng(3), np.finfo(dtype)
    y = np.concatenate([random.uniform(1, 2, 60), 2 - limits.eps * np.arange(4)]).astype(dtype)
    y = np.concatenate([y * dtype(2.0) ** power for power in (limits.minexp - limits.nmant + 3, limits.minexp, -30, 0)])
    for power in range(0, limits.maxexp - limits.minexp, 19):
        x = np.ldexp(np.round(random.uniform(1, 2, y.size) * 64).astype(dtype) * y, power)
        x = np.where(np.isfinite(x), x, limits.max)
        for near in (x, np.nextafter(x, dtype(0)), -np.nextafter(x, limits.max)):
            assert_bits(alone(OPERATORS["fmod"], near, y), np.fmod(near, y), near, y)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_the_ends_of_integers(dtype: Any) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    ends = np.array([low, low + 1, 0, 1, 2, 3, 6, high - 1, high, high // 2 + 1], dtype)
    ends = np.concatenate([ends, -ends])
    x, y = (each.ravel() for each in np.meshgrid(ends, ends))
    for name in ("fmod", "gcd", "lcm"):
        assert_bits(alone(OPERATORS[name], x, y), getattr(np, name)(x, y), x, y)


@pytest.mark.parametrize("powers", [np.int8, np.int64, np.uint64])
@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
def test_ldexp(dtype: Any, powers: Any) -> None:
    """Powers that make results subnormal, overflow, or are beyond 32 bits."""
    x = binary_values(dtype, 800)[0]
    random, low = np.random.default_rng(1), np.iinfo(powers).min
    n = np.concatenate([random.integers(max(low, -limit), min(limit, 120), x.size) for limit in (5, 60, 300, 2200)])
    ends = [low, np.iinfo(powers).max, 0, *(() if powers == np.int8 else (257, 2**31, 2**32 + 1))]
    x, n = np.concatenate([np.resize(x, n.size), np.repeat(x, len(ends))]), np.concatenate([n, np.tile(ends, x.size)])
    n = n.astype(powers)
    beyond = np.clip(n.astype(np.float64), -5000, 5000).astype(np.int32)
    wanted = np.ldexp(x.astype(WIDE[dtype]), beyond)
    with np.errstate(all="ignore"):
        (got,) = fused(_scaled, x, n)
        assert_bits(got, np.ldexp(x, beyond) if dtype.kind == "f" else wanted.astype(dtype), x, n)
    assert_bits(fused(_scaled, x, 3)[0], fused(_scaled, x, np.full_like(n, 3))[0])


@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
def test_frexp(dtype: Any) -> None:
    x = binary_values(dtype, 3000)[0]
    fraction, exponent = fused(_frexp, x)
    wanted = np.frexp(x.astype(computed(dtype)))
    assert_bits(fraction, wanted[0].astype(dtype), x)
    np.testing.assert_array_equal(exponent, np.where(np.isfinite(wanted[0]), wanted[1], 0), strict=True)


@pytest.mark.parametrize("dtype", [dt.int32, dt.float16, dt.float64, dt.complex64], ids=str)
def test_operands_are_converted_in_the_kernel(dtype: Any) -> None:
    for given_dtype in (np.int8, np.float32):
        x, y = np.arange(-20, 20).astype(given_dtype), np.full(40, 3, np.int16)
        wanted = x.astype(dtype) + y.astype(dtype)
        if np.dtype(dtype).kind != "i" or given_dtype == np.int8:
            assert_bits(fused(_converting(xp.add, np.dtype(dtype), 2), x, y)[0], wanted, x, y)
        if np.dtype(dtype) != dt.int32:
            (got,) = fused(_converting(_float_power, np.dtype(dtype), 2), x, 2)
            np.testing.assert_allclose(got, np.float_power(x.astype(dtype), 2), rtol=1e-6)
