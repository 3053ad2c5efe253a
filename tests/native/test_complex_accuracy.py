"""Accuracy of complex functors: each component against mpmath, in ulp, and arithmetic against NumPy."""

import mpmath
import numpy as np
import pytest
from functor_table import COMPLEX
from functors import complex_grid, run, same_bits, ulp_error
from host_compile import COMPILER

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]
RNG = np.random.default_rng(17)
PART = {"complex64": np.float32, "complex128": np.float64}


def points(dtype, n=150):
    """Points at several scales; near both axes, the unit circle, +-1 and +-j; and of extreme magnitudes."""
    part = PART[dtype]
    normal = RNG.normal(size=(8, n)) + 1j * RNG.normal(size=(8, n))
    turn = np.exp(1j * RNG.uniform(-np.pi, np.pi, n))
    small = 10.0 ** RNG.uniform(-8, -1, n)
    top = np.log10(float(np.finfo(part).max)) - 0.5
    groups = [
        normal[0],
        5 * normal[1],
        0.01 * normal[2],
        80 * normal[3],
        normal[4] * np.where(RNG.random(n) < 0.5, 1e-6, 1e6),
        normal[5].real + 1j * small,
        small + 1j * normal[6].imag,
        turn,
        turn * (1 + small),
        1 + small * turn,
        -1 + small * turn,
        1j + small * turn,
        -1j + small * turn,
        turn * 10.0 ** RNG.uniform(-top, top, n),
        RNG.normal(size=n) * 10.0 ** RNG.uniform(-top, top, n)
        + 1j * RNG.normal(size=n) * 10.0 ** RNG.uniform(-top, top, n),
        turn * float(np.finfo(part).smallest_normal) * RNG.uniform(1e-3, 10, n),
        turn * 0.95 * float(np.finfo(part).max),
    ]
    return np.concatenate(groups).astype(dtype)


def exact(function, *operands, precision=200):
    """Real and imaginary parts by mpmath, as long double. The precision covers the cancellation in expm1 and log."""
    with mpmath.workprec(precision):
        rows = []
        for z in zip(*operands, strict=True):
            w = function(*(mpmath.mpc(float(v.real), float(v.imag)) for v in z))
            w = mpmath.mpc(w)
            rows.append((to_long(w.real), to_long(w.imag)))
    re, im = zip(*rows, strict=True)
    return np.array(re, np.longdouble), np.array(im, np.longdouble)


def to_long(x):
    sign, mantissa, exponent, _ = x._mpf_
    if mantissa == 0:
        return np.longdouble(float(x))
    shift = max(mantissa.bit_length() - 64, 0)
    value = np.ldexp(np.longdouble(mantissa >> shift), max(min(exponent + shift, 16000), -16500))
    return -value if sign else value


def mp_log1p(z):
    return mpmath.log(1 + z)


