"""Complex functions on the host: all special cases that the standard lists, and symmetries on a whole grid."""

import math

import numpy as np
import pytest
from complex_cases import ROWS, TABLES, arguments, mistake
from functor_table import COMPLEX
from functors import complex_grid, run, same_bits
from host_compile import COMPILER

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]

ODD, EVEN = ("Asinh", "Atanh", "Sinh", "Tanh"), ("Cosh",)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(("name", "row"), ROWS)
def test_bullet(name, row, dtype):
    z = arguments(row, dtype)
    for x, got in zip(z, run(name.capitalize(), z), strict=True):
        assert not mistake(row, x, got), f"{name}({x!r}) = {got!r}, the standard says {row}"


UNARY = [n.capitalize() for n in TABLES if n not in ("abs", "sign")] + [
    "Asin",
    "Atan",
    "Sin",
    "Cos",
    "Tan",
    "Log2",
    "Log10",
    "Sqrt",
]


def flipped(z, re: bool, im: bool):
    w = z.copy()
    w.real, w.imag = (-z.real if re else z.real), (-z.imag if im else z.imag)
    return w


def same(got, want):
    return same_bits(got.real.copy(), want.real.copy()) & same_bits(got.imag.copy(), want.imag.copy())


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", UNARY)
def test_conjugate_symmetry(name, dtype):
    z = complex_grid(dtype)
    ok = same(run(name, flipped(z, False, True)), np.conj(run(name, z)))
    assert ok.all(), z[~ok][:5]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ODD + EVEN + ("Asin", "Atan", "Sin", "Tan", "Cos"))
def test_odd_and_even(name, dtype):
    z = complex_grid(dtype)
    got, want = run(name, flipped(z, True, True)), run(name, z)
    if name not in (*EVEN, "Cos"):
        want = flipped(want, True, True)
    ok = same(got, want) | ((np.isnan(z.real) | np.isnan(z.imag)) & np.isnan(got))
    assert ok.all(), (z[~ok][:5], got[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(
    ("name", "base"), [("Asin", "Asinh"), ("Atan", "Atanh"), ("Sin", "Sinh"), ("Tan", "Tanh"), ("Cos", "Cosh")]
)
def test_rotated(name, base, dtype):
    """asin(z) = -j asinh(jz) and so on, with exact rotations."""
    z = complex_grid(dtype)
    turned = np.empty_like(z)
    turned.real, turned.imag = -z.imag, z.real
    w = run(base, turned)
    want = np.empty_like(w)
    want.real, want.imag = (w.real, w.imag) if name == "Cos" else (w.imag, -w.real)
    ok = same(run(name, z), want) | (np.isnan(z.real) | np.isnan(z.imag))
    assert ok.all(), (z[~ok][:5], run(name, z)[~ok][:5], want[~ok][:5])


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ["Log2", "Log10"])
def test_change_of_base(name, dtype):
    z = complex_grid(dtype)
    want = run("Log", z)
    factor = math.log({"Log2": 2, "Log10": 10}[name])
    got = run(name, z)
    for g, w in ((got.real, want.real / factor), (got.imag, want.imag / factor)):
        with np.errstate(all="ignore"):
            close = np.abs(g - w) <= 4 * np.spacing(np.abs(w))
        assert (close | (g == w) | (np.isnan(g) & np.isnan(w))).all()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_predicates_and_parts(dtype):
    z = complex_grid(dtype)
    for name, reference in (("Isfinite", np.isfinite), ("Isinf", np.isinf), ("Isnan", np.isnan)):
        np.testing.assert_array_equal(run(name, z), reference(z))
    assert same_bits(run("Real", z), z.real.copy()).all()
    assert same_bits(run("Imag", z), z.imag.copy()).all()
    assert same(run("Conj", z), np.conj(z)).all()
    assert same(run("Negative", z), -z).all()
    assert same(run("Round", z), np.round(z)).all()
    y = np.roll(z, 31)
    np.testing.assert_array_equal(run("Equal", z, y), z == y)
    np.testing.assert_array_equal(run("NotEqual", z, y), z != y)
