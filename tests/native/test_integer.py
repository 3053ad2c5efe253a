"""Functors on integers and bool, against NumPy, with the limits of each type."""

import numpy as np
import pytest
from functor_table import BOOL, INTEGERS
from functors import run
from host_compile import COMPILER

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]
RNG = np.random.default_rng(11)


def operands(dtype):
    if dtype == "bool":
        return np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    edges = [
        v
        for v in (low, low + 1, -65, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 10, 63, 64, 100, high - 1, high)
        if low <= v <= high
    ]
    x, y = (a.ravel() for a in np.meshgrid(np.array(edges, dtype), np.array(edges, dtype)))
    draw = [RNG.integers(low, high, 5000, dtype, True) for _ in range(2)]
    return np.concatenate([x, draw[0]]), np.concatenate([y, draw[1]])


def sign_fixed_pow(x, y):
    """NumPy's power, and for negative exponents 1, +-1 or 0."""
    if x.dtype.kind == "u":
        return x**y
    positive = x ** np.where(y < 0, 0, y).astype(y.dtype)
    negative = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0))
    return np.where(y < 0, negative, positive)


BINARY = {
    "Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply, "FloorDivide": np.floor_divide,
    "Remainder": np.remainder, "Maximum": np.maximum, "Minimum": np.minimum, "Pow": sign_fixed_pow,
    "Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater,
    "GreaterEqual": np.greater_equal, "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor, "BitwiseLeftShift": np.left_shift, "BitwiseRightShift": np.right_shift,
}  # fmt: skip
UNARY = {
    "Negative": np.negative, "Positive": np.positive, "Identity": np.positive, "Abs": np.abs, "Sign": np.sign,
    "Square": np.square, "BitwiseInvert": np.invert, "Ceil": np.positive, "Floor": np.positive, "Round": np.positive,
    "Trunc": np.positive, "Isfinite": np.isfinite, "Isinf": np.isinf, "Isnan": np.isnan,
}  # fmt: skip


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        want = BINARY[name](x, y)
    np.testing.assert_array_equal(run(name, x, y), want)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    x = operands(dtype)[0]
    np.testing.assert_array_equal(run(name, x), UNARY[name](x))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ternary(dtype):
    x, lo = operands(dtype)
    hi = np.roll(lo, 5)
    np.testing.assert_array_equal(run("Clip", x, lo, hi), np.minimum(np.maximum(x, lo), hi))
    np.testing.assert_array_equal(run("Where", x > lo, x, lo), np.where(x > lo, x, lo))


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d[0] == "i"])
def test_division_edges(dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([low, low, 7, -7], dtype), np.array([-1, 0, 0, 0], dtype)
    np.testing.assert_array_equal(run("FloorDivide", x, y), [low, 0, 0, 0])
    np.testing.assert_array_equal(run("Remainder", x, y), [0, 0, 0, 0])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", ["FloorDivide", "Remainder", "Pow"])
def test_all_bytes(name, dtype):
    x, y = (each.ravel().astype(dtype) for each in np.mgrid[:256, :256])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(name, x, y), BINARY[name](x, y))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_of_two_and_their_neighbours_as_exponents(dtype):
    info = np.iinfo(dtype)
    exponents = np.array([v for k in range(info.bits) for v in (2**k - 1, 2**k, 2**k + 1) if v <= info.max], dtype)
    bases = np.concatenate([np.arange(1, 18).astype(dtype), operands(dtype)[0][-100:]])
    x, y = (each.ravel() for each in np.meshgrid(bases, exponents))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run("Pow", x, y), x**y)


@pytest.mark.parametrize(
    "name", ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LogicalAnd", "LogicalOr", "LogicalXor", "Equal", "NotEqual"]
)
def test_bool_binary(name):
    x, y = operands(BOOL[0])
    numpy_name = {"Equal": "equal", "NotEqual": "not_equal"}.get(name, name.replace("e", "e_").lower())
    numpy_name = {"logicaland": "logical_and", "logicalor": "logical_or", "logicalxor": "logical_xor"}.get(
        numpy_name, numpy_name
    )
    np.testing.assert_array_equal(run(name, x, y), getattr(np, numpy_name)(x, y))


@pytest.mark.parametrize("name", ["BitwiseInvert", "LogicalNot"])
def test_bool_not(name):
    np.testing.assert_array_equal(run(name, np.array([False, True])), [True, False])
