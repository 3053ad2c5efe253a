"""Operands of special functions, and what the functions are, in mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np

from xpops.testing import generator

NDArray = np.ndarray[Any, Any]


class Range(NamedTuple):
    """Random operands: ``kind`` is "log" for numbers spread over magnitudes, "even", or "whole" for integers."""

    kind: str
    low: float
    high: float

    def draw(self, random: np.random.Generator, count: int) -> NDArray:
        if self.kind == "log":
            return np.exp(random.uniform(np.log(self.low), np.log(self.high), count))
        drawn = random.uniform(self.low, self.high, count)
        return np.floor(drawn) if self.kind == "whole" else drawn

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


class Case(NamedTuple):
    """A function: the ranges of its operands, and its definition in mpmath.

    `solves` is for an inverse: the function that it inverts, by its last operand. `definition` is then the slope of
    `solves`.
    """

    ranges: tuple[Range, ...]
    definition: Callable[..., Any]
    solves: Callable[..., Any] | None = None

    def operands(self, dtype: Any, count: int, *seed: str) -> list[NDArray]:
        random = generator(dtype, *seed)
        return [each.draw(random, count).astype(dtype) for each in self.ranges]

    def exact(self, operands: list[NDArray], results: NDArray) -> NDArray:
        """The exact results, in NumPy's long double. `results` are those to check: inverses are improved from them."""
        found = []
        with mp.workdps(40):
            for place in range(results.size):
                numbers = [mp.mpf(float(each[place])) for each in operands]
                found.append(self._one(numbers, mp.mpf(float(results[place]))))
            return np.array([_longdouble(each) for each in found])

    def _one(self, numbers: list[Any], result: Any) -> Any:
        if self.solves is None:
            return self.definition(*numbers)
        *others, share = numbers
        for _ in range(2):  # Newton's method doubles the digits
            result -= (self.solves(*others, result) - share) / self.definition(*others, result)
        return result


def _longdouble(x: Any) -> np.longdouble:
    high = np.longdouble(float(x))
    return high + np.longdouble(float(x - mp.mpf(float(x)))) if np.isfinite(high) else high


def log(low: float, high: float) -> Range:
    return Range("log", low, high)


def even(low: float, high: float) -> Range:
    return Range("even", low, high)


def whole(low: float, high: float) -> Range:
    return Range("whole", low, high)


def gammainc(a: Any, x: Any) -> Any:
    """By a series of positive terms."""
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * mp.hyp1f1(1, a + 1, x, maxterms=10**6)


def gammaincc(a: Any, x: Any) -> Any:
    """By the lower share, with digits for a share of 1e-300; far beyond, by mpmath's own function."""
    if x > 8 * a + 50:
        return mp.gammainc(a, x, mp.inf, regularized=True)
    with mp.workdps(350):
        return 1 - gammainc(a, x)


