"""Distributions drawn by rejection, in a fixed number of rounds: nothing waits for the device.

Each round proposes a number for every element. An element keeps the first number that is accepted. An element without
one after all rounds has a probability below 1e-13, and gets a number near the mode.
"""

from __future__ import annotations

import math
from typing import Any

from xpops.api.creation.filling import full
from xpops.api.data_types import astype
from xpops.api.elementwise.exponential import exp, log, log1p
from xpops.api.elementwise.floating_point import copysign
from xpops.api.elementwise.limits import clip, maximum, minimum
from xpops.api.elementwise.powers import sqrt
from xpops.api.elementwise.rounding import floor
from xpops.api.elementwise.signs import abs
from xpops.api.elementwise.trigonometric import acos, cos
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.numpy.arguments import store
from xpops.numpy.random.draws import Draws, require

# The rounds after which an element was refused each time with a probability below 1e-13.
_GAMMA_ROUNDS, _COUNT_ROUNDS, _ANGLE_ROUNDS = 11, 25, 30
# Means below this are drawn by inversion; more than 70 events have a probability below 1e-35 then.
_SMALL_MEAN, _MOST_EVENTS = 10.0, 70


@fuse
def _gamma_round(found: Any, normal: Any, waiting: Any, d: Any) -> Any:
    """Marsaglia and Tsang (2000), for a shape of ``d + 1/3`` from 1 on. At least 95 % are accepted."""
    root = 1 + normal / (3 * sqrt(d))
    cube = root * root * root
    kept = (root > 0) & (-waiting < 0.5 * normal * normal + d * (1 - cube + log(where(root > 0, cube, 1.0))))
    return where((found != found) & kept, d * cube, found)


@fuse
def _log_gamma_small(found: Any, d: Any, waiting: Any, shape: Any) -> Any:
    """The logarithm of a number of `shape` from one of a shape that is larger by 1, if `shape` is below 1."""
    whole = log(where(found != found, d, found))
    return where(shape < 1, whole - waiting / shape, whole)


def _log_factorial(k: Any) -> Any:
    """``log(k!)`` by Stirling's series, 10 places further on."""
    x = k + 11.0
    series = 1 / x * (1 / 12 - 1 / (x * x) * (1 / 360 - 1 / (1260 * x * x)))
    steps = log((k + 1) * (k + 2) * (k + 3) * (k + 4) * (k + 5))
    steps = steps + log((k + 6) * (k + 7) * (k + 8) * (k + 9) * (k + 10))
    return (x - 0.5) * log(x) - x + 0.5 * math.log(2 * math.pi) + series - steps


