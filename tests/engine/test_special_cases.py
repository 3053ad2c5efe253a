"""Every special case that the standard's text names, function by function, on every device; signs of zeros count.

On the CPU NumPy computes, or the compiled core.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.real_cases import BINARY, CLIP, SPECIAL, UNARY, operands, right, rows, words
from tests.helpers.values import assert_bits, report
from xpops.core import dtypes as dt
from xpops.ops.elementwise import OPERATORS

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references meet NaN on purpose
floats = pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)

# Python's operators, and the in-place operators.
SYMBOLS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "divide": operator.truediv,
    "equal": operator.eq,
    "floor_divide": operator.floordiv,
    "multiply": operator.mul,
    "not_equal": operator.ne,
    "pow": operator.pow,
    "remainder": operator.mod,
    "subtract": operator.sub,
}
IN_PLACE: dict[str, Callable[..., Any]] = {
    "add": operator.iadd,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "multiply": operator.imul,
    "pow": operator.ipow,
    "remainder": operator.imod,
    "subtract": operator.isub,
}


def call(function: Callable[..., Any], device: Any, *hosts: NDArray) -> NDArray:
    result: NDArray = function(*(xp.asarray(each, device=device) for each in hosts)).to_numpy()
    return result


def test_every_operator_with_special_cases_has_a_table() -> None:
    assert {*UNARY, *BINARY, "clip"} == SPECIAL <= set(OPERATORS)


@floats
@pytest.mark.parametrize(("name", "row"), rows(UNARY))
def test_unary(name: str, row: str, dtype: Any, device: Any) -> None:
    (x,) = operands(row, dtype)
    got = call(getattr(xp, name), device, x)
    report(right(row, got, [x]), got, got, x)
    if name == "abs":
        assert right(row, call(abs, device, x), [x]).all()


@floats
@pytest.mark.parametrize(("name", "row"), rows(BINARY))
def test_binary(name: str, row: str, dtype: Any, device: Any) -> None:
    hosts = operands(row, dtype)
    forms = [getattr(xp, name), *(table[name] for table in (SYMBOLS, IN_PLACE) if name in table)]
    for form in forms:
        got = call(form, device, *hosts)
        report(right(row, got, hosts), got, got, *hosts)


@floats
@pytest.mark.parametrize(("name", "row"), rows(BINARY))
def test_binary_with_a_scalar(name: str, row: str, dtype: Any, device: Any) -> None:
    x1, x2 = operands(row, dtype)
    function = getattr(xp, name)
    for scalar in {float(value).hex(): float(value) for value in x2}.values():
        if math.isnan(scalar) and name == "copysign":
            continue  # the sign of Python's NaN is not specified
        there = same(x2, scalar)
        got = function(xp.asarray(x1[there], device=device), scalar).to_numpy()
        report(right(row, got, [x1[there], x2[there]]), got, got, x1[there], x2[there])
    for scalar in {float(value).hex(): float(value) for value in x1}.values():
        there = same(x1, scalar)
        got = function(scalar, xp.asarray(x2[there], device=device)).to_numpy()
        report(right(row, got, [x1[there], x2[there]]), got, got, x1[there], x2[there])


def same(x: NDArray, scalar: float) -> NDArray:
    """Where `x` is the scalar, sign of zero and all."""
    wide = x.astype(np.float64)
    equal = np.isnan(wide) if math.isnan(scalar) else (wide == scalar) & (np.signbit(wide) == np.signbit(scalar))
    return np.asarray(equal)


@floats
def test_subtract_is_the_sum_with_the_negative(dtype: Any, device: Any) -> None:
    every = words(dtype)["any"]
    x, y = (each.reshape(-1).astype(dtype) for each in np.meshgrid(every, every))
    wanted = call(lambda x, y: xp.add(x, xp.negative(y)), device, x, y)
    for form in (xp.subtract, operator.sub, operator.isub):
        assert_bits(call(form, device, x, y), wanted, x, y)


@floats
def test_a_finite_sum_of_opposites_is_a_positive_zero(dtype: Any, device: Any) -> None:
    x = np.array(words(dtype)["nonzero"]).astype(dtype)
    assert_bits(call(xp.subtract, device, x, x), np.zeros_like(x), x)


@floats
def test_hypot_knows_no_signs_and_no_order(dtype: Any, device: Any) -> None:
    every = words(dtype)["any"]
    x, y = (each.reshape(-1).astype(dtype) for each in np.meshgrid(every, every))
    wanted = call(xp.hypot, device, x, y)
    for pair in ((y, x), (x, -y), (-x, y), (-x, -y)):
        assert_bits(call(xp.hypot, device, *pair), wanted, *pair)


@floats
@pytest.mark.parametrize("row", CLIP.split("; "))
def test_clip(row: str, dtype: Any, device: Any) -> None:
    hosts = operands(row, dtype)
    got = call(xp.clip, device, *hosts)
    report(np.isnan(got), got, got, *hosts)


@pytest.mark.parametrize("dtype", sorted(dt.CATEGORIES["integer"], key=str), ids=str)
@pytest.mark.parametrize("name", ["ceil", "floor", "round", "trunc"])
def test_integers_are_rounded_already(name: str, dtype: Any, device: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 1, 5, info.max], dtype)
    assert_bits(call(getattr(xp, name), device, x), x, x)


@pytest.mark.parametrize("dtype", sorted(dt.CATEGORIES["integer"], key=str), ids=str)
def test_sign_of_integers(dtype: Any, device: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 1, info.max], dtype)
    assert_bits(call(xp.sign, device, x), np.sign(x), x)


# The array object


def test_truth(device: Any) -> None:
    for value, truth in ((math.nan, True), (math.inf, True), (-math.inf, True), (0.0, False), (-0.0, False)):
        assert bool(xp.asarray(value, device=device)) is truth
        assert bool(xp.asarray(complex(0, value), device=device)) is truth
        assert bool(xp.asarray(complex(value, -0.0), device=device)) is truth


def test_conversions_to_python(device: Any) -> None:
    def given(value: Any) -> Any:
        return xp.asarray(value, device=device)

    assert (complex(given(True)), complex(given(False))) == (1 + 0j, 0j)
    nothing = complex(given(math.nan))
    assert math.isnan(nothing.real)
    assert math.isnan(nothing.imag)
    for value in (math.inf, -math.inf, 2.5, -0.0):
        found = complex(given(value))
        assert (found.real, math.copysign(1, found.real)) == (value, math.copysign(1, value))
        assert str(found.imag) == "0.0"
    assert (float(given(True)), float(given(False))) == (1.0, 0.0)
    assert (int(given(True)), int(given(False)), int(given(-2.75)), int(given(-0.0))) == (1, 0, -2, 0)
    for value, error in ((math.inf, OverflowError), (-math.inf, OverflowError), (math.nan, ValueError)):
        with pytest.raises(error):
            int(given(value))


# Statistics


@floats
@pytest.mark.parametrize("name", ["max", "min", "mean", "sum", "prod", "std", "var"])
def test_nan_propagates(name: str, dtype: Any, device: Any) -> None:
    for place in (0, 1, 299):
        host = np.arange(300).astype(dtype)
        host[place] = np.nan
        assert np.isnan(call(getattr(xp, name), device, host))


@floats
@pytest.mark.parametrize("name", ["std", "var"])
def test_no_degree_of_freedom_is_nan(name: str, dtype: Any, device: Any) -> None:
    function = getattr(xp, name)
    for host in (np.array([1, 2, 4]).astype(dtype), np.array([2, 2, 2]).astype(dtype)):
        for correction in (3, 3.5, 4):
            assert np.isnan(call(lambda x, c=correction: function(x, correction=c), device, host))
    assert np.isnan(call(function, device, np.zeros(0, dtype)))


def test_empty_arrays(device: Any) -> None:
    for dtype in (np.float32, np.complex64):
        nothing = np.zeros(0, dtype)
        assert_bits(call(xp.sum, device, nothing)[None], np.zeros(1, dtype))
        assert_bits(call(xp.prod, device, nothing)[None], np.ones(1, dtype))
    assert np.isnan(call(xp.mean, device, np.zeros(0)))
    found = call(xp.mean, device, np.zeros(0, np.complex128))
    assert np.isnan(found.real)
    assert np.isnan(found.imag)


@pytest.mark.parametrize("dtype", dt.COMPLEX_FLOATS, ids=str)
def test_the_parts_of_a_complex_mean_are_apart(dtype: Any, device: Any) -> None:
    got = call(xp.mean, device, np.array([complex(math.nan, 1), complex(2, 3)], dtype))
    assert np.isnan(got.real)
    assert got.imag == 2
    got = call(xp.mean, device, np.array([complex(1, math.inf), complex(2, 3)], dtype))
    assert (got.real, got.imag) == (1.5, math.inf)


@floats
def test_sums_and_products_are_those_of_their_terms(dtype: Any, device: Any) -> None:
    inf = math.inf
    for name, values, wanted in (
        ("sum", [inf, 1], inf),
        ("sum", [inf, -inf], math.nan),
        ("prod", [inf, 0], math.nan),
        ("prod", [-inf, 2], -inf),
        ("prod", [-0.0, 2], -0.0),
    ):
        host = np.array(values).astype(dtype)
        found = [call(getattr(xp, name), device, host), call(getattr(xp, f"cumulative_{name}"), device, host)[-1]]
        for got in found:
            assert_bits(np.asarray(got)[None], np.array([wanted]).astype(dtype), host[None])
