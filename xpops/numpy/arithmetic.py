"""Arithmetic and powers."""

from __future__ import annotations

import math
from typing import Any

from xpops import special
from xpops.api.data_types import astype, result_type
from xpops.api.elementwise import arithmetic, bitwise, comparison, exponential, limits, logical, powers, signs
from xpops.api.elementwise.rounding import trunc
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.core import dtypes as dt
from xpops.dispatch import elementwise
from xpops.numpy.arguments import as_floating, dtype_of, is_scalar
from xpops.numpy.elementwise import ufunc
from xpops.ops.elementwise import OPERATORS

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


@fuse
def _divmod(x: Any, y: Any) -> Any:
    return arithmetic.floor_divide(x, y), arithmetic.remainder(x, y)


def _spread(x: Any, y: Any) -> Any:
    """`x`, of the dtype to which both promote; as an array if it is a scalar and `y` an array."""
    return where(comparison.less(x, y) & comparison.less(y, x), y, x)


@fuse
def _fmod(x: Any, y: Any) -> Any:
    x, y = _spread(x, y), _spread(y, x)
    rest = arithmetic.remainder(signs.abs(x), signs.abs(y))
    return where(comparison.less(x, 0), signs.negative(rest), rest)


def _float_power(x: Any, y: Any) -> Any:
    wide = dt.complex128 if result_type(x, y) in dt.COMPLEX_FLOATS else dt.float64
    base, exponent = (each if is_scalar(each) else astype(each, wide) for each in (x, y))
    return powers.pow(base, exponent)


@fuse
def _reciprocal(x: Any) -> Any:
    integer = dtype_of(x) in dt.CATEGORIES["integer"]
    return astype(trunc(powers.reciprocal(x)), dtype_of(x)) if integer else powers.reciprocal(x)


@fuse
def _fabs(x: Any) -> Any:
    return signs.abs(as_floating(x))


@fuse
def _heaviside(x: Any, y: Any) -> Any:
    x = _spread(x, y)
    return where(x == 0, y, where(x < 0, 0.0, where(x > 0, 1.0, x)))


@fuse
def _logaddexp2(x: Any, y: Any) -> Any:
    scale = math.log(2)
    return exponential.logaddexp(x * scale, y * scale) / scale


@fuse
def _fmax(x: Any, y: Any) -> Any:
    x, y = _spread(x, y), _spread(y, x)
    return where(comparison.not_equal(x, x), y, where(comparison.not_equal(y, y), x, limits.maximum(x, y)))


@fuse
def _fmin(x: Any, y: Any) -> Any:
    x, y = _spread(x, y), _spread(y, x)
    return where(comparison.not_equal(x, x), y, where(comparison.not_equal(y, y), x, limits.minimum(x, y)))


def _gcd(x: Any, y: Any) -> Any:
    return elementwise(OPERATORS["gcd"], (x, y))


def _lcm(x: Any, y: Any) -> Any:
    return elementwise(OPERATORS["lcm"], (x, y))


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
cbrt = ufunc("cbrt", special.cbrt)
absolute = abs = ufunc("absolute", signs.abs, 1, lambda x: x)
fabs = ufunc("fabs", _fabs)
sign = ufunc("sign", signs.sign)
heaviside = ufunc("heaviside", _heaviside, 2)
exp = ufunc("exp", exponential.exp)
exp2 = ufunc("exp2", special.exp2)
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
