"""Rounding, and the parts of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api.data_types import astype
from xpops.api.elementwise import floating_point, limits, rounding, signs
from xpops.api.elementwise.arithmetic import divide, multiply
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.core import dtypes as dt
from xpops.core.symbols import scalar_type
from xpops.dispatch import elementwise
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.numpy.arguments import arrays_of, as_floating, dtype_of, floating, given, is_scalar, store
from xpops.numpy.elementwise import ufunc
from xpops.ops.elementwise import OPERATORS

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
    kind = _kind(exponent)
    if kind not in (int, bool, *dt.CATEGORIES["integer or boolean"]):
        raise TypeError(f"ldexp: x2 is {getattr(kind, '__name__', kind)}; accepted: integers")
    x = arrays_of((x, exponent), scalars=True)[0] if is_scalar(x) else x
    return _scaled(floating(x), exponent)


def _kind(x: Any) -> Any:
    """The type of a scalar, or the dtype of an array."""
    if isinstance(x, numpy.generic):
        return x.dtype
    return x.kind if isinstance(x, TracedScalar) else scalar_type(x) or dtype_of(x)


@fuse
def _scaled(x: Any, exponent: Any) -> Any:
    """``x * 2**exponent``. bfloat16 lacks the digits of its own exponents."""
    dtype = dtype_of(x)
    wide = astype(x, dt.float32) if dtype in dt.HALVES else x
    return astype(elementwise(OPERATORS["ldexp"], (wide, exponent)), dtype, copy=False)


@fuse
def _frexp(x: Any) -> Any:
    """The fraction from 0.5 to 1, and the exponent."""
    x = as_floating(x)
    exponent = elementwise(OPERATORS["exponent"], (x,))
    return elementwise(OPERATORS["ldexp"], (x, signs.negative(exponent))), astype(exponent, dt.int32)


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
    a, low, high = arrays_of((given(a), low, high))
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
ldexp = ufunc("ldexp", _ldexp, 2, converted=1)
frexp = ufunc("frexp", _frexp)
modf = ufunc("modf", _modf)
