"""Rounding, and the parts of floating-point numbers."""

from __future__ import annotations

from typing import Any

from xpops.api.data_types import astype
from xpops.api.elementwise import floating_point, limits, powers, rounding
from xpops.api.elementwise.arithmetic import divide, multiply
from xpops.api.elementwise.exponential import log2
from xpops.api.elementwise.signs import abs
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.core import dtypes as dt
from xpops.numpy.arguments import as_floating, dtype_of, floating, given, is_scalar, store
from xpops.numpy.elementwise import ufunc

__all__ = [
    "around", "ceil", "clip", "copysign", "fix", "floor", "frexp", "ldexp", "modf", "nextafter", "rint",
    "round", "trunc",
]  # fmt: skip


@fuse
def _modf(x: Any) -> Any:
    x = as_floating(x)
    whole = rounding.trunc(x)
    part = where(floating_point.isinf(x), 0.0, x - whole)
    return floating_point.copysign(part, x), whole


@fuse
def _rint(x: Any) -> Any:
    return rounding.round(as_floating(x))


def _ldexp(x: Any, exponent: Any) -> Any:
    """``x * 2**exponent``, by two powers of two: one alone may be out of range."""
    x = floating(x)
    return astype(_scaled(astype(x, dt.float64), exponent), dtype_of(x), copy=False)


@fuse
def _scaled(x: Any, exponent: Any) -> Any:
    whole = limits.clip(where(x == x, exponent * 1.0, 0.0), -2200.0, 2200.0)
    third = rounding.trunc(whole / 3)
    step = powers.pow(2.0, third)
    return x * step * step * powers.pow(2.0, whole - third - third)


@fuse
def _frexp(x: Any) -> Any:
    """The fraction from 0.5 to 1, and the exponent; the logarithm may round to the next integer."""
    plain = (x != 0) & floating_point.isfinite(x)
    tiny = abs(x) < 2.0**-900
    size = where(plain, where(tiny, abs(x) * 2.0**200, abs(x)), 0.75)
    guess = rounding.floor(log2(size)) + 1
    half = rounding.trunc(guess / 2)
    part = size * powers.pow(2.0, -half) * powers.pow(2.0, half - guess)
    above, below = part >= 1, part < 0.5
    part = where(above, part / 2, where(below, part * 2, part))
    exponent = guess + where(above, 1.0, where(below, -1.0, 0.0)) - where(tiny & plain, 200.0, 0.0)
    fraction = where(plain, floating_point.copysign(part, x), x)
    return fraction, where(plain, exponent, 0.0)


def _parts(x: Any) -> tuple[Any, Any]:
    x = floating(x)
    fraction, exponent = _frexp(astype(x, dt.float64))
    return astype(fraction, dtype_of(x), copy=False), astype(exponent, dt.int32)


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """As `numpy.around`: to so many places behind the point, or before it if `decimals` is negative."""
    a = given(a)
    integer = dtype_of(a) in dt.CATEGORIES["integer or boolean"]
    if decimals == 0 or (integer and decimals > 0):
        found = rounding.round(a)
    elif decimals > 0:
        found = _round_behind(a, 10.0**decimals)
    else:
        found = _round_before(a, 10.0**-decimals)
    return store(found, out, "around")


@fuse
def _round_behind(a: Any, scale: Any) -> Any:
    return divide(rounding.round(multiply(a, scale)), scale)


@fuse
def _round_before(a: Any, scale: Any) -> Any:
    found = multiply(rounding.round(divide(a, scale)), scale)
    return astype(found, dtype_of(a)) if dtype_of(a) in dt.CATEGORIES["integer or boolean"] else found


@fuse
def _clip(a: Any, low: Any, high: Any) -> Any:
    return limits.minimum(limits.maximum(a, low), high)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """As `numpy.clip`: the bounds are `a_min` and `a_max`, or `min` and `max`."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    low, high = (each if each is None or is_scalar(each) else given(each) for each in (low, high))
    a = given(a)
    if low is not None and high is not None:
        return store(_clip(a, low, high), out, "clip")
    found = a if low is None else limits.maximum(a, low)
    return store(found if high is None else limits.minimum(found, high), out, "clip")


round = around
rint = ufunc("rint", _rint)
fix = ufunc("fix", rounding.trunc)
floor = ufunc("floor", rounding.floor)
ceil = ufunc("ceil", rounding.ceil)
trunc = ufunc("trunc", rounding.trunc)
copysign = ufunc("copysign", floating_point.copysign, 2)
nextafter = ufunc("nextafter", floating_point.nextafter, 2)
ldexp = ufunc("ldexp", _ldexp, 2)
frexp = ufunc("frexp", _parts)
modf = ufunc("modf", _modf)
