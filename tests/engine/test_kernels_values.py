"""Elementwise operators on real floating-point dtypes: special values and accuracy, against plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.values import (
    HALVES,
    WIDE,
    assert_bits,
    assert_within,
    binary_values,
    computed,
    equal_bits,
    real_grid,
    report,
    ulp_error,
    unary_values,
)
from xpops.core import dtypes as dt
from xpops.ops.elementwise import INTERNAL, OPERATORS

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose
floats = pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)

# Results that are the nearest number to the exact one, or a number of another dtype: every bit is known.
EXACT_UNARY: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "conj": np.positive,
    "negative": np.negative,
    "positive": np.positive,
    "real": np.positive,
    "imag": np.zeros_like,
    "reciprocal": lambda x: x.dtype.type(1) / x,
    "sign": lambda x: np.where(x == 0, 0, np.sign(x)).astype(x.dtype),  # +0 for -0 too
    "square": np.square,
    "sqrt": np.sqrt,
    "ceil": np.ceil,
    "floor": np.floor,
    "round": np.rint,
    "trunc": np.trunc,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "signbit": np.signbit,
    "logical_not": lambda x: x == 0,
}
EXACT_BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "copysign": np.copysign,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
# Results of library functions: units in the last place at most, and NumPy's name.
CLOSE_UNARY = {
    **{
        name: name
        for name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
}
CLOSE_BINARY = {"atan2": np.arctan2, "hypot": np.hypot, "pow": np.power}
OWN_TESTS = {"clip", "floor_divide", "logaddexp", "maximum", "minimum", "nextafter", "remainder", "where"}
WIDE_BOUND, HALF_BOUND = 4, 0.51  # a half is rounded once from a float32 that is nearly right


def call(name: str, device: Any, *hosts: NDArray) -> NDArray:
    result = getattr(xp, name)(*(xp.asarray(host, device=device) for host in hosts))
    assert result.device == device
    host: NDArray = result.to_numpy()
    return host


def bound(dtype: Any) -> float:
    return HALF_BOUND if dtype in HALVES else WIDE_BOUND


def in_computed(function: Callable[..., Any], *hosts: NDArray) -> NDArray:
    """`function` in the dtype that elements are computed in, rounded once; booleans stay."""
    result = np.asarray(function(*(host.astype(computed(host.dtype)) for host in hosts)))
    return result if result.dtype == dt.bool else result.astype(hosts[0].dtype)


def test_every_operator_on_floats_is_tested_here() -> None:
    tested = {*EXACT_UNARY, *EXACT_BINARY, *CLOSE_UNARY, *CLOSE_BINARY, *OWN_TESTS}
    takes_floats = {
        name for name, op in OPERATORS.items() if op not in INTERNAL and dt.float32 in dt.CATEGORIES[op.accepts]
    }
    assert takes_floats == tested


@floats
@pytest.mark.parametrize("name", EXACT_UNARY)
def test_exact_unary(name: str, dtype: Any, device: Any) -> None:
    x = unary_values(dtype)
    if name == "signbit":
        x = x[x == x]  # a NaN's sign is nobody's business
    assert_bits(call(name, device, x), in_computed(EXACT_UNARY[name], x), x)


@floats
@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_binary(name: str, dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    if name == "copysign":
        x, y = x[y == y], y[y == y]
    assert_bits(call(name, device, x, y), in_computed(EXACT_BINARY[name], x, y), x, y)


@floats
@pytest.mark.parametrize("name", CLOSE_UNARY)
def test_close_unary(name: str, dtype: Any, device: Any) -> None:
    x = unary_values(dtype)
    wanted = getattr(np, CLOSE_UNARY[name])(x.astype(WIDE[dtype]))
    assert_within(call(name, device, x), wanted, bound(dtype), x)


@floats
@pytest.mark.parametrize("name", CLOSE_BINARY)
def test_close_binary(name: str, dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    wanted = CLOSE_BINARY[name](x.astype(WIDE[dtype]), y.astype(WIDE[dtype]))
    assert_within(call(name, device, x, y), wanted, bound(dtype), x, y)


@floats
def test_logaddexp(dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    wanted = np.logaddexp(x.astype(WIDE[dtype]), y.astype(WIDE[dtype]))
    got = call("logaddexp", device, x, y)
    # Near 0 the terms cancel: an error of the larger operand's last place is fine.
    larger = np.maximum(np.abs(x.astype(WIDE[dtype])), np.abs(y.astype(WIDE[dtype])))
    cancelled = np.abs(got.astype(WIDE[dtype]) - wanted) <= bound(dtype) * float(np.finfo(computed(dtype)).eps) * larger
    report((ulp_error(got, wanted) <= bound(dtype)) | cancelled, got, wanted, x, y)


@floats
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extrema(name: str, dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    got, wanted = call(name, device, x, y), in_computed(getattr(np, name), x, y)
    zeros = (x == 0) & (y == 0) & (got == 0)  # which zero is larger is left open
    report(equal_bits(got, wanted) | zeros, got, wanted, x, y)


@floats
def test_clip(dtype: Any, device: Any) -> None:
    x, low = binary_values(dtype)
    high = np.roll(low, 37)
    got = call("clip", device, x, low, high)
    wanted = in_computed(lambda x, low, high: np.minimum(np.maximum(x, low), high), x, low, high)
    report((got == wanted) | (np.isnan(got) & np.isnan(wanted)), got, wanted, x, low, high)


@floats
def test_where(dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    condition = x.astype(np.float64) < 1
    got = xp.where(*(xp.asarray(host, device=device) for host in (condition, x, y))).to_numpy()
    assert_bits(got, np.where(condition, x, y), condition, x, y)


@floats
def test_nextafter(dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    assert_bits(call("nextafter", device, x, y), np.where(x == y, y, np.nextafter(x, y)), x, y)


def floored_quotient(x: NDArray, y: NDArray) -> NDArray:
    """The standard's: `x / y` itself where an operand is infinite or the divisor 0; elsewhere its floor."""
    quotient = x / y
    return np.where(np.isinf(x) | np.isinf(y) | (y == 0), quotient, np.floor_divide(x, y)).astype(x.dtype)


