"""Real functors on floating point, against NumPy in double and long double, and by bits on special values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from functor_table import FLOATS
from functors import run, same_bits, special_values, ulp_error
from host_compile import COMPILER

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]
WIDE = {"float32": np.float64, "float64": np.longdouble}
RNG = np.random.default_rng(7)


def operands(dtype):
    """The special grid squared, and random numbers of every magnitude."""
    special = special_values(dtype)
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    u = f"u{np.dtype(dtype).itemsize}"
    draw = [RNG.integers(0, np.iinfo(u).max, 20000, u, True).view(dtype) for _ in range(2)]
    near = [RNG.normal(size=20000).astype(dtype) for _ in range(2)]
    return [np.concatenate([a, b, c]) for a, b, c in zip((x, y), draw, near, strict=True)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("Add", np.add),
        ("Subtract", np.subtract),
        ("Multiply", np.multiply),
        ("Divide", np.divide),
        ("Nextafter", np.nextafter),
        ("Copysign", np.copysign),
        ("Equal", np.equal),
        ("NotEqual", np.not_equal),
        ("Less", np.less),
        ("LessEqual", np.less_equal),
        ("Greater", np.greater),
        ("GreaterEqual", np.greater_equal),
    ],
)
def test_binary_bits(name, reference, dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        want = reference(x, y)
    got = run(name, x, y)
    ok = got == want if want.dtype == bool else same_bits(got, want)
    assert ok.all(), (x[~ok][:5], y[~ok][:5], got[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("Negative", np.negative),
        ("Positive", np.positive),
        ("Identity", np.positive),
        ("Abs", np.abs),
        ("Sqrt", np.sqrt),
        ("Square", np.square),
        ("Reciprocal", np.reciprocal),
        ("Ceil", np.ceil),
        ("Floor", np.floor),
        ("Round", np.rint),
        ("Trunc", np.trunc),
        ("Real", np.real),
        ("Conj", np.conj),
        ("Sign", lambda x: np.sign(x) + 0),
        ("Isfinite", np.isfinite),
        ("Isinf", np.isinf),
        ("Isnan", np.isnan),
        ("Signbit", np.signbit),
    ],
)
def test_unary_bits(name, reference, dtype):
    x = operands(dtype)[0]
    with np.errstate(all="ignore"):
        want = reference(x)
    got = run(name, x)
    ok = got == want if want.dtype == bool else same_bits(got, want)
    assert ok.all(), (x[~ok][:5], got[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("dtype", FLOATS)
def test_signs_of_nan(dtype):
    nan = np.array([np.nan, -np.nan, 1.0, -1.0], dtype)
    x, y = (a.ravel() for a in np.meshgrid(nan, nan))
    np.testing.assert_array_equal(run("Signbit", nan), np.signbit(nan))
    np.testing.assert_array_equal(np.signbit(run("Copysign", x, y)), np.signbit(y))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["Maximum", "Minimum"])
def test_extrema(name, dtype):
    x, y = operands(dtype)
    want = getattr(np, name.lower())(x, y)
    zeros = (x == 0) & (y == 0)
    negative = np.signbit(x) & np.signbit(y) if name == "Maximum" else np.signbit(x) | np.signbit(y)
    want = np.where(zeros, np.where(negative, -0.0, 0.0), want).astype(dtype)
    assert same_bits(run(name, x, y), want).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_clip(dtype):
    x, lo = operands(dtype)
    hi = np.roll(lo, 37)
    got = run("Clip", x, lo, hi)
    want = np.minimum(np.maximum(x, lo), hi)
    np.testing.assert_array_equal(got, want)
    assert np.isnan(got[np.isnan(x) | np.isnan(lo) | np.isnan(hi)]).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainder(dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        want = np.remainder(x, y)
        want = np.where(want == 0, np.copysign(0, y), want).astype(dtype)
    got = run("Remainder", x, y)
    ok = same_bits(got, want)
    assert ok.all(), (x[~ok][:5], y[~ok][:5], got[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("dtype", FLOATS)
def test_floor_divide(dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        # Computed in the wider type, because NumPy's float32 result can be off by one.
        want = np.floor_divide(x.astype(WIDE[dtype]), y.astype(WIDE[dtype])).astype(dtype)
        quotient = x / y
    infinite = np.isinf(x) | np.isinf(y) | (y == 0)
    want = np.where(infinite, quotient, want)  # inf and -0 as in the standard; NumPy follows Python
    got = run("FloorDivide", x, y)
    # From 2^digits on the quotient's last bit may differ, because NumPy rounds (x - fmod(x, y)) / y.
    exact = ~(np.abs(quotient) >= 1 / np.finfo(dtype).eps)
    ok = same_bits(got, want) | (~exact & (ulp_error(got, want.astype(WIDE[dtype])) <= 1))
    assert ok.all(), (x[~ok][:5], y[~ok][:5], got[~ok][:5], want[~ok][:5])
    assert same_bits(got[infinite], quotient[infinite]).all()


def ranged(dtype, low, high, n=40000):
    return np.concatenate([RNG.uniform(low, high, n).astype(dtype), special_values(dtype)])


UNARY = {
    "Exp": (-104, 89), "Expm1": (-20, 89), "Log": (0, 10), "Log1p": (-1, 3), "Log2": (0, 10), "Log10": (0, 10),
    "Sin": (-50, 50), "Cos": (-50, 50), "Tan": (-50, 50), "Asin": (-1, 1), "Acos": (-1, 1), "Atan": (-9, 9),
    "Sinh": (-89, 89), "Cosh": (-89, 89), "Tanh": (-9, 9), "Asinh": (-99, 99), "Acosh": (1, 99), "Atanh": (-1, 1),
}  # fmt: skip
NUMPY_NAMES = {
    "Asin": "arcsin",
    "Acos": "arccos",
    "Atan": "arctan",
    "Asinh": "arcsinh",
    "Acosh": "arccosh",
    "Atanh": "arctanh",
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_transcendental(name, dtype):
    """On the host these are libm's functions. Tests the calls, special values, and that float is not double."""
    x = ranged(dtype, *UNARY[name])
    with np.errstate(all="ignore"):
        want = getattr(np, NUMPY_NAMES.get(name, name.lower()))(x.astype(WIDE[dtype]))
    got = run(name, x)
    assert ulp_error(got, want).max() < 4
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "reference", "bound"), [("Atan2", np.arctan2, 2), ("Hypot", np.hypot, 2), ("Logaddexp", np.logaddexp, 3)]
)
def test_transcendental_binary(name, reference, bound, dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        want = reference(x.astype(WIDE[dtype]), y.astype(WIDE[dtype]))
    got = run(name, x, y)
    error = ulp_error(got, want)
    if name == "Logaddexp":  # near 0 the terms cancel: measure against the larger operand as well
        with np.errstate(all="ignore"):
            scale = np.spacing(np.maximum(np.abs(x), np.abs(y))).astype(WIDE[dtype])
            close = np.abs(got - want) / scale <= bound
        error = np.where(close, 0, error)
    assert error.max() <= bound


@pytest.mark.parametrize("dtype", FLOATS)
def test_pow_special(dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(WIDE[dtype]), y.astype(WIDE[dtype]))
    got = run("Pow", x, y)
    error = ulp_error(got, want)
    bad = error > 2
    assert not bad.any(), (x[bad][:5], y[bad][:5], got[bad][:5], want[bad][:5])
    zero = got == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


def test_pow_float_is_within_two_ulp():
    """Our own pow for float, on pairs whose results cover the whole range, with subnormal bases and results."""
    n, random = 1_500_000, np.random.default_rng(7)
    x = random.integers(1, 0x7F800000, n, np.uint32).view(np.float32)
    x[: n // 3] = 1 + random.uniform(-0.4, 0.5, n // 3)
    with np.errstate(all="ignore"):
        y = (random.uniform(-151, 129, n) / np.log2(x.astype(np.float64))).astype(np.float32)
        y[n // 2 :] = np.round(y[n // 2 :] * 2) / 2
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    error = ulp_error(run("Pow", x, y), want)
    print(f"pow(float, float): {error.max():.3f} ulp")
    assert error.max() <= 2


@pytest.mark.parametrize("dtype", FLOATS)
def test_quotients_of_every_size(dtype):
    """Up to 2^digits the floor is exact. Above, every number is an integer, and the result is the rounded quotient."""
    digits = np.finfo(dtype).nmant + 1
    for exponent in (0, 10, digits - 2, digits - 1, digits, digits + 1, digits + 20):
        signs = RNG.choice([-1, 1], (2, 500))
        y = (RNG.uniform(1, 2, 500) * signs[0]).astype(dtype)
        x = (y * RNG.uniform(1, 1.999, 500) * 2.0**exponent * signs[1]).astype(dtype)
        wanted = x / y
        if exponent < digits:
            exact = [Fraction(float(a)) / Fraction(float(b)) for a, b in zip(x, y, strict=True)]
            wanted = np.array([math.floor(each) for each in exact], dtype)
        np.testing.assert_array_equal(run("FloorDivide", x, y), wanted)
