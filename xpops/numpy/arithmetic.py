"""Arithmetic and powers."""

from __future__ import annotations

from typing import Any

from xpops import special
from xpops.api.data_types import astype, result_type
from xpops.api.elementwise import arithmetic, bitwise, exponential, limits, logical, powers, signs
from xpops.api.elementwise.rounding import trunc
from xpops.api.fusion import fuse
from xpops.core import dtypes as dt
from xpops.numpy.arguments import as_floating, dtype_of, with_dtype
from xpops.numpy.elementwise import of_row, ufunc

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


@fuse
def _float_power(x: Any, y: Any) -> Any:
    wide = dt.complex128 if result_type(x, y) in dt.COMPLEX_FLOATS else dt.float64
    return powers.pow(*with_dtype((x, y), wide))


@fuse
def _reciprocal(x: Any) -> Any:
    integer = dtype_of(x) in dt.CATEGORIES["integer"]
    return astype(trunc(powers.reciprocal(x)), dtype_of(x)) if integer else powers.reciprocal(x)


@fuse
def _fabs(x: Any) -> Any:
    return signs.abs(as_floating(x))


add = ufunc("add", arithmetic.add, 2, logical.logical_or)
subtract = ufunc("subtract", arithmetic.subtract, 2)
multiply = ufunc("multiply", arithmetic.multiply, 2, logical.logical_and)
divide = true_divide = ufunc("divide", arithmetic.divide, 2)
floor_divide = ufunc("floor_divide", arithmetic.floor_divide, 2)
mod = remainder = ufunc("remainder", arithmetic.remainder, 2)
fmod = ufunc("fmod", of_row("fmod"), 2)
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
heaviside = ufunc("heaviside", of_row("heaviside"), 2)
exp = ufunc("exp", exponential.exp)
exp2 = ufunc("exp2", special.exp2)
expm1 = ufunc("expm1", exponential.expm1)
log = ufunc("log", exponential.log)
log2 = ufunc("log2", exponential.log2)
log10 = ufunc("log10", exponential.log10)
log1p = ufunc("log1p", exponential.log1p)
logaddexp = ufunc("logaddexp", exponential.logaddexp, 2)
logaddexp2 = ufunc("logaddexp2", of_row("logaddexp2"), 2)
maximum = ufunc("maximum", limits.maximum, 2, logical.logical_or)
minimum = ufunc("minimum", limits.minimum, 2, logical.logical_and)
fmax = ufunc("fmax", of_row("fmax"), 2, logical.logical_or)
fmin = ufunc("fmin", of_row("fmin"), 2, logical.logical_and)
gcd = ufunc("gcd", of_row("gcd"), 2)
lcm = ufunc("lcm", of_row("lcm"), 2)
bitwise_and = ufunc("bitwise_and", bitwise.bitwise_and, 2)
bitwise_or = ufunc("bitwise_or", bitwise.bitwise_or, 2)
bitwise_xor = ufunc("bitwise_xor", bitwise.bitwise_xor, 2)
invert = bitwise_not = ufunc("invert", bitwise.bitwise_invert)
left_shift = ufunc("left_shift", bitwise.bitwise_left_shift, 2)
right_shift = ufunc("right_shift", bitwise.bitwise_right_shift, 2)
