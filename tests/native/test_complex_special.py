"""Every special-case bullet of the standard for complex functions, by table: `a b -> re im`, with signs of zeros.

`f` is any positive finite number, `n` a nonzero one, `z` +0 or -0, `any` anything; `~` before a part of the result
leaves its sign open; `cis` means infinity or 0 times (cos b, sin b). Conjugate symmetry, and
odd and even functions, are checked on a whole grid below.
"""

import math

import numpy as np
import pytest
from functor_table import COMPLEX
from functors import complex_grid, run, same_bits
from host_compile import COMPILER

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]

SETS = {
    "inf": [math.inf], "-inf": [-math.inf], "nan": [math.nan], "0": [0.0], "-0": [-0.0], "1": [1.0], "-1": [-1.0],
    "z": [0.0, -0.0], "f": [1e-30, 0.5, 1.0, 2.5, 1e30], "n": [1e-30, 0.5, 2.5, 1e30, -1e-30, -0.5, -2.5, -1e30],
    "finite": [0.0, -0.0, 1e-30, 0.5, 2.5, 1e30, -0.5, -1e30], "±inf": [math.inf, -math.inf],
    "any": [0.0, -0.0, 2.5, -2.5, math.inf, -math.inf, math.nan],
    "non0": [1e-30, 2.5, -2.5, math.inf, -math.inf, math.nan],
}  # fmt: skip
VALUES = {"pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4}
TABLES = {
    "Acos": "z 0 pi/2 -0; z nan pi/2 nan; finite inf pi/2 -inf; n nan nan nan; -inf f pi -inf; inf f 0 -inf; "
    "-inf inf 3pi/4 -inf; inf inf pi/4 -inf; ±inf nan nan ~inf; nan finite nan nan; nan inf nan -inf; nan nan nan nan",
    "Acosh": "z 0 0 pi/2; finite inf inf pi/2; n nan nan nan; 0 nan nan ~pi/2; -inf f inf pi; inf f inf 0; "
    "-inf inf inf 3pi/4; inf inf inf pi/4; ±inf nan inf nan; nan finite nan nan; nan inf inf nan; nan nan nan nan",
    "Asinh": "0 0 0 0; f inf inf pi/2; finite nan nan nan; inf f inf 0; inf inf inf pi/4; nan 0 nan 0; nan n nan nan; "
    "nan inf ~inf nan; nan nan nan nan",
    "Atanh": "0 0 0 0; 0 nan 0 nan; 1 0 inf 0; f inf 0 pi/2; n nan nan nan; inf f 0 pi/2; inf inf 0 pi/2; "
    "inf nan 0 nan; nan finite nan nan; nan inf ~0 pi/2; nan nan nan nan",
    "Cosh": "0 0 1 0; 0 inf nan ~0; 0 nan nan ~0; n inf nan nan; n nan nan nan; inf 0 inf 0; inf n cis inf; "
    "inf inf ~inf nan; inf nan inf nan; nan z nan ~0; nan n nan nan; nan nan nan nan",
    "Sinh": "0 0 0 0; 0 inf ~0 nan; 0 nan ~0 nan; f inf nan nan; f nan nan nan; inf 0 inf 0; inf f cis inf; "
    "inf inf ~inf nan; inf nan ~inf nan; nan 0 nan 0; nan n nan nan; nan nan nan nan",
    "Tanh": "0 0 0 0; n inf nan nan; 0 inf 0 nan; n nan nan nan; 0 nan 0 nan; inf f 1 0; inf inf 1 ~0; inf nan 1 ~0; "
    "nan 0 nan 0; nan non0 nan nan; nan nan nan nan",
    "Exp": "z 0 1 0; finite inf nan nan; finite nan nan nan; inf 0 inf 0; -inf finite cis 0; inf n cis inf; "
    "-inf inf ~0 ~0; inf inf ~inf nan; -inf nan ~0 ~0; inf nan ~inf nan; nan 0 nan 0; "
    "nan non0 nan nan; nan nan nan nan",
    "Expm1": "z 0 0 0; finite inf nan nan; finite nan nan nan; inf 0 inf 0; -inf finite cis-1 0; inf n cis-1 inf; "
    "-inf inf -1 ~0; inf inf ~inf nan; -inf nan -1 ~0; inf nan ~inf nan; nan 0 nan 0; "
    "nan non0 nan nan; nan nan nan nan",
    "Log": "-0 0 -inf pi; 0 0 -inf 0; finite inf inf pi/2; finite nan nan nan; -inf f inf pi; inf f inf 0; "
    "-inf inf inf 3pi/4; inf inf inf pi/4; ±inf nan inf nan; nan finite nan nan; nan inf inf nan; nan nan nan nan",
    "Log1p": "-1 0 -inf 0; finite inf inf pi/2; finite nan nan nan; -inf f inf pi; inf f inf 0; -inf inf inf 3pi/4; "
    "inf inf inf pi/4; ±inf nan inf nan; nan finite nan nan; nan inf inf nan; nan nan nan nan",
    "Sqrt": "z 0 0 0; any inf inf inf; finite nan nan nan; -inf f 0 inf; inf f inf 0; -inf nan nan ~inf; "
    "inf nan inf nan; nan finite nan nan; nan nan nan nan",
    "Abs": "±inf any inf; any ±inf inf; nan finite nan; finite nan nan; nan nan nan",
    "Sign": "z z 0 0; nan any nan nan; any nan nan nan",
}  # fmt: skip
ODD, EVEN = ("Asinh", "Atanh", "Sinh", "Tanh"), ("Cosh",)
ROWS = [(name, row) for name, table in TABLES.items() for row in table.split("; ")]


def part_matches(got, want: str) -> bool:
    open_sign = want.startswith("~")
    number = VALUES.get(want.lstrip("~-"))
    number = float(want.lstrip("~-")) if number is None else number
    if want.startswith("-"):
        number = -number
    if math.isnan(number):
        return bool(np.isnan(got))
    want = got.dtype.type(number)
    if open_sign:
        return bool(abs(got) == abs(want))
    return bool(np.signbit(got) == np.signbit(want)) and bool(
        abs(got - want) <= np.spacing(abs(want)) if np.isfinite(want) else got == want
    )


def arguments(row, dtype):
    part = np.zeros(0, dtype).real.dtype.type
    a, b = row.split()[:2]
    z = np.array([complex(x, y) for x in SETS[a] for y in SETS[b]], dtype)
    assert all(np.signbit(v.imag) == np.signbit(part(y)) for v, y in zip(z, SETS[b] * len(SETS[a]), strict=True))
    return z


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(("name", "row"), ROWS)
def test_bullet(name, row, dtype):
    z = arguments(row, dtype)
    want = row.split()[2:]
    got = run(name, z)
    for x, w in zip(z, got, strict=True):
        message = f"{name}({x!r}) = {w!r}, the standard says {row}"
        if name == "Abs":
            assert part_matches(w, want[0]), message
        elif want[0].startswith("cis"):
            magnitude, offset = float(want[1]), -1 if want[0] == "cis-1" else 0
            b = np.float64(x.imag)
            expect = magnitude * np.cos(b) + offset if offset else magnitude * np.cos(b), magnitude * np.sin(b)
            for g, e in zip((w.real, w.imag), expect, strict=True):
                assert g == e, message
                assert e != 0 or np.signbit(g) == np.signbit(e), message
        else:
            assert part_matches(w.real, want[0]), message
            assert part_matches(w.imag, want[1]), message


UNARY = [n for n in TABLES if n not in ("Abs", "Sign")] + ["Asin", "Atan", "Sin", "Cos", "Tan", "Log2", "Log10", "Sqrt"]


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
