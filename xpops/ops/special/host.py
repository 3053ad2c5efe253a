"""The functions of ndarrays of special rows: SciPy's, which is imported at the first call."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]
# For a larger dimension the result of multigammaln is NaN, as on a GPU.
_MOST_STEPS = 10000


class OfSciPy:
    """A function of ``scipy.special``.

    Parameters
    ----------
    name : str
    plain : callable, optional
        A function of ndarrays that computes the same, for environments without SciPy.
    whole : tuple of int
        The places of operands that SciPy truncates to integers, with a warning if they are none.
    source : str, optional
        SciPy's name of the function, if it is not `name`.
    """

    def __init__(
        self, name: str, plain: Callable[..., Any] | None = None, whole: tuple[int, ...] = (), source: str = ""
    ) -> None:
        self.__name__, self._plain, self._whole, self._source = name, plain, whole, source or name
        self._found: Callable[..., Any] | None = None

    def __call__(self, *operands: NDArray) -> Any:
        if self._found is None:
            self._found = self._find()
        return self._found(*(np.trunc(x) if place in self._whole else x for place, x in enumerate(operands)))

    def _find(self) -> Callable[..., Any]:
        try:
            found: Callable[..., Any] = getattr(import_module("scipy.special"), self._source)
        except ImportError:
            if self._plain is None:
                raise ModuleNotFoundError(
                    f"{self.__name__}: on the CPU this is SciPy's, which is not installed; pip install scipy",
                    name="scipy",
                ) from None
            return self._plain
        return found


class OfCounts(OfSciPy):
    """A distribution of counts, by the incomplete function that it is: SciPy's own takes the low 32 bits of a count.

    Parameters
    ----------
    name : str
    incomplete : str
        The function of ``scipy.special`` that computes it.
    operands : callable
        From the distribution's operands, whether its result is a number, and the operands of that function.
    """

    def __init__(self, name: str, incomplete: str, operands: Callable[..., tuple[NDArray, ...]]) -> None:
        super().__init__(name, source=incomplete)
        self._operands = operands

    def __call__(self, *operands: NDArray) -> Any:
        inside, *others = self._operands(*operands)
        return np.where(inside, super().__call__(*others), np.nan)


def poisson(k: NDArray, q: NDArray) -> tuple[NDArray, ...]:
    """For gammainccinv."""
    return (k > -1) & np.isfinite(k) & (q < 1), np.trunc(k) + 1, q


def binomial(k: NDArray, n: NDArray, p: NDArray) -> tuple[NDArray, ...]:
    """For betaincc, of `k` from 0 to `n`. At `n` it is 1, for every share."""
    events, rest = np.floor(k), np.trunc(n) - np.floor(k)
    inside = (events >= 0) & (rest >= 0) & np.isfinite(rest) & (p >= 0) & (p <= 1)
    return inside, events + 1, rest, np.where(rest == 0, 0, p)


def binomial_tail(k: NDArray, n: NDArray, p: NDArray) -> tuple[NDArray, ...]:
    """For betainc, of `k` up to `n`. Below 0 it is 1, and at `n` it is 0, for every share."""
    events, rest = np.floor(k), np.trunc(n) - np.floor(k)
    inside = (rest >= 0) & np.isfinite(n) & (p >= 0) & (p <= 1)
    share = np.where(events < 0, 1, np.where(rest == 0, 0, p))
    return inside, np.maximum(events, 0) + 1, np.where(events < 0, 1, rest), share


def binomial_quantile(k: NDArray, n: NDArray, q: NDArray) -> tuple[NDArray, ...]:
    """For betainccinv, of `k` from 0 to below `n`."""
    inside, events, rest, q = binomial(k, n, q)
    return inside & (rest > 0), events, rest, q


def negative_binomial(k: NDArray, n: NDArray, p: NDArray) -> tuple[NDArray, ...]:
    """For betainc, betaincc and betaincinv."""
    return (k > -1) & (n >= 1) & np.isfinite(k + n), np.trunc(n), np.trunc(k) + 1, p


def of_numbers(function: Callable[[float], float]) -> Callable[[NDArray], NDArray]:
    """A function of the module `math`, of all elements. Where that raises an error, the result is NaN or infinite."""

    def computed(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(computed, otypes=[np.float64])


def exprel(x: NDArray) -> Any:
    """``(exp(x) - 1) / x``."""
    return np.where(x == 0, 1, np.expm1(x) / np.where(x == 0, 1, x))


def expit(x: NDArray) -> Any:
    """``1 / (1 + exp(-x))``, without an exponential that overflows."""
    power = np.exp(-np.abs(x))
    return np.where(x > 0, 1, power) / (1 + power)


def logit(x: NDArray) -> Any:
    """``log(x / (1 - x))``; around 1/2 by `arctanh`, whose operand is exact."""
    return np.where(np.abs(x - 0.5) <= 0.25, 2 * np.arctanh(2 * x - 1), np.log(x / (1 - x)))


def xlogy(x: NDArray, y: NDArray) -> Any:
    """``x * log(y)``, and 0 where `x` is 0 and `y` is a number."""
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y))


def xlog1py(x: NDArray, y: NDArray) -> Any:
    """``x * log1p(y)``, and 0 where `x` is 0 and `y` is a number."""
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log1p(y))


def entr(x: NDArray) -> Any:
    """``-x * log(x)``."""
    return np.where(x < 0, -np.inf, -xlogy(x, x))


def rel_entr(x: NDArray, y: NDArray) -> Any:
    """``x * log(x / y)``."""
    inside = np.where((x > 0) & (y > 0), x * np.where(_are_close(x, y), np.log1p((x - y) / y), np.log(x / y)), np.inf)
    return np.where((x == 0) & (y >= 0), 0, np.where(np.isnan(x) | np.isnan(y), np.nan, inside))


def _are_close(x: NDArray, y: NDArray) -> Any:
    return (x < 2 * y) & (y < 2 * x)


def kl_div(x: NDArray, y: NDArray) -> Any:
    """``x * log(x / y) - x + y``."""
    return np.where((x == 0) & (y >= 0), y, rel_entr(x, y) - x + y)


def huber(delta: NDArray, r: NDArray) -> Any:
    """``r**2 / 2`` up to `delta`, beyond it linear."""
    size = np.abs(r)
    return np.where(delta < 0, np.inf, np.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta)))


def pseudo_huber(delta: NDArray, r: NDArray) -> Any:
    """``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``."""
    ratio = np.where(r == 0, 0, r / delta)
    return np.where(delta < 0, np.inf, np.where(delta == 0, 0 * r, r * (r / (1 + np.hypot(1, ratio)))))


def cosm1(x: NDArray) -> Any:
    """``cos(x) - 1``."""
    return -2 * np.sin(0.5 * x) ** 2


def radian(d: NDArray, m: NDArray, s: NDArray) -> Any:
    """Degrees, minutes and seconds in radians."""
    return ((d * 60 + m) * 60 + s) * (math.pi / 648000)


def multigammaln(a: NDArray, d: NDArray) -> Any:
    """The sum of ``gammaln(a - k / 2)`` over all k below `d`, and a constant. SciPy's function takes one `d`."""
    logarithm = OfSciPy("gammaln", of_numbers(math.lgamma))
    total = 0.25 * d * (d - 1) * math.log(math.pi)
    for k in range(int(np.nanmax(np.clip(d, 0, _MOST_STEPS), initial=0))):
        total = total + np.where(k < d, logarithm(a - 0.5 * k), 0)
    return np.where((a > 0.5 * (d - 1)) & (d <= _MOST_STEPS), total, np.nan)