@fuse
def _poisson_round(found: Any, u: Any, v: Any, mean: Any) -> Any:
    """Hoermann's PTRS (1993), for means from 10 on. At least 75 % are accepted."""
    b = 0.931 + 2.53 * sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    near = 0.5 - abs(u - 0.5)
    near = where(near > 0, near, 1e-300)
    k = floor((2 * a / near + b) * (u - 0.5) + mean + 0.43)
    sure = (near >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    count = where(k >= 0, k, 0.0)
    bound = count * log(mean) - mean - _log_factorial(count)
    kept = (
        (k >= 0)
        & ((near >= 0.013) | (v <= near))
        & (log(where(v > 0, v, 1e-300)) + log(inverse) - log(a / (near * near) + b) <= bound)
    )
    return where((found != found) & (sure | kept), k, found)


@fuse
def _poisson_step(found: Any, rest: Any, term: Any, mean: Any, number: Any) -> Any:
    """One step of inversion: `rest` is the random number minus the probabilities of fewer events."""
    return where(rest >= term, number, found), rest - term, term * mean / number


@fuse
def _binomial_round(found: Any, u: Any, v: Any, n: Any, p: Any) -> Any:
    """Hoermann's BTRS (1993), for means from 10 on and `p` up to 0.5. At least 70 % are accepted."""
    spread = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    mode = floor((n + 1) * p)
    near = 0.5 - abs(u - 0.5)
    near = where(near > 0, near, 1e-300)
    k = floor((2 * a / near + b) * (u - 0.5) + n * p + 0.5)
    sure = (near >= 0.07) & (v <= 0.92 - 4.2 / b)
    inside = (k >= 0) & (k <= n)
    count = where(inside, k, mode)
    bound = (
        _log_factorial(mode) + _log_factorial(n - mode) - _log_factorial(count) - _log_factorial(n - count)
        + (count - mode) * log(p / (1 - p))
    )  # fmt: skip
    kept = log(where(v > 0, v, 1e-300) * alpha / (a / (near * near) + b)) <= bound
    return where((found != found) & inside & (sure | kept), k, found)


@fuse
def _binomial_step(found: Any, rest: Any, term: Any, n: Any, odds: Any, number: Any) -> Any:
    """One step of inversion, as for Poisson's distribution."""
    return where(rest >= term, number, found), rest - term, term * odds * (n - number + 1) / number


@fuse
def _angle_round(found: Any, u: Any, v: Any, side: Any, kappa: Any) -> Any:
    """Best and Fisher (1979). At least 65 % are accepted."""
    tau = 1 + sqrt(1 + 4 * kappa * kappa)
    rho = (tau - sqrt(2 * tau)) / (2 * kappa)
    r = (1 + rho * rho) / (2 * rho)
    z = cos(math.pi * u)
    f = (1 + r * z) / (r + z)
    c = kappa * (r - f)
    kept = (c * (2 - c) - v > 0) | (log(c / where(v > 0, v, 1e-300)) + 1 - c >= 0)
    angle = copysign(acos(clip(f, -1.0, 1.0)), side - 0.5)
    return where((found != found) & kept, angle, found)


class Rejection(Draws):
    """Methods that other distributions are made of."""

    def _log_gamma(self, shape: tuple[int, ...], alpha: Any) -> Array:
        """The logarithms of numbers of the standard gamma distribution: those of small shapes underflow."""
        alpha = full(shape, 0.0, dtype=dt.float64) + alpha
        d = where(alpha < 1, alpha + 1, alpha) - 1 / 3
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_GAMMA_ROUNDS):
            found = _gamma_round(found, self._gaussian(shape), self._waiting(shape), d)
        made: Array = _log_gamma_small(found, d, self._waiting(shape), alpha)
        return made

    def _poisson(self, shape: tuple[int, ...], mean: Any) -> Array:
        """Numbers of Poisson's distribution, as float64."""
        mean = full(shape, 0.0, dtype=dt.float64) + mean
        large, small = maximum(mean, _SMALL_MEAN), minimum(mean, _SMALL_MEAN)
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_COUNT_ROUNDS):
            found = _poisson_round(found, self._unit(shape), self._unit(shape), large)
        few, rest, term = full(shape, 0.0, dtype=dt.float64), self._unit(shape), exp(-small)
        for number in range(1, _MOST_EVENTS):
            few, rest, term = _poisson_step(few, rest, term, small, float(number))
        chosen: Array = where(mean < _SMALL_MEAN, few, where(found != found, floor(large), found))
        return chosen

    def _binomial(self, shape: tuple[int, ...], n: Any, p: Any) -> Array:
        """Numbers of the binomial distribution, as float64."""
        blank = full(shape, 0.0, dtype=dt.float64)
        n, p = blank + n, blank + p
        less = minimum(p, 1 - p)
        is_small = n * less < _SMALL_MEAN
        many, chance = where(is_small, 40.0, n), where(is_small, 0.5, less)
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_COUNT_ROUNDS):
            found = _binomial_round(found, self._unit(shape), self._unit(shape), many, chance)
        few, rest = blank, self._unit(shape)
        rare = where(is_small, less, 0.0)
        term, odds = exp(n * log1p(-rare)), rare / (1 - rare)
        for number in range(1, _MOST_EVENTS):
            few, rest, term = _binomial_step(few, rest, term, n, odds, float(number))
        count = where(is_small, minimum(few, n), where(found != found, floor(many * chance), found))
        mirrored: Array = where(p > 0.5, n - count, count)
        return mirrored

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.vonmises`: angles from -pi to pi."""
        require("vonmises", "kappa", kappa, 0)
        shape, (mu, kappa) = self._shaped(size, mu, kappa)
        kappa = full(shape, 0.0, dtype=dt.float64) + kappa
        is_wide = kappa < 1e-6
        sharp = where(is_wide, 1.0, kappa)
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_ANGLE_ROUNDS):
            found = _angle_round(found, self._unit(shape), self._unit(shape), self._unit(shape), sharp)
        around = math.pi * (2 * self._unit(shape) - 1)
        angle = where(is_wide, around, where(found != found, 0.0, found)) + mu
        return (angle + math.pi) % (2 * math.pi) - math.pi

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = dt.float64, out: Any = None) -> Any:
        """As `numpy.random.Generator.standard_gamma`."""
        require("standard_gamma", "shape", shape, 0, beyond=True)
        lengths, (alpha,) = self._shaped(size, shape)
        return store(astype(exp(self._log_gamma(lengths, alpha)), dtype, copy=False), out, "standard_gamma")
