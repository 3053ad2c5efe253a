"""Counts drawn by inversion for small means, and else by rejection in a fixed number of rounds, as in `rejection`."""

from __future__ import annotations

import math
from typing import Any

from xpops.api.creation.filling import full
from xpops.api.elementwise.exponential import exp, expm1, log, log1p
from xpops.api.elementwise.limits import maximum, minimum
from xpops.api.elementwise.powers import sqrt
from xpops.api.elementwise.rounding import floor
from xpops.api.elementwise.signs import abs
from xpops.api.fusion import fuse
from xpops.api.searching import where
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.numpy.random.draws import Draws

# The rounds after which an element was refused each time with a probability below 1e-13.
_POISSON_ROUNDS, _BINOMIAL_ROUNDS, _HYPERGEOMETRIC_ROUNDS, _ZIPF_ROUNDS = 25, 25, 42, 26
# Means below this are drawn by inversion; more than 70 events have a probability below 1e-35 then.
_SMALL_MEAN, _MOST_EVENTS = 10.0, 70
# The largest float64 that is an int64.
_LARGEST = 2.0**63 - 1024


def _rising(k: Any) -> Any:
    """``(k + 1) (k + 2) ... (k + 10)``, by which Stirling's series starts 10 places further on."""
    product = (k + 1) * (k + 2) * (k + 3) * (k + 4) * (k + 5)
    return product * (k + 6) * (k + 7) * (k + 8) * (k + 9) * (k + 10)


def _correction(x: Any) -> Any:
    """What Stirling's formula for ``log(gamma(x))`` lacks."""
    return 1 / x * (1 / 12 - 1 / (x * x) * (1 / 360 - 1 / (1260 * x * x)))


def _log_factorials(k: Any, m: Any) -> Any:
    """``log(k! / m!)``. Its error grows with ``abs(k - m)``, not with `k`."""
    x, y, difference = k + 11.0, m + 11.0, k - m
    near = (x - 0.5) * log1p(difference / y) - difference + difference * log(y)
    return near + _correction(x) - _correction(y) - log(_rising(k) / _rising(m))


def _log_poisson(k: Any, mean: Any) -> Any:
    """The logarithm of the probability of `k` events. Its error grows with ``abs(k - mean)``, not with `k`."""
    x = k + 11.0
    beyond = x - mean
    power = x * x * x * x * x
    near = beyond - k * log1p(beyond / mean) + log(_rising(k) / (power * power))
    return near - 0.5 * log(2 * math.pi * x) - _correction(x)


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
    bound = _log_poisson(where(k >= 0, k, 0.0), mean)
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
    bound = (count - mode) * log(p / (1 - p)) - _log_factorials(count, mode) - _log_factorials(n - count, n - mode)
    kept = log(where(v > 0, v, 1e-300) * alpha / (a / (near * near) + b)) <= bound
    return where((found != found) & inside & (sure | kept), k, found)


@fuse
def _binomial_step(found: Any, rest: Any, term: Any, n: Any, odds: Any, number: Any) -> Any:
    """One step of inversion, as for Poisson's distribution."""
    return where(rest >= term, number, found), rest - term, term * odds * (n - number + 1) / number


@fuse
def _hypergeometric_round(found: Any, u: Any, v: Any, few: Any, many: Any, sample: Any) -> Any:
    """Stadlober's ratio of uniforms HRUA (1990), for means from 10 on. At least 50 % are accepted."""
    total = few + many
    mean = sample * (few / total)
    spread = sqrt(mean * (many / total) * ((total - sample) / (total - 1)) + 0.5)
    width = 2 * math.sqrt(2 / math.e) * spread + 3 - 2 * math.sqrt(3 / math.e)
    mode = floor((sample + 1) * ((few + 1) / (total + 2)))
    height = 1 - u
    k = floor(mean + 0.5 + width * (v - 0.5) / height)
    inside = (k >= 0) & (k <= few) & (k <= sample)
    count = where(inside, k, mode)
    rest = many - sample
    bound = -(
        _log_factorials(count, mode) + _log_factorials(few - count, few - mode)
        + _log_factorials(sample - count, sample - mode) + _log_factorials(rest + count, rest + mode)
    )  # fmt: skip
    return where((found != found) & inside & (2 * log(height) <= bound), k, found)


@fuse
def _hypergeometric_none(total: Any, less: Any, more: Any) -> Any:
    """The probability that `less` items drawn from `total` are none of `more` items."""
    rest = total - more
    return exp(_log_factorials(rest, rest - less) - _log_factorials(total, total - less))


