"""Trigonometric functions."""

from __future__ import annotations

import math
from typing import Any

from xpops import special
from xpops.api.elementwise import hyperbolic, powers, trigonometric
from xpops.api.elementwise.arithmetic import add, multiply, remainder
from xpops.api.elementwise.signs import abs
from xpops.api.fusion import fuse
from xpops.api.manipulation.padding import pad
from xpops.api.searching import where
from xpops.api.statistics.sums import cumulative_sum
from xpops.api.utility import diff
from xpops.numpy.arguments import as_floating, floating, given
from xpops.numpy.elementwise import ufunc

__all__ = [
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh",
    "atan", "atan2", "atanh", "cos", "cosh", "deg2rad", "degrees", "hypot", "i0", "rad2deg", "radians", "sin",
    "sinc", "sinh", "tan", "tanh", "unwrap",
]  # fmt: skip


@fuse
def _sinc(x: Any) -> Any:
    angle = math.pi * where(x == 0, 1e-20, x)
    return trigonometric.sin(angle) / angle


def sinc(x: Any) -> Any:
    """As `numpy.sinc`: ``sin(pi x) / (pi x)``, and 1 at 0."""
    return _sinc(floating(x))


def i0(x: Any) -> Any:
    """As `numpy.i0`: the modified Bessel function of the first kind of order 0."""
    return special.i0(given(x))


@fuse
def _radians(x: Any) -> Any:
    return multiply(as_floating(x), math.pi / 180)


@fuse
def _degrees(x: Any) -> Any:
    return multiply(as_floating(x), 180 / math.pi)


@fuse
def _correction(step: Any, discont: Any, period: Any) -> Any:
    half = period / 2
    wrapped = remainder(step + half, period) - half
    wrapped = where((wrapped == -half) & (step > 0), half, wrapped)
    return where(abs(step) < discont, 0.0, wrapped - step)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    """As `numpy.unwrap`: jumps of more than half a period become their complements."""
    p = floating(p)
    least = period / 2 if discont is None else max(discont, period / 2)
    shifts = cumulative_sum(_correction(diff(p, axis=axis), least, period), axis=axis)
    return add(p, pad(shifts, [(int(place == axis % p.ndim), 0) for place in range(p.ndim)]))


sin = ufunc("sin", trigonometric.sin)
cos = ufunc("cos", trigonometric.cos)
tan = ufunc("tan", trigonometric.tan)
arcsin = asin = ufunc("arcsin", trigonometric.asin)
arccos = acos = ufunc("arccos", trigonometric.acos)
arctan = atan = ufunc("arctan", trigonometric.atan)
arctan2 = atan2 = ufunc("arctan2", trigonometric.atan2, 2)
sinh = ufunc("sinh", hyperbolic.sinh)
cosh = ufunc("cosh", hyperbolic.cosh)
tanh = ufunc("tanh", hyperbolic.tanh)
arcsinh = asinh = ufunc("arcsinh", hyperbolic.asinh)
arccosh = acosh = ufunc("arccosh", hyperbolic.acosh)
arctanh = atanh = ufunc("arctanh", hyperbolic.atanh)
hypot = ufunc("hypot", powers.hypot, 2)
deg2rad = radians = ufunc("deg2rad", _radians)
rad2deg = degrees = ufunc("rad2deg", _degrees)
