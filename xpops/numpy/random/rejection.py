"""Distributions drawn by rejection, in a fixed number of rounds: nothing waits for the device.

Each round proposes a number for every element. An element keeps the first number that is accepted. An element without
one after all rounds has a probability below 1e-13, and gets a number near the mode.
"""

from __future__ import annotations

import math
from typing import Any

from xpops.api.creation.filling import full
from xpops.api.data_types import astype
from xpops.api.elementwise.exponential import exp, log
from xpops.api.elementwise.floating_point import copysign
from xpops.api.elementwise.limits import clip
from xpops.api.elementwise.powers import sqrt
from xpops.api.elementwise.trigonometric import acos, cos
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.numpy.arguments import store
from xpops.numpy.random.draws import Draws, require

# The rounds after which an element was refused each time with a probability below 1e-13.
_GAMMA_ROUNDS, _ANGLE_ROUNDS = 11, 30


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
    """Methods of `Generator`, and numbers that other distributions are made of."""

    def _log_gamma(self, shape: tuple[int, ...], alpha: Any) -> Array:
        """The logarithms of numbers of the standard gamma distribution: those of small shapes underflow."""
        alpha = full(shape, 0.0, dtype=dt.float64) + alpha
        d = where(alpha < 1, alpha + 1, alpha) - 1 / 3
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_GAMMA_ROUNDS):
            found = _gamma_round(found, self._gaussian(shape), self._waiting(shape), d)
        made: Array = _log_gamma_small(found, d, self._waiting(shape), alpha)
        return made

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
