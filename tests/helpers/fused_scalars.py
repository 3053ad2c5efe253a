"""Functions of an array and a scalar. Fused, they must have the same bits as their functions called one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import xpops as xp

NDArray = np.ndarray[Any, Any]

FLOATS = (xp.float32, xp.float64, xp.float16, xp.bfloat16)
INTEGERS = (xp.int8, xp.int64, xp.uint16, xp.uint64)
NUMBERS = (0.5, -1.75, 3, True, float("nan"), float("inf"), -0.0, 1e300)
HUGE = (*NUMBERS, 2**70)  # 2**70 is for floating-point dtypes only
WHOLE = (3, 0, True, 100)


class Case(NamedTuple):
    """A function, the dtypes of its array argument, and its scalar arguments."""

    function: Callable[[Any, Any], Any]
    dtypes: tuple[Any, ...]
    scalars: tuple[Any, ...]


def _each(*functions: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, a: tuple(function(x, a) for function in functions)


def _both(*functions: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Each function with the scalar as the second and as the first operand."""
    return _each(*functions, *(lambda x, a, f=function: f(a, x) for function in functions))


_CLIPS = _each(
    lambda x, a: xp.clip(x, a, 1), lambda x, a: xp.clip(x, a), lambda x, a: xp.clip(x, max=a), lambda x, a: x.clip(0, a)
)

CASES: dict[str, Case] = {
    "clip": Case(_CLIPS, FLOATS, HUGE),
    "clip integers": Case(_CLIPS, INTEGERS, WHOLE),
    "where": Case(
        _each(
            lambda x, a: xp.where(x > a, x, a),
            lambda x, a: xp.where(x <= 0, a, a * 2),
            lambda x, a: xp.where(a > 1, x, -x),
            lambda x, a: xp.where((a > 1) & (a != 3) | (a == 0.5), x * 2, abs(a)),
        ),
        FLOATS,
        NUMBERS,
    ),
    "where integers": Case(_each(lambda x, a: xp.where(x > a, x, a), lambda x, a: x | (a & 1)), INTEGERS, WHOLE),
    "arithmetic": Case(_both(xp.add, xp.subtract, xp.multiply, xp.divide), FLOATS, HUGE),
    "arithmetic of integers": Case(_both(xp.add, xp.multiply, xp.floor_divide, xp.remainder), INTEGERS, WHOLE),
    "division": Case(_both(xp.floor_divide, xp.remainder, xp.pow), FLOATS, HUGE),
    "extremes": Case(_both(xp.maximum, xp.minimum, xp.copysign, xp.nextafter), FLOATS, HUGE),
    "extremes of integers": Case(_both(xp.maximum, xp.minimum, xp.pow, xp.bitwise_xor), INTEGERS, WHOLE),
    "curves": Case(_both(xp.hypot, xp.atan2, xp.logaddexp), FLOATS, HUGE),
    "comparisons": Case(_both(xp.less, xp.equal, xp.greater_equal, xp.logical_and), FLOATS, HUGE),
    "promotion": Case(_each(lambda x, a: x * a, lambda x, a: a - x, lambda x, a: xp.atan2(x, a)), INTEGERS, NUMBERS),
    "integers and floats": Case(lambda x, a: (x * a, xp.astype(x, xp.float32) * a), INTEGERS, WHOLE),
    "integers and complex numbers": Case(  # rounded twice, this number gives another result
        lambda x, a: (x + a, xp.astype(x, xp.complex64) + a), (xp.int64, xp.uint64), (2**60 + 2**36 + 1, 3, True)
    ),
    "truth of integers": Case(
        lambda x, a: (xp.logical_and(x, a), xp.logical_or(a * 2**64, x)), (*FLOATS, *INTEGERS), (*WHOLE, -1, 2**70)
    ),
    "parts": Case(
        _each(
            lambda x, a: x * a.real + a.imag,
            lambda x, a: a.conjugate() - x,
            lambda x, a: xp.where((a * 1j).imag > 0, x, a.real),
        ),
        FLOATS,
        (*NUMBERS, 2 - 3j, complex(-0.0, float("inf"))),
    ),
    "leaky_relu": Case(
        _each(
            lambda x, a: xp.nn.leaky_relu(x, negative_slope=a),
            lambda x, a: xp.nn.leaky_relu(x, negative_slope=a, dtype=xp.float16),
        ),
        FLOATS,
        HUGE,
    ),
    "softplus": Case(
        _each(
            lambda x, a: xp.nn.softplus(x, beta=a),
            lambda x, a: xp.nn.softplus(x, threshold=a),
            lambda x, a: xp.nn.softplus(x, beta=a + 1, threshold=a * 2, dtype=xp.float32),
        ),
        FLOATS,
        NUMBERS,
    ),
    "result_type": Case(lambda x, a: xp.astype(x, xp.result_type(x, a)) + 1, INTEGERS, NUMBERS),
    "ends of uint64": Case(_both(xp.add, xp.bitwise_xor, xp.maximum), (xp.uint64,), (2**63, 2**64 - 1, 0)),
    "ends of int64": Case(_both(xp.add, xp.bitwise_xor, xp.maximum), (xp.int64,), (-(2**63), 2**63 - 1)),
    "complex": Case(_both(xp.add, xp.multiply, xp.equal), (xp.complex64, xp.complex128), (1j, 0.5, 2, True, 2**70)),
}


def elements(dtype: Any) -> NDArray:
    """Some elements, including NaN and the largest number."""
    if np.dtype(dtype).kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 100, ends.max, ends.min, ends.max - 1] * 5, dtype)
    found = np.array([0.0, -0.0, 0.5, -1.75, 3.0, -2.0, np.inf, -np.inf, np.nan, 1e-7, 30.0] * 5)
    return found.astype(dtype)


def tuples(*results: Any) -> list[tuple[Any, ...]]:
    return [each if isinstance(each, tuple) else (each,) for each in results]


def assert_same_bits(got: Any, wanted: Any) -> None:
    """Assert the same dtype, shape and bits, except that any NaN equals any NaN."""
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    one, other = got.to_numpy(), wanted.to_numpy()
    nans = np.isnan(other) if other.dtype.kind not in "iub" else np.zeros(other.shape, bool)
    np.testing.assert_array_equal(np.isnan(one) if nans.any() else nans, nans)
    raw = f"u{one.itemsize}" if one.dtype.kind != "c" else f"u{one.itemsize // 2}"
    keep = ~nans
    np.testing.assert_array_equal(one[keep].view(raw), other[keep].view(raw))