@floats
def test_floor_divide(dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    wide = computed(dtype)
    got, wanted = call("floor_divide", device, x, y), in_computed(floored_quotient, x, y)
    # Where the quotient has more digits than its dtype, the last place depends on how it is computed.
    free = np.abs(x.astype(wide) / y.astype(wide)) >= 1 / np.finfo(wide).eps
    near = free & (ulp_error(got, wanted.astype(WIDE[dtype])) <= 1)
    report(equal_bits(got, wanted) | near, got, wanted, x, y)


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [
        (np.inf, 2.0, np.inf),
        (np.inf, -2.0, -np.inf),
        (-np.inf, 2.0, -np.inf),
        (-np.inf, -2.0, np.inf),
        (2.0, np.inf, 0.0),
        (-2.0, np.inf, -0.0),
        (2.0, -np.inf, -0.0),
        (-2.0, -np.inf, 0.0),
        (1.0, 0.0, np.inf),
        (1.0, -0.0, -np.inf),
        (0.0, 0.0, np.nan),
        (np.inf, np.inf, np.nan),
        (0.0, -1.0, -0.0),
        (-0.0, 1.0, -0.0),
        (-7.0, 2.0, -4.0),
    ],
)
@floats
def test_floor_divide_by_the_standards_list(x: float, y: float, wanted: float, dtype: Any, device: Any) -> None:
    hosts = [np.array([value], np.float64).astype(dtype) for value in (x, y, wanted)]
    assert_bits(call("floor_divide", device, *hosts[:2]), hosts[2], *hosts[:2])


@floats
def test_remainder(dtype: Any, device: Any) -> None:
    def with_the_divisors_zero(x: NDArray, y: NDArray) -> NDArray:
        result = np.remainder(x, y)
        return np.where(result == 0, np.copysign(result, y), result)

    x, y = binary_values(dtype)
    got, wanted = call("remainder", device, x, y), in_computed(with_the_divisors_zero, x, y)
    zeros = (got == 0) & (wanted == 0) & (np.signbit(got) == np.signbit(y))
    report(equal_bits(got, wanted) | zeros, got, wanted, x, y)


@pytest.mark.parametrize("integer", [dt.bool, dt.int8, dt.int64, dt.uint64], ids=str)
@pytest.mark.parametrize("name", sorted(name for name, op in OPERATORS.items() if op.floating))
def test_integers_are_computed_as_float64(name: str, integer: Any, device: Any) -> None:
    host = np.array([0, 1, 1, 0, 1]) if integer == dt.bool else np.array([0, 1, 2, 3, 100])
    x = xp.asarray(host.astype(integer), device=device)
    wide = xp.astype(x, xp.float64)
    arity = OPERATORS[name].arity
    got, wanted = getattr(xp, name)(*[x] * arity).to_numpy(), getattr(xp, name)(*[wide] * arity).to_numpy()
    assert_bits(got, wanted, host)


@floats
def test_scalars_are_rounded_to_the_array_dtype_once(dtype: Any, device: Any) -> None:
    x = real_grid(dtype)
    for scalar in (0.1, -0.0, 1e-50, float("inf"), float("nan"), 3, True):
        got = xp.multiply(xp.asarray(x, device=device), scalar).to_numpy()
        rounded = np.full(x.shape, scalar, np.float64).astype(dtype)
        assert_bits(got, in_computed(np.multiply, x, rounded), x, rounded)


@floats
@pytest.mark.parametrize("value", [0.0, -0.0, 1e-45, float("nan"), float("inf"), 0.1])
def test_fills_keep_every_bit(value: float, dtype: Any, device: Any) -> None:
    got = xp.full((33,), value, dtype=dtype, device=device).to_numpy()
    assert_bits(got, np.full(33, value, np.float64).astype(dtype))