def gamma_density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function, by a series of positive terms for the smaller share."""
    if x > a / (a + b):
        return 1 - betainc(b, a, 1 - x)
    front = mp.exp(a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - _log_beta(a, b))
    return front * mp.hyp2f1(1, a + b, a + 1, x)


def _log_beta(a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def betaincc(a: Any, b: Any, x: Any) -> Any:
    return betainc(b, a, 1 - x)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - _log_beta(a, b))


def f_part(a: Any, b: Any, x: Any) -> Any:
    return a * x / (b + a * x)


def stdtr(df: Any, t: Any) -> Any:
    tail = betainc(df / 2, mp.mpf(0.5), df / (df + t * t)) / 2
    return tail if t < 0 else 1 - tail


def student_density(df: Any, t: Any) -> Any:
    return mp.exp(-(df + 1) / 2 * mp.log1p(t * t / df) - _log_beta(df / 2, mp.mpf(0.5))) / mp.sqrt(df)


def degrees(x: Any) -> Any:
    return x * mp.pi / 180


def log_gamma(x: Any) -> Any:
    return mp.log(abs(mp.gamma(x)))


def log_ndtr(x: Any) -> Any:
    return mp.log1p(-mp.ncdf(-x)) if x > 0 else mp.log(mp.ncdf(x))


def spence(x: Any) -> Any:
    return mp.re(mp.polylog(2, 1 - x))


def hurwitz(x: Any, q: Any) -> Any:
    return mp.zeta(x, q)


def polygamma(n: Any, x: Any) -> Any:
    return mp.psi(int(n), x)


def multigammaln(a: Any, d: Any) -> Any:
    return d * (d - 1) / 4 * mp.log(mp.pi) + sum(mp.loggamma(a - mp.mpf(k) / 2) for k in range(int(d)))


def box_cox(x: Any, power: Any) -> Any:
    return mp.expm1(power * mp.log(x)) / power


def inverse_box_cox(x: Any, power: Any) -> Any:
    return mp.exp(mp.log1p(power * x) / power)


def relative_entropy(x: Any, y: Any) -> Any:
    return x * mp.log(x / y)


def legendre(m: Any, v: Any, x: Any) -> Any:
    return mp.re(mp.legenp(v, m, x))


POSITIVE, AROUND, SHARE = log(1e-3, 100), even(-10, 10), even(0.001, 0.999)
SHAPE = log(0.5, 200)

CASES: dict[str, Case] = {
    "cbrt": Case((AROUND,), lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    "cosm1": Case((AROUND,), lambda x: mp.cos(x) - 1),
    "exp2": Case((AROUND,), lambda x: mp.mpf(2) ** x),
    "exp10": Case((AROUND,), lambda x: mp.mpf(10) ** x),
    "expit": Case((even(-30, 30),), lambda x: 1 / (1 + mp.exp(-x))),
    "exprel": Case((AROUND,), lambda x: mp.expm1(x) / x),
    "logit": Case((SHARE,), lambda x: mp.log(x / (1 - x))),
    "boxcox": Case((POSITIVE, even(-3, 3)), box_cox),
    "boxcox1p": Case((POSITIVE, even(-3, 3)), lambda x, power: box_cox(1 + x, power)),
    "inv_boxcox": Case((log(1e-3, 10), log(1e-2, 3)), inverse_box_cox),
    "inv_boxcox1p": Case((log(1e-3, 10), log(1e-2, 3)), lambda x, power: mp.expm1(mp.log1p(power * x) / power)),
    "xlogy": Case((AROUND, POSITIVE), lambda x, y: x * mp.log(y)),
    "xlog1py": Case((AROUND, POSITIVE), lambda x, y: x * mp.log1p(y)),
    "entr": Case((POSITIVE,), lambda x: -x * mp.log(x)),
    "huber": Case((POSITIVE, AROUND), lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2)),
    "kl_div": Case((log(0.1, 1), log(0.1, 1)), lambda x, y: relative_entropy(x, y) - x + y),
    "pseudo_huber": Case((POSITIVE, AROUND), lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1)),
    "rel_entr": Case((POSITIVE, POSITIVE), relative_entropy),
    "cosdg": Case((even(-1000, 1000),), lambda x: mp.cos(degrees(x))),
    "cotdg": Case((even(-1000, 1000),), lambda x: mp.cot(degrees(x))),
    "radian": Case((even(0, 360), even(0, 60), even(0, 60)), lambda d, m, s: degrees(d + m / 60 + s / 3600)),
    "sinc": Case((AROUND,), lambda x: mp.sincpi(x)),
    "sindg": Case((even(-1000, 1000),), lambda x: mp.sin(degrees(x))),
    "tandg": Case((even(-1000, 1000),), lambda x: mp.tan(degrees(x))),
    "erf": Case((even(-5, 5),), mp.erf),
    "erfc": Case((even(-5, 9),), mp.erfc),
    "erfcx": Case((even(-9, 20),), lambda x: mp.exp(x * x) * mp.erfc(x)),
    "erfinv": Case((even(-0.999, 0.999),), lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x), mp.erf),
    "log_ndtr": Case((even(-30, 5),), log_ndtr),
    "ndtr": Case((even(-12, 5),), mp.ncdf),
    "ndtri": Case((SHARE,), mp.npdf, mp.ncdf),
    "betaln": Case((log(1.5, 1e4), log(1.5, 1e4)), _log_beta),
    "binom": Case((whole(0, 60), whole(0, 60)), mp.binomial),
    "gamma": Case((even(-20, 30),), mp.gamma),
    "gammaln": Case((log(1e-3, 1e4),), log_gamma),
    "gammasgn": Case((even(-20, 30),), lambda x: mp.sign(mp.gamma(x))),
    "loggamma": Case((log(1e-3, 1e4),), log_gamma),
    "multigammaln": Case((even(5, 40), whole(1, 6)), multigammaln),
    "poch": Case((log(0.1, 20), even(-3, 10)), lambda z, m: mp.gammaprod([z + m], [z])),
    "rgamma": Case((even(-20, 30),), mp.rgamma),
    "polygamma": Case((whole(1, 6), log(0.1, 50)), polygamma),
    "psi": Case((log(1e-3, 1e4),), mp.digamma),
    "riemann_zeta": Case((even(-9.7, 30),), mp.zeta),
    "zeta": Case((log(1.01, 30), log(0.1, 20)), hurwitz),
    "zetac": Case((log(1e-2, 60),), lambda x: hurwitz(x, 2)),
    "ellipk": Case((even(-10, 1),), mp.ellipk),
    "ellipkm1": Case((log(1e-20, 10),), lambda p: mp.pi / 2 / mp.agm(1, mp.sqrt(p))),
    "exp1": Case((log(1e-3, 80),), mp.e1),
    "expi": Case((even(0.5, 80),), mp.ei),
    "expn": Case((whole(0, 40), log(0.01, 50)), lambda n, x: mp.expint(n, x)),
    "spence": Case((log(1e-3, 100),), spence),
    "i0": Case((even(-80, 80),), lambda x: mp.besseli(0, x)),
    "i0e": Case((even(-80, 80),), lambda x: mp.besseli(0, x) * mp.exp(-abs(x))),
    "i1": Case((even(-80, 80),), lambda x: mp.besseli(1, x)),
    "i1e": Case((even(-80, 80),), lambda x: mp.besseli(1, x) * mp.exp(-abs(x))),
    "j0": Case((even(0, 2),), lambda x: mp.besselj(0, x)),
    "j1": Case((even(0, 3),), lambda x: mp.besselj(1, x)),
    "k0": Case((log(1e-3, 80),), lambda x: mp.besselk(0, x)),
    "k0e": Case((log(1e-3, 80),), lambda x: mp.besselk(0, x) * mp.exp(x)),
    "k1": Case((log(1e-3, 80),), lambda x: mp.besselk(1, x)),
    "k1e": Case((log(1e-3, 80),), lambda x: mp.besselk(1, x) * mp.exp(x)),
    "y0": Case((log(1e-3, 0.7),), lambda x: mp.bessely(0, x)),
    "y1": Case((log(1e-3, 1.8),), lambda x: mp.bessely(1, x)),
    "yn": Case((whole(2, 10), log(0.1, 3)), lambda n, x: mp.bessely(n, x)),
    "hyp1f1": Case((log(0.1, 5), log(5, 20), even(-20, 20)), mp.hyp1f1),
    "lpmv": Case((whole(0, 4), whole(4, 7), even(0.97, 1)), legendre),
    "gammainc": Case((SHAPE, log(0.5, 200)), gammainc),
    "gammaincc": Case((SHAPE, log(0.5, 200)), gammaincc),
    "gammainccinv": Case((SHAPE, SHARE), lambda a, x: -gamma_density(a, x), gammaincc),
    "gammaincinv": Case((SHAPE, SHARE), gamma_density, gammainc),
    "chdtr": Case((log(1, 400), log(1, 400)), lambda v, x: gammainc(v / 2, x / 2)),
    "chdtrc": Case((log(1, 400), log(1, 400)), lambda v, x: gammaincc(v / 2, x / 2)),
    "chdtri": Case(
        (log(1, 400), SHARE),
        lambda v, x: -gamma_density(v / 2, x / 2) / 2,
        lambda v, x: gammaincc(v / 2, x / 2),
    ),
    "gdtr": Case((log(0.5, 2), SHAPE, log(0.5, 200)), lambda a, b, x: gammainc(b, a * x)),
    "gdtrc": Case((log(0.5, 2), SHAPE, log(0.5, 200)), lambda a, b, x: gammaincc(b, a * x)),
    "pdtr": Case((whole(0, 100), log(1, 100)), lambda k, m: gammaincc(k + 1, m)),
    "pdtrc": Case((whole(0, 100), log(1, 100)), lambda k, m: gammainc(k + 1, m)),
    "pdtri": Case((whole(0, 100), SHARE), lambda k, m: -gamma_density(k + 1, m), lambda k, m: gammaincc(k + 1, m)),
    "betainc": Case((log(0.5, 50), log(0.5, 50), SHARE), betainc),
    "betaincc": Case((log(0.5, 50), log(0.5, 50), SHARE), betaincc),
    "betaincinv": Case((log(0.5, 50), log(0.5, 50), SHARE), beta_density, betainc),
    "bdtr": Case((whole(0, 20), whole(21, 60), SHARE), lambda k, n, p: betaincc(k + 1, n - k, p)),
    "bdtrc": Case((whole(0, 20), whole(21, 60), SHARE), lambda k, n, p: betainc(k + 1, n - k, p)),
    "bdtri": Case(
        (whole(0, 20), whole(21, 60), SHARE),
        lambda k, n, p: -beta_density(k + 1, n - k, p),
        lambda k, n, p: betaincc(k + 1, n - k, p),
    ),
    "nbdtr": Case((whole(0, 40), whole(1, 40), SHARE), lambda k, n, p: betainc(n, k + 1, p)),
    "nbdtrc": Case((whole(0, 40), whole(1, 40), SHARE), lambda k, n, p: betaincc(n, k + 1, p)),
    "nbdtri": Case(
        (whole(0, 40), whole(1, 40), SHARE),
        lambda k, n, p: beta_density(n, k + 1, p),
        lambda k, n, p: betainc(n, k + 1, p),
    ),
    "fdtr": Case((log(1, 50), log(1, 50), log(0.1, 10)), lambda a, b, x: betainc(a / 2, b / 2, f_part(a, b, x))),
    "fdtrc": Case((log(1, 50), log(1, 50), log(0.1, 10)), lambda a, b, x: betaincc(a / 2, b / 2, f_part(a, b, x))),
    "fdtri": Case(
        (log(1, 50), log(1, 50), SHARE),
        lambda a, b, x: beta_density(a / 2, b / 2, f_part(a, b, x)) * a * b / (b + a * x) ** 2,
        lambda a, b, x: betainc(a / 2, b / 2, f_part(a, b, x)),
    ),
    "stdtr": Case((log(1, 500), even(-10, 10)), stdtr),
    "stdtrit": Case((log(1, 500), SHARE), student_density, stdtr),
}
