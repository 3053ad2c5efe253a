"""Special cases of complex operands that follow from other functions or from symmetry; the rest is in
`tests/helpers/complex_cases.py`. On every device; signs of zeros count."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.complex_cases import SPECIAL, TABLES
from tests.helpers.values import assert_bits, report
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references meet NaN on purpose
complexes = pytest.mark.parametrize("dtype", dt.COMPLEX_FLOATS, ids=str)

PARTS = (0.0, -0.0, 0.25, -0.25, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan)
ODD = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh")
EVEN = ("cos", "cosh")
CONJUGATE = (*ODD, *EVEN, "acos", "acosh", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square")
# Functions with special cases that have no table: tests of this file derive them from other functions or from parts.
DERIVED = {
    *("add", "multiply", "divide", "pow", "round", "equal", "not_equal", "isfinite", "isinf", "isnan"),
    *("asin", "atan", "cos", "sin", "tan", "log2", "log10"),
}


def test_every_function_with_special_cases_has_a_table_or_a_derivation() -> None:
    assert {*TABLES, *DERIVED} == SPECIAL


def plane(dtype: Any, parts: tuple[float, ...] = PARTS) -> NDArray:
    """Every pair of parts."""
    return np.array([complex(a, b) for a in parts for b in parts], dtype)


def signed(dtype: Any) -> NDArray:
    """The plane without imaginary parts of NaN, whose signs are not specified."""
    x = plane(dtype)
    return x[~np.isnan(x.imag)]


def pairs(dtype: Any, parts: tuple[float, ...] = PARTS) -> tuple[NDArray, NDArray]:
    x = plane(dtype, parts)
    return np.repeat(x, x.size), np.tile(x, x.size)


def call(function: Callable[..., Any], device: Any, *hosts: NDArray) -> NDArray:
    result: NDArray = function(*(xp.asarray(each, device=device) for each in hosts)).to_numpy()
    return result


def joined(real: NDArray, imag: NDArray) -> NDArray:
    """Complex numbers from their parts, without the arithmetic of ``real + imag * 1j``."""
    result = np.empty(np.shape(real), np.result_type(real, np.complex64))
    result.real, result.imag = real, imag
    return result


def turned(x: NDArray) -> NDArray:
    """``x * 1j``."""
    return joined(-x.imag, x.real)


def turned_back(x: NDArray) -> NDArray:
    """``-1j * x``."""
    return joined(x.imag, -x.real)


def assert_close(got: NDArray, wanted: NDArray, *operands: NDArray) -> None:
    """Assert the same infinities, NaNs and signs, and numbers to a few units in the last place."""
    ok = np.ones(got.shape, bool)
    for mine, theirs in ((got.real, wanted.real), (got.imag, wanted.imag)):
        near = np.abs(mine - theirs) <= 4 * np.finfo(mine.dtype).eps * np.abs(theirs)
        same = ((mine == theirs) | near) & (np.signbit(mine) == np.signbit(theirs))
        ok &= same | (np.isnan(mine) & np.isnan(theirs))
    report(ok, got, wanted, *operands)


@complexes
@pytest.mark.parametrize("name", CONJUGATE)
def test_conjugates_have_conjugate_results(name: str, dtype: Any, device: Any) -> None:
    x = signed(dtype)
    got = call(getattr(xp, name), device, x.conj())
    assert_close(got.conj(), call(getattr(xp, name), device, x), x)


@complexes
@pytest.mark.parametrize("name", [*ODD, *EVEN])
def test_symmetry_about_the_origin(name: str, dtype: Any, device: Any) -> None:
    x = signed(dtype)
    wanted = call(getattr(xp, name), device, x)
    assert_close(call(getattr(xp, name), device, -x), wanted if name in EVEN else -wanted, x)


@complexes
@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan"])
def test_circular_functions_are_hyperbolic_ones_turned(name: str, dtype: Any, device: Any) -> None:
    x = plane(dtype)
    hyperbolic = getattr(xp, f"{name}h")
    assert_close(call(getattr(xp, name), device, x), turned_back(call(hyperbolic, device, turned(x))), x)


@complexes
def test_cos_is_cosh_turned(dtype: Any, device: Any) -> None:
    x = plane(dtype)
    assert_close(*map(unsigned_beside_nan, (call(xp.cos, device, x), call(xp.cosh, device, turned(x)))), x)


def unsigned_beside_nan(x: NDArray) -> NDArray:
    """Remove the sign of zero of ``cosh(0 + nan j)``, which the standard does not specify."""
    return np.where(np.isnan(x.real) & (x.imag == 0), joined(x.real, np.abs(x.imag)), x)


@complexes
@pytest.mark.parametrize(("name", "base"), [("log2", 2), ("log10", 10)])
def test_logarithms_to_other_bases(name: str, base: int, dtype: Any, device: Any) -> None:
    x = plane(dtype)
    natural = call(xp.log, device, x)
    wide, factor = natural.astype(np.complex128), math.log(base)
    assert_close(call(getattr(xp, name), device, x), joined(wide.real / factor, wide.imag / factor).astype(dtype), x)


@complexes
def test_squares_and_reciprocals_are_products_and_quotients(dtype: Any, device: Any) -> None:
    x = plane(dtype)
    assert_bits(call(xp.square, device, x), call(xp.multiply, device, x, x), x)
    assert_bits(call(xp.reciprocal, device, x), call(xp.divide, device, np.ones_like(x), x), x)
    assert_bits(call(xp.reciprocal, device, x), call(lambda x: 1.0 / x, device, x), x)


@complexes
def test_functions_of_each_part(dtype: Any, device: Any) -> None:
    x, y = pairs(dtype)
    assert_bits(call(xp.add, device, x, y), joined(x.real + y.real, x.imag + y.imag), x, y)
    assert_bits(call(xp.subtract, device, x, y), joined(x.real - y.real, x.imag - y.imag), x, y)
    halves = plane(dtype, (*PARTS, 0.5, -0.5, 1.5, 3.5))
    assert_bits(call(xp.round, device, halves), joined(np.rint(halves.real), np.rint(halves.imag)), halves)


@complexes
def test_finite_products_and_quotients(dtype: Any, device: Any) -> None:
    """Against the textbook formulas, with small integers, for which they are exact."""
    x, y = pairs(dtype, (0.0, -0.0, 1.0, -1.0, 2.0, -3.0))
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    product = joined(a * c - b * d, b * c + a * d)
    got = call(xp.multiply, device, x, y)
    report(got == product, got, product, x, y)
    there = y != 0
    x, y, a, b, c, d = (each[there] for each in (x, y, a, b, c, d))
    quotient = joined((a * c + b * d) / (c * c + d * d), (b * c - a * d) / (c * c + d * d))
    got = call(xp.divide, device, x, y)
    report(np.abs(got - quotient) <= 4 * np.finfo(dtype).eps * np.abs(quotient), got, quotient, x, y)


@complexes
@pytest.mark.parametrize("name", ["multiply", "divide"])
def test_all_nan(name: str, dtype: Any, device: Any) -> None:
    x = np.array([complex(math.nan, math.nan)], dtype)
    got = call(getattr(xp, name), device, x, x)
    assert np.isnan(got.real).all()
    assert np.isnan(got.imag).all()


@complexes
def test_comparisons(dtype: Any, device: Any) -> None:
    x, y = pairs(dtype)
    equal = (x.real == y.real) & (x.imag == y.imag)
    assert_bits(call(xp.equal, device, x, y), equal, x, y)
    assert_bits(call(xp.not_equal, device, x, y), ~equal, x, y)
    x = plane(dtype)
    parts = (x.real, x.imag)
    assert_bits(call(xp.isnan, device, x), np.isnan(parts).any(0), x)
    assert_bits(call(xp.isinf, device, x), np.isinf(parts).any(0), x)
    assert_bits(call(xp.isfinite, device, x), np.isfinite(parts).all(0), x)


@complexes
def test_magnitudes(dtype: Any, device: Any) -> None:
    x = plane(dtype)
    for magnitude in (call(xp.abs, device, x), call(abs, device, x)):
        wanted = np.hypot(x.real, x.imag)
        exact = (x.real == 0) | (x.imag == 0) | ~np.isfinite(wanted)
        assert_bits(magnitude[exact], wanted[exact], x[exact])


@complexes
def test_sign(dtype: Any, device: Any) -> None:
    """The sign of zero is zero, NaN in one part gives NaN in both, and other signs are quotients."""
    x = plane(dtype)
    got = call(xp.sign, device, x)
    assert_bits(got[x == 0], np.zeros(int((x == 0).sum()), dtype), x[x == 0])
    nan = np.isnan(x)
    assert (np.isnan(got.real) & np.isnan(got.imag))[nan].all()
    rest = np.isfinite(x) & (x != 0)
    wanted = joined(x.real / np.abs(x), x.imag / np.abs(x))[rest]
    assert_close(got[rest], wanted, x[rest])


@complexes
def test_powers(dtype: Any, device: Any) -> None:
    """As ``exp(x2 * log(x1))`` at least if neither is special, and NaN if both parts of both are NaN."""
    x, y = pairs(dtype, (0.25, -0.25, 1.0, -2.5))
    logarithm = np.log(x.astype(np.complex128))
    wanted = np.exp(y * logarithm)
    got = call(xp.pow, device, x, y)
    report(np.abs(got - wanted) <= 64 * np.finfo(dtype).eps * np.abs(wanted), got, wanted, x, y)
    x = np.array([complex(math.nan, math.nan)], dtype)
    assert np.isnan(call(xp.pow, device, x, x)).all()