# name: (reference, bound in ulp for each component, largest |re|, largest |im|). The last two keep results finite and
# mpmath's work small; expm1's real part and pow are treated below.
FUNCTIONS = {
    "Exp": (mpmath.exp, 4, 700, 1e6),
    "Log": (mpmath.log, 4, None, None),
    "Log1p": (mp_log1p, 4, None, None),
    "Log2": (lambda z: mpmath.log(z) / mpmath.log(2), 4, None, None),
    "Log10": (mpmath.log10, 4, None, None),
    "Sqrt": (mpmath.sqrt, 4, None, None),
    "Sin": (mpmath.sin, 6, 1e6, 700),
    "Cos": (mpmath.cos, 6, 1e6, 700),
    "Tan": (mpmath.tan, 8, 1e6, 100),
    "Sinh": (mpmath.sinh, 6, 700, 1e6),
    "Cosh": (mpmath.cosh, 6, 700, 1e6),
    "Tanh": (mpmath.tanh, 8, 100, 1e6),
    "Asin": (mpmath.asin, 6, None, None),
    "Acos": (mpmath.acos, 6, None, None),
    "Atan": (mpmath.atan, 6, None, None),
    "Asinh": (mpmath.asinh, 6, None, None),
    "Acosh": (mpmath.acosh, 6, None, None),
    "Atanh": (mpmath.atanh, 6, None, None),
    "Sign": (lambda z: z / abs(z), 3, None, None),
    "Reciprocal": (lambda z: 1 / z, 4, None, None),
}


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_accuracy(name, dtype):
    reference, bound, re_max, im_max = FUNCTIONS[name]
    z = points(dtype)
    z = z[(z != 0) & np.isfinite(z.real) & np.isfinite(z.imag)]
    limit = 88 / 709 if dtype == "complex64" else 1
    z = z[
        (np.abs(z.real) < (limit * re_max if re_max else np.inf))
        & (np.abs(z.imag) < (limit * im_max if im_max else np.inf))
    ]
    far = dtype == "complex128" and name in ("Log1p", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh")  # 1 + 1e-308
    want = exact(reference, z, precision=2300 if far else 500)
    got = run(name, z)
    worst = [ulp_error(np.ascontiguousarray(g), w) for g, w in zip((got.real, got.imag), want, strict=True)]
    print(f"{name} {dtype}: {worst[0].max():.2f} {worst[1].max():.2f} ulp")
    for error, g, w in zip(worst, (got.real, got.imag), want, strict=True):
        i = error.argmax()
        assert error[i] <= bound, (z[i], got[i], g[i], w[i], (error > bound).sum())


@pytest.mark.parametrize("dtype", COMPLEX)
def test_expm1(dtype):
    """If exp(x) cos(y) is near 1, the real part cancels. Then its error is measured relative to the terms."""
    z = points(dtype)
    z = z[(np.abs(z.real) < 80) & (np.abs(z.imag) < 1e4)]
    want = exact(mpmath.expm1, z, precision=700)
    got = run("Expm1", z)
    with np.errstate(all="ignore"):
        terms = np.maximum(np.abs(np.expm1(z.real) * np.cos(z.imag)), 2 * np.sin(z.imag / 2) ** 2).astype(PART[dtype])
        scale = np.spacing(np.maximum(terms, np.abs(want[0]).astype(PART[dtype])))
    assert (np.abs(got.real - want[0]) / scale).max() <= 4
    assert ulp_error(np.ascontiguousarray(got.imag), want[1]).max() <= 4


@pytest.mark.parametrize("dtype", COMPLEX)
def test_abs(dtype):
    z = complex_grid(dtype)
    with np.errstate(all="ignore"):
        want = np.hypot(z.real.astype(np.longdouble), z.imag.astype(np.longdouble))
    assert ulp_error(run("Abs", z), want).max() <= 2


@pytest.mark.parametrize("dtype", COMPLEX)
def test_add_subtract_multiply_are_numpys(dtype):
    z = complex_grid(dtype)
    y = np.roll(z, 97)
    a, b, c, d = z.real, z.imag, y.real, y.imag
    with np.errstate(all="ignore"):
        for name, re, im in (
            ("Add", a + c, b + d),
            ("Subtract", a - c, b - d),
            ("Multiply", a * c - b * d, a * d + b * c),
        ):
            got = run(name, z, y)
            assert same_bits(got.real.copy(), re).all()
            assert same_bits(got.imag.copy(), im).all()
        got = run("Multiply", z, np.conj(z))
        finite = np.isfinite(got.real) & np.isfinite(got.imag)
        assert (got.imag[finite] == 0).all()
        np.testing.assert_array_equal(run("Square", z), run("Multiply", z, z))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_divide_never_overflows_on_the_way(dtype):
    x, y = points(dtype), RNG.permutation(points(dtype))
    y = np.where(y == 0, 1, y).astype(dtype)
    want = exact(lambda a, b: a / b, x, y)
    got = run("Divide", x, y)
    f = np.finfo(PART[dtype])
    size = np.hypot(*want)
    inside = (size < f.max / 4) & (size > f.smallest_normal)
    error = np.hypot(got.real - want[0], got.imag - want[1]) / size
    print(f"Divide {dtype}: {(error[inside] / f.eps).max():.2f} epsilon")
    assert error[inside].max() <= 4 * f.eps


@pytest.mark.parametrize("dtype", COMPLEX)
def test_divide_by_special_values_is_numpys(dtype):
    x = complex_grid(dtype)
    special = x[~np.isfinite(x) | (x == 0)]
    y = RNG.choice(special, x.size)
    with np.errstate(all="ignore"):
        want = x / y
    got = run("Divide", x, y)
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        ok = (g == w) | (np.isnan(g) & np.isnan(w))
        assert ok.all(), (x[~ok][:5], y[~ok][:5], got[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("dtype", COMPLEX)
def test_pow(dtype):
    n = 2500
    x = (RNG.normal(size=n) + 1j * RNG.normal(size=n)).astype(dtype)
    y = (3 * RNG.normal(size=n) + 3j * RNG.normal(size=n)).astype(dtype)
    y[: n // 4].imag = 0
    want = exact(mpmath.power, x, y)
    got = run("Pow", x, y)
    error = np.hypot(got.real - want[0], got.imag - want[1]) / np.hypot(*want)
    bound = 2 if dtype == "complex64" else 60  # epsilon; grows with |y log x| in double
    print(f"Pow {dtype}: {error.max() / np.finfo(PART[dtype]).eps:.2f} epsilon")
    assert error.max() <= bound * np.finfo(PART[dtype]).eps


@pytest.mark.parametrize("dtype", COMPLEX)
def test_pow_exact_and_special(dtype):
    x = np.array([-1, 1j, 2 + 1j, 3, 0, 0, -0.0, np.inf, 2, 1 + 1j, 0], dtype)
    y = np.array([2, 2, 3, -1, 0, 2, 1, 2.5, 10, 4, 0.5 + 1j], dtype)
    want = np.array([1, -1, 2 + 11j, 1 / 3, 1, 0, 0, np.inf, 1024, -4, 0], dtype)
    np.testing.assert_array_equal(run("Pow", x, y), want)
    zero = np.zeros_like(x)
    np.testing.assert_array_equal(run("Pow", x, zero), np.ones_like(x))
