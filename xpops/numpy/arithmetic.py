"""Arithmetic and powers."""

from __future__ import annotations

import math
from typing import Any

from xpops.api.data_types import astype, result_type
from xpops.api.elementwise import arithmetic, bitwise, comparison, exponential, limits, logical, powers, signs
from xpops.api.elementwise.floating_point import copysign, isinf, isnan
from xpops.api.elementwise.rounding import trunc
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.core import dtypes as dt
from xpops.numpy.arguments import dtype_of, floating, is_scalar
from xpops.numpy.elementwise import ufunc

__all__ = [
    "abs",
    "absolute",
    "add",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "divide",
    "divmod",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "heaviside",
    "invert",
    "lcm",
    "left_shift",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "positive",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "right_shift",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "true_divide",
]  # fmt: skip


def _divmod(x: Any, y: Any) -> Any:
    return arithmetic.floor_divide(x, y), arithmetic.remainder(x, y)


def _spread(x: Any, y: Any) -> Any:
    """`x`, as an array if it is a scalar and `y` an array."""
    return where(comparison.equal(x, y), x, x)


@fuse
def _fmod(x: Any, y: Any) -> Any:
    x, y = _spread(x, y), _spread(y, x)
    rest = arithmetic.remainder(signs.abs(x), signs.abs(y))
    return where(comparison.less(x, 0), signs.negative(rest), rest)


def _float_power(x: Any, y: Any) -> Any:
    wide = dt.complex128 if result_type(x, y) in dt.COMPLEX_FLOATS else dt.float64
    base, exponent = (each if is_scalar(each) else astype(each, wide) for each in (x, y))
    return powers.pow(base, exponent)


def _reciprocal(x: Any) -> Any:
    integer = dtype_of(x) in dt.CATEGORIES["integer"]
    return astype(trunc(powers.reciprocal(x)), dtype_of(x)) if integer else powers.reciprocal(x)


@fuse
def _cbrt(x: Any) -> Any:
    """One step of Newton's method after a power that is rounded."""
    size = signs.abs(x)
    root = powers.pow(size, 1 / 3)
    square = 3 * root * root
    step = (root * root * root - size) / where(square == 0, 1.0, square)
    plain = (size == 0) | isinf(size) | isnan(size)
    return copysign(where(plain, size, root - step), x)


@fuse
def _heaviside(x: Any, y: Any) -> Any:
    x = _spread(x, y)
    return where(isnan(x), x, where(x == 0, y, where(x < 0, 0.0, 1.0)))


@fuse
def _logaddexp2(x: Any, y: Any) -> Any:
    scale = math.log(2)
    return exponential.logaddexp(x * scale, y * scale) / scale


def _fmax(x: Any, y: Any) -> Any:
    return _number(x, y, limits.maximum)


def _fmin(x: Any, y: Any) -> Any:
    return _number(x, y, limits.minimum)


def _number(x: Any, y: Any, function: Any) -> Any:
    """The function of two numbers, or the number beside a NaN."""
    both = function(x, y)
    if result_type(x, y) not in dt.CATEGORIES["real floating-point"]:
        return both
    for scalar, array in ((x, y), (y, x)):
        if is_scalar(scalar):
            return array if scalar != scalar else where(comparison.not_equal(array, array), scalar, both)
    return where(comparison.not_equal(x, x), y, where(comparison.not_equal(y, y), x, both))


@fuse
def _euclid(x: Any, y: Any) -> Any:
    done = y == 0
    return where(done, x, y), where(done, y, arithmetic.remainder(x, where(done, x | 1, y)))


def _gcd(x: Any, y: Any) -> Any:
    """Euclid's algorithm, in as many steps as the dtype can need (Lame's theorem): nothing waits for the device."""
    if is_scalar(x):
        x = arithmetic.add(arithmetic.multiply(y, 0), x)
    if is_scalar(y):
        y = arithmetic.add(arithmetic.multiply(x, 0), y)
    dtype = result_type(x, y)
    x, y = (signs.abs(astype(each, dtype, copy=False)) for each in (x, y))
    for _ in range(round(1.45 * 8 * dtype.itemsize)):
        x, y = _euclid(x, y)
    return x


def _lcm(x: Any, y: Any) -> Any:
    common = limits.maximum(_gcd(x, y), 1)
    return signs.abs(arithmetic.multiply(arithmetic.floor_divide(x, common), y))


add = ufunc("add", arithmetic.add, 2, logical.logical_or)
subtract = ufunc("subtract", arithmetic.subtract, 2)
multiply = ufunc("multiply", arithmetic.multiply, 2, logical.logical_and)
divide = true_divide = ufunc("divide", arithmetic.divide, 2)
floor_divide = ufunc("floor_divide", arithmetic.floor_divide, 2)
mod = remainder = ufunc("remainder", arithmetic.remainder, 2)
fmod = ufunc("fmod", _fmod, 2)
divmod = ufunc("divmod", _divmod, 2)
power = pow = ufunc("power", powers.pow, 2)
float_power = ufunc("float_power", _float_power, 2)
negative = ufunc("negative", signs.negative)
positive = ufunc("positive", signs.positive)
reciprocal = ufunc("reciprocal", _reciprocal)
square = ufunc("square", powers.square)
sqrt = ufunc("sqrt", powers.sqrt)
cbrt = ufunc("cbrt", lambda x: _cbrt(floating(x)))
absolute = abs = ufunc("absolute", signs.abs, 1, lambda x: x)
fabs = ufunc("fabs", lambda x: signs.abs(floating(x)))
sign = ufunc("sign", signs.sign)
heaviside = ufunc("heaviside", _heaviside, 2)
exp = ufunc("exp", exponential.exp)
exp2 = ufunc("exp2", lambda x: powers.pow(2.0, floating(x)))
expm1 = ufunc("expm1", exponential.expm1)
log = ufunc("log", exponential.log)
log2 = ufunc("log2", exponential.log2)
log10 = ufunc("log10", exponential.log10)
log1p = ufunc("log1p", exponential.log1p)
logaddexp = ufunc("logaddexp", exponential.logaddexp, 2)
logaddexp2 = ufunc("logaddexp2", _logaddexp2, 2)
maximum = ufunc("maximum", limits.maximum, 2, logical.logical_or)
minimum = ufunc("minimum", limits.minimum, 2, logical.logical_and)
fmax = ufunc("fmax", _fmax, 2, logical.logical_or)
fmin = ufunc("fmin", _fmin, 2, logical.logical_and)
gcd = ufunc("gcd", _gcd, 2)
lcm = ufunc("lcm", _lcm, 2)
bitwise_and = ufunc("bitwise_and", bitwise.bitwise_and, 2)
bitwise_or = ufunc("bitwise_or", bitwise.bitwise_or, 2)
bitwise_xor = ufunc("bitwise_xor", bitwise.bitwise_xor, 2)
invert = bitwise_not = ufunc("invert", bitwise.bitwise_invert)
left_shift = ufunc("left_shift", bitwise.bitwise_left_shift, 2)
right_shift = ufunc("right_shift", bitwise.bitwise_right_shift, 2)