@fuse
def _hypergeometric_step(found: Any, rest: Any, term: Any, number: Any, few: Any, many: Any, sample: Any) -> Any:
    """One step of inversion, as for Poisson's distribution."""
    ratio = (few - number + 1) * (sample - number + 1) / (number * (many - sample + number))
    return where(rest >= term, number, found), rest - term, term * ratio


@fuse
def _zipf_round(found: Any, u: Any, v: Any, power: Any) -> Any:
    """Devroye's rejection (1986, chapter X.6), of a Pareto distribution up to 2**63. At least 69 % are accepted."""
    waiting = -log1p(u * expm1(-power * math.log(_LARGEST)))
    k = minimum(floor(exp(waiting / power)), _LARGEST)
    kept = v * k * expm1(-power * log1p(1 / k)) >= expm1(-power * math.log(2))
    return where((found != found) & kept, k, found)


class Counts(Draws):
    """Counts, as float64."""

    def _poisson(self, shape: tuple[int, ...], mean: Any) -> Array:
        """Numbers of Poisson's distribution."""
        mean = full(shape, 0.0, dtype=dt.float64) + mean
        large, small = maximum(mean, _SMALL_MEAN), minimum(mean, _SMALL_MEAN)
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_POISSON_ROUNDS):
            found = _poisson_round(found, self._unit(shape), self._unit(shape), large)
        few, rest, term = full(shape, 0.0, dtype=dt.float64), self._unit(shape), exp(-small)
        for number in range(1, _MOST_EVENTS):
            few, rest, term = _poisson_step(few, rest, term, small, float(number))
        chosen: Array = where(mean < _SMALL_MEAN, few, where(found != found, floor(large), found))
        return chosen

    def _binomial(self, shape: tuple[int, ...], n: Any, p: Any) -> Array:
        """Numbers of the binomial distribution."""
        blank = full(shape, 0.0, dtype=dt.float64)
        n, p = blank + n, blank + p
        less = minimum(p, 1 - p)
        is_small = n * less < _SMALL_MEAN
        many, chance = where(is_small, 40.0, n), where(is_small, 0.5, less)
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_BINOMIAL_ROUNDS):
            found = _binomial_round(found, self._unit(shape), self._unit(shape), many, chance)
        few, rest = blank, self._unit(shape)
        rare = where(is_small, less, 0.0)
        term, odds = exp(n * log1p(-rare)), rare / (1 - rare)
        for number in range(1, _MOST_EVENTS):
            few, rest, term = _binomial_step(few, rest, term, n, odds, float(number))
        count = where(is_small, minimum(few, n), where(found != found, floor(many * chance), found))
        mirrored: Array = where(p > 0.5, n - count, count)
        return mirrored

    def _hypergeometric(self, shape: tuple[int, ...], good: Any, bad: Any, drawn: Any) -> Array:
        """Numbers of the hypergeometric distribution: of the rarer items in the smaller sample, then mirrored."""
        blank = full(shape, 0.0, dtype=dt.float64)
        good, bad, drawn = blank + good, blank + bad, blank + drawn
        total = good + bad
        few, many, sample = minimum(good, bad), maximum(good, bad), minimum(drawn, total - drawn)
        is_small = few * sample < _SMALL_MEAN * total
        is_small |= total == 0
        large = [where(is_small, 40.0, x) for x in (few, many, sample)]
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_HYPERGEOMETRIC_ROUNDS):
            found = _hypergeometric_round(found, self._unit(shape), self._unit(shape), *large)
        small = [where(is_small, x, 0.0) for x in (few, many, sample)]
        most = minimum(small[0], small[2])
        count, rest = blank, self._unit(shape)
        term = _hypergeometric_none(small[0] + small[1], most, maximum(small[0], small[2]))
        for number in range(1, _MOST_EVENTS):
            count, rest, term = _hypergeometric_step(count, rest, term, float(number), *small)
        mode = floor(large[2] * (large[0] / (large[0] + large[1])))
        count = where(is_small, minimum(count, most), where(found != found, mode, found))
        count = where(good > bad, sample - count, count)
        mirrored: Array = where(sample < drawn, good - count, count)
        return mirrored

    def _zipf(self, shape: tuple[int, ...], a: Any) -> Array:
        """Numbers of the zeta distribution, up to the largest int64. A number above 2**53 is rounded."""
        power = full(shape, -1.0, dtype=dt.float64) + a
        found = full(shape, math.nan, dtype=dt.float64)
        for _ in range(_ZIPF_ROUNDS):
            found = _zipf_round(found, self._unit(shape), self._unit(shape), power)
        chosen: Array = where(found != found, 1.0, found)
        return chosen
