"""Trigonometric functions."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy

from xpops.api.data_types import astype
from xpops.api.elementwise import exponential, hyperbolic, powers, trigonometric
from xpops.api.elementwise.arithmetic import add, multiply, remainder
from xpops.api.elementwise.limits import maximum
from xpops.api.elementwise.signs import abs
from xpops.api.fusion import fuse
from xpops.api.manipulation.padding import pad
from xpops.api.searching import where
from xpops.api.statistics.sums import cumulative_sum
from xpops.api.utility import diff
from xpops.core import dtypes as dt
from xpops.numpy.arguments import dtype_of, floating
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


@cache
def _bessel_coefficients() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Chebyshev coefficients of ``exp(-x) I0(x)`` by ``x / 4 - 1``, and of ``sqrt(x) exp(-x) I0(x)`` by ``16 / x - 1``.

    The integral of `I0` over a period is summed at equal steps, which converges faster than any power of the step.
    """
    angles = numpy.linspace(0, numpy.pi, 400, endpoint=False) + numpy.pi / 800

    def scaled(x: Any) -> Any:
        return numpy.exp(x[:, None] * (numpy.cos(angles) - 1)).mean(axis=1)

    def far(t: Any) -> Any:
        x = numpy.minimum(16 / (t + 1), 1e4)
        return numpy.sqrt(x) * scaled(x)

    interpolate = numpy.polynomial.chebyshev.chebinterpolate
    near = interpolate(lambda t: scaled(4 * (t + 1)), 30)
    return tuple(map(float, near)), tuple(map(float, interpolate(far, 26)))


def _clenshaw(t: Any, coefficients: tuple[float, ...]) -> Any:
    last, before = 0.0 * t, 0.0 * t
    for each in coefficients[:0:-1]:
        last, before = 2 * t * last - before + each, last
    return t * last - before + coefficients[0]


@fuse
def _i0(x: Any) -> Any:
    near, far = _bessel_coefficients()
    size = abs(x)
    large = maximum(size, 8.0)
    found = where(
        size < 8,
        _clenshaw(where(size < 8, size, 0.0) / 4 - 1, near),
        _clenshaw(16 / large - 1, far) / powers.sqrt(large),
    )
    return exponential.exp(size) * found


def i0(x: Any) -> Any:
    """As `numpy.i0`: the modified Bessel function of the first kind of order 0."""
    x = floating(x)
    return astype(_i0(astype(x, dt.float64)), dtype_of(x), copy=False)


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
deg2rad = radians = ufunc("deg2rad", lambda x: multiply(floating(x), math.pi / 180))
rad2deg = degrees = ufunc("rad2deg", lambda x: multiply(floating(x), 180 / math.pi))
