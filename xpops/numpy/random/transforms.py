"""Distributions that are functions of uniform, normal and exponential numbers."""

from __future__ import annotations

import math
from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.data_types import astype
from xpops.api.elementwise.exponential import exp, expm1, log, log1p
from xpops.api.elementwise.limits import maximum
from xpops.api.elementwise.powers import pow, sqrt
from xpops.api.elementwise.rounding import ceil, floor
from xpops.api.elementwise.trigonometric import tan
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.core import dtypes as dt
from xpops.numpy.arguments import is_scalar, store
from xpops.numpy.random.draws import Draws, require


@fuse
def _triangular(u: Any, left: Any, mode: Any, right: Any) -> Any:
    share = (mode - left) / (right - left)
    low = left + sqrt(u * (right - left) * (mode - left))
    high = right - sqrt((1 - u) * (right - left) * (right - mode))
    return where(u < share, low, high)


@fuse
def _wald(normal: Any, u: Any, mean: Any, scale: Any) -> Any:
    """Michael, Schucany and Haas (1976): the smaller root of a quadratic equation, or its partner."""
    y = mean * normal * normal
    ratio = mean / (2 * scale)
    x = mean + ratio * (y - sqrt(y * (4 * scale + y)))
    return where(u * (mean + x) <= mean, x, mean * mean / x)


@fuse
def _logistic(waiting: Any, loc: Any, scale: Any) -> Any:
    return loc - scale * (waiting + log(-expm1(-waiting)))


@fuse
def _geometric(waiting: Any, p: Any) -> Any:
    return maximum(ceil(waiting / -log1p(-p)), 1.0)


@fuse
def _logseries(waiting: Any, u: Any, p: Any) -> Any:
    """Kemp (1981): a geometric number, whose probability of success is random."""
    return 1 + floor(waiting / -log1p(-exp(u * log1p(-p))))


class Transforms(Draws):
    """Methods of `Generator`, with the parameters that NumPy's has. Parameters may be arrays, which broadcast."""

    def random(self, size: Any = None, dtype: Any = dt.float64, out: Any = None) -> Any:
        """As `numpy.random.Generator.random`: real numbers in ``[0, 1)``."""
        return store(super().uniform(size=_size(size, out), dtype=dtype), out, "random")

    def standard_normal(self, size: Any = None, dtype: Any = dt.float64, out: Any = None) -> Any:
        """As `numpy.random.Generator.standard_normal`."""
        return store(super().normal(size=_size(size, out), dtype=dtype), out, "standard_normal")

    def standard_exponential(
        self, size: Any = None, dtype: Any = dt.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """As `numpy.random.Generator.standard_exponential`; `method` changes nothing."""
        return store(super().exponential(size=_size(size, out), dtype=dtype), out, "standard_exponential")

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, **options: Any) -> Any:
        """As `numpy.random.Generator.uniform`."""
        if is_scalar(low) and is_scalar(high):
            return super().uniform(low, high, size, **options)
        shape, (low, high) = self._shaped(size, low, high)
        return low + (high - low) * self._unit(shape)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **options: Any) -> Any:
        """As `numpy.random.Generator.normal`."""
        if is_scalar(loc) and is_scalar(scale):
            return super().normal(loc, scale, size, **options)
        shape, (loc, scale) = self._shaped(size, loc, scale)
        return loc + scale * self._gaussian(shape)

    def exponential(self, scale: Any = 1.0, size: Any = None, **options: Any) -> Any:
        """As `numpy.random.Generator.exponential`."""
        if is_scalar(scale):
            return super().exponential(scale, size, **options)
        shape, (scale,) = self._shaped(size, scale)
        return scale * self._waiting(shape)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.lognormal`."""
        require("lognormal", "sigma", sigma, 0)
        return exp(self.normal(mean, sigma, size))

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.laplace`: the difference of two exponential numbers."""
        require("laplace", "scale", scale, 0)
        shape, (loc, scale) = self._shaped(size, loc, scale)
        return loc + scale * (self._waiting(shape) - self._waiting(shape))

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.logistic`."""
        require("logistic", "scale", scale, 0)
        shape, (loc, scale) = self._shaped(size, loc, scale)
        return _logistic(self._waiting(shape), loc, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.gumbel`."""
        require("gumbel", "scale", scale, 0)
        shape, (loc, scale) = self._shaped(size, loc, scale)
        return loc - scale * log(self._waiting(shape))

    def standard_cauchy(self, size: Any = None) -> Any:
        """As `numpy.random.Generator.standard_cauchy`."""
        return tan(math.pi * (self._unit(self._shaped(size)[0]) - 0.5))

    def pareto(self, a: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.pareto`: the Pareto II distribution."""
        require("pareto", "a", a, 0, beyond=True)
        shape, (a,) = self._shaped(size, a)
        return expm1(self._waiting(shape) / a)

    def weibull(self, a: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.weibull`."""
        require("weibull", "a", a, 0, beyond=True)
        shape, (a,) = self._shaped(size, a)
        return pow(self._waiting(shape), 1 / a)

    def power(self, a: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.power`: numbers from 0 to 1 whose density is ``a * x**(a - 1)``."""
        require("power", "a", a, 0, beyond=True)
        shape, (a,) = self._shaped(size, a)
        return exp(-self._waiting(shape) / a)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.rayleigh`."""
        require("rayleigh", "scale", scale, 0)
        shape, (scale,) = self._shaped(size, scale)
        return scale * sqrt(2 * self._waiting(shape))

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.triangular`."""
        require("triangular", "mode", mode, left if is_scalar(left) else -math.inf)
        require("triangular", "right", right, mode if is_scalar(mode) else -math.inf)
        shape, (left, mode, right) = self._shaped(size, left, mode, right)
        return _triangular(self._unit(shape), left, mode, right)

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.wald`: the inverse Gaussian distribution."""
        require("wald", "mean", mean, 0, beyond=True)
        require("wald", "scale", scale, 0, beyond=True)
        shape, (mean, scale) = self._shaped(size, mean, scale)
        return _wald(self._gaussian(shape), self._unit(shape), mean, scale)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.geometric`: the number of trials up to the first success."""
        require("geometric", "p", p, 0, beyond=True, highest=1)
        shape, (p,) = self._shaped(size, p)
        return astype(_geometric(self._waiting(shape), asarray(p)), dt.int64)

    def logseries(self, p: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.logseries`."""
        require("logseries", "p", p, 0, highest=math.nextafter(1, 0))
        shape, (p,) = self._shaped(size, p)
        return astype(_logseries(self._waiting(shape), self._unit(shape), asarray(p)), dt.int64)


def _size(size: Any, out: Any) -> Any:
    return tuple(out.shape) if size is None and out is not None else size
