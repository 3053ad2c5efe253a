"""Elementwise operators on complex dtypes: the standard's special cases, and accuracy in the ordinary range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.complex_cases import ROWS, arguments, mistake
from tests.helpers.values import assert_bits, binary_values, generator, grid, report, unary_values
from xpops.core import dtypes as dt
from xpops.ops.elementwise import INTERNAL, OPERATORS

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose
complexes = pytest.mark.parametrize("dtype", dt.COMPLEX_FLOATS, ids=str)

EXACT_UNARY = {
    "conj": np.conj,
    "real": np.real,
    "imag": np.imag,
    "negative": np.negative,
    "positive": np.positive,
    "round": np.round,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "logical_not": np.logical_not,
}
EXACT_BINARY = ("add", "subtract", "equal", "not_equal", "logical_and", "logical_or", "logical_xor")


def log1p(x: NDArray) -> NDArray:
    """Without the sum ``1 + x`` that spoils NumPy's for small `x`."""
    return np.log1p(x.real * (2 + x.real) + x.imag**2) / 2 + 1j * np.arctan2(x.imag, 1 + x.real)


FUNCTIONS = {
    **{
        name: getattr(np, name) for name in ("exp", "expm1", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    **{name: getattr(np, name) for name in ("log2", "log10", "square", "reciprocal")},
    "log1p": log1p,
}
BINARY = {"multiply": np.multiply, "divide": np.divide, "pow": np.power}
OWN_TESTS = {"abs", "sign", "where"}


def call(name: str, device: Any, *hosts: NDArray) -> NDArray:
    host: NDArray = getattr(xp, name)(*(xp.asarray(each, device=device) for each in hosts)).to_numpy()
    return host


def ordinary(dtype: Any, seed: str) -> NDArray:
    """Numbers in the plane around 0, near both axes, and of several magnitudes."""
    random = generator(dtype, seed)
    host = random.normal(size=3000) + 1j * random.normal(size=3000)
    host *= 10.0 ** random.integers(-3, 1, 3000)
    host.imag[::5] *= 1e-6
    host.real[1::5] *= 1e-6
    return host.astype(dtype)


def assert_near(got: NDArray, wanted: NDArray, bound: float, *operands: NDArray) -> None:
    """The distance in the plane is at most `bound` units of the magnitude's last place."""
    distance = np.abs(got.astype(np.clongdouble) - wanted)
    report(distance <= bound * float(np.finfo(got.dtype).eps) * np.abs(wanted), got, wanted, *operands)


def test_every_operator_on_complex_numbers_is_tested_here() -> None:
    takes_complex = {
        name for name, op in OPERATORS.items() if op not in INTERNAL and dt.complex64 in dt.CATEGORIES[op.accepts]
    }
    assert takes_complex == {*EXACT_UNARY, *EXACT_BINARY, *FUNCTIONS, *BINARY, *OWN_TESTS}


@complexes
@pytest.mark.parametrize(("name", "row"), ROWS)
def test_special_case(name: str, row: str, dtype: Any, device: Any) -> None:
    x = arguments(row, dtype)
    got = call(name, device, x)
    wrong = [f"{name}({z!r}) is {w!r}" for z, w in zip(x, got, strict=True) if mistake(row, z, w)]
    assert not wrong, f"the standard says {row}: " + "; ".join(wrong[:4])


@complexes
@pytest.mark.parametrize("name", EXACT_UNARY)
def test_exact_unary(name: str, dtype: Any, device: Any) -> None:
    x = unary_values(dtype)
    assert_bits(call(name, device, x), np.ascontiguousarray(EXACT_UNARY[name](x)), x)


@complexes
@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_binary(name: str, dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    assert_bits(call(name, device, x, y), getattr(np, name)(x, y), x, y)


@complexes
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_in_the_ordinary_range(name: str, dtype: Any, device: Any) -> None:
    x = ordinary(dtype, "x")
    assert_near(call(name, device, x), FUNCTIONS[name](x.astype(np.clongdouble)), 4, x)


@complexes
@pytest.mark.parametrize("name", BINARY)
def test_binary_in_the_ordinary_range(name: str, dtype: Any, device: Any) -> None:
    x, y = ordinary(dtype, "x"), ordinary(dtype, "y")
    wanted = BINARY[name](x.astype(np.clongdouble), y.astype(np.clongdouble))
    # pow goes through y * log(x), whose error grows with its magnitude.
    assert_near(call(name, device, x, y), wanted, 64 if name == "pow" else 4, x, y)


@complexes
def test_small_integer_powers_are_exact(dtype: Any, device: Any) -> None:
    x = np.array([-1 + 0j, 2j, 1 + 1j, 3 - 2j, 0j], dtype)
    assert np.array_equal(call("pow", device, x, np.full(5, 2, dtype)), x * x)
    assert np.array_equal(call("pow", device, x, np.full(5, 0, dtype)), np.ones(5))


@complexes
def test_abs_and_sign(dtype: Any, device: Any) -> None:
    x = ordinary(dtype, "x")
    wide = x.astype(np.clongdouble)
    magnitude = call("abs", device, x)
    assert magnitude.dtype == dt.REAL_OF[dtype]
    assert_near(magnitude, np.abs(wide), 2, x)
    assert_near(call("sign", device, x), wide / np.abs(wide), 3, x)


@complexes
def test_magnitudes_neither_overflow_nor_vanish(dtype: Any, device: Any) -> None:
    f = np.finfo(dtype)
    x = np.array([complex(f.max / 2, f.max / 2), complex(f.smallest_normal, f.smallest_normal)], dtype)
    assert_near(call("abs", device, x), np.abs(x.astype(np.clongdouble)), 2, x)
    assert_near(call("sqrt", device, x), np.sqrt(x.astype(np.clongdouble)), 4, x)
    assert_near(call("divide", device, x, x), np.ones(2, np.clongdouble), 4, x)


@complexes
def test_where(dtype: Any, device: Any) -> None:
    x = grid(dtype)
    y, condition = x[::-1].copy(), np.arange(x.size) % 3 == 0
    got = xp.where(*(xp.asarray(each, device=device) for each in (condition, x, y))).to_numpy()
    assert_bits(got, np.where(condition, x, y), condition, x, y)


@complexes
def test_real_scalars_and_arrays_have_an_imaginary_part_of_zero(dtype: Any, device: Any) -> None:
    x = np.array([1 - 2j, -0.0 - 0.0j], dtype)
    real = np.array([3, -0.0], dt.REAL_OF[dtype])
    assert_bits(call("add", device, x, real), x + real.astype(dtype), x, real)
    got = xp.add(xp.asarray(x, device=device), 2.5 - 1j).to_numpy()
    assert_bits(got, x + np.array(2.5 - 1j, dtype), x)
