"""The derivatives of special functions: for each a slope by each operand, None where no short expression is known.

A slope is an expression of operands, by the names of the row, and of the result, which is named y.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

from xpops.ops.derivatives.elementwise import Derivative, zero

Slope = Callable[..., Any]
_ROOT_PI, _ROOT_TWO_PI = math.sqrt(math.pi), math.sqrt(2 * math.pi)
_DEGREE = math.pi / 180


def _named(function: Callable[..., Any], names: Iterable[str]) -> Any:
    """`function`, with the names by which callers pass its arguments."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return function


def _names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _times(slope: Slope) -> Derivative:
    """The derivative that multiplies the cotangent by a slope."""

    def derivative(xp: Any, g: Any, *values: Any) -> Any:
        return g * slope(xp, *values)

    derived: Derivative = _named(derivative, ["xp", "g", *_names(slope)[1:]])
    return derived


def _negative(slope: Slope) -> Slope:
    """The slope of the complement."""
    complement: Slope = _named(lambda xp, *values: -slope(xp, *values), _names(slope))
    return complement


def _inverse(slope: Slope, operand: str) -> Slope:
    """The slope of the inverse of a function by an operand. The inverse's result is this operand."""
    names = ["y" if name == operand else name for name in _names(slope)]
    inverse: Slope = _named(lambda xp, *values: 1 / slope(xp, *values), names)
    return inverse


def _gammaln(xp: Any, a: Any) -> Any:
    """The logarithm of gamma of a scalar, or of an array; infinite at poles."""
    if not isinstance(a, (int, float)):
        return xp.special.gammaln(a)
    return math.inf if a <= 0 and a == math.floor(a) else math.lgamma(a)


def _betaln(xp: Any, a: Any, b: Any) -> Any:
    """The logarithm of beta of scalars, or of arrays."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return _gammaln(xp, a) + _gammaln(xp, b) - _gammaln(xp, a + b)
    return xp.special.betaln(a, b)


def _floor(xp: Any, k: Any) -> Any:
    return math.floor(k) if isinstance(k, (int, float)) else xp.floor(k)


def _of_gamma(xp: Any, a: Any, x: Any) -> Any:
    """The density of a gamma distribution of shape `a`."""
    return xp.exp(xp.special.xlogy(a - 1, x) - x - _gammaln(xp, a))


def _of_beta(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """The density of a beta distribution."""
    return xp.exp(xp.special.xlogy(a - 1, x) + xp.special.xlog1py(b - 1, -x) - _betaln(xp, a, b))


def _of_chi_square(xp: Any, v: Any, x: Any) -> Any:
    return 0.5 * _of_gamma(xp, 0.5 * v, 0.5 * x)


def _of_poisson(xp: Any, k: Any, m: Any) -> Any:
    """The probability of `k` events: minus the slope of that of at most `k` events, by the mean."""
    return _of_gamma(xp, _floor(xp, k) + 1, m)


def _of_binomial(xp: Any, k: Any, n: Any, p: Any) -> Any:
    return _of_beta(xp, _floor(xp, k) + 1, n - _floor(xp, k), p)


def _of_failures(xp: Any, k: Any, n: Any, p: Any) -> Any:
    return _of_beta(xp, n, _floor(xp, k) + 1, p)


def _of_f(xp: Any, dfn: Any, dfd: Any, x: Any) -> Any:
    whole = dfd + dfn * x
    return _of_beta(xp, 0.5 * dfn, 0.5 * dfd, dfn * x / whole) * (dfn / whole) * (dfd / whole)


def _of_student(xp: Any, df: Any, t: Any) -> Any:
    return xp.exp(-0.5 * (df + 1) * xp.log1p(t * t / df) - _betaln(xp, 0.5 * df, 0.5)) / df**0.5


def _of_normal(xp: Any, x: Any) -> Any:
    return xp.exp(-0.5 * x * x) / _ROOT_TWO_PI


def _exprel(xp: Any, x: Any, y: Any) -> Any:
    is_small = abs(x) < 0.01
    series = 0.5 + x * (1 / 3 + x * (1 / 8 + x * (1 / 30 + x / 144)))
    return xp.where(is_small, series, (xp.exp(x) - y) / xp.where(is_small, 1, x))


def _sinc(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(xp.equal(x, 0), 0, (xp.cos(math.pi * x) - y) / xp.where(xp.equal(x, 0), 1, x))


def _over(xp: Any, y: Any, x: Any, at_zero: float) -> Any:
    """``y / x``, and a number where `x` is 0."""
    is_zero = xp.equal(x, 0)
    return xp.where(is_zero, at_zero, y / xp.where(is_zero, 1, x))


def _masked(xp: Any, x1: Any, slope: Any) -> Any:
    """The slope of a product by its first factor, 0 where the factor is 0 and the slope is not finite."""
    return xp.where(xp.logical_and(xp.equal(x1, 0), xp.logical_not(xp.isfinite(slope))), 0, slope)


def _spence(xp: Any, x: Any) -> Any:
    is_one = xp.equal(x, 1)
    return xp.where(is_one, -1, xp.log(x) / xp.where(is_one, 1, 1 - x))


def _lpmv(xp: Any, m: Any, v: Any, x: Any, y: Any) -> Any:
    return (v * x * y - (v + m) * xp.special.lpmv(m, v - 1, x)) / (x * x - 1)


_SLOPES: dict[str, tuple[Slope | None, ...]] = {
    "cbrt": (lambda xp, y: 1 / (3 * y * y),),
    "cosm1": (lambda xp, x: -xp.sin(x),),
    "exp2": (lambda xp, y: y * math.log(2),),
    "exp10": (lambda xp, y: y * math.log(10),),
    "expit": (lambda xp, y: y * (1 - y),),
    "exprel": (_exprel,),
    "logit": (lambda xp, x: 1 / (x * (1 - x)),),
    "boxcox": (lambda xp, x, lmbda: xp.pow(x, lmbda - 1), None),
    "boxcox1p": (lambda xp, x, lmbda: xp.exp((lmbda - 1) * xp.log1p(x)), None),
    "inv_boxcox": (lambda xp, x, lmbda, y: y / (1 + lmbda * x), None),
    "inv_boxcox1p": (lambda xp, x, lmbda, y: (y + 1) / (1 + lmbda * x), None),
    "xlogy": (lambda xp, x1, x2: _masked(xp, x1, xp.log(xp.where(xp.isnan(x1), x1, x2))), lambda xp, x1, x2: x1 / x2),
    "xlog1py": (
        lambda xp, x1, x2: _masked(xp, x1, xp.log1p(xp.where(xp.isnan(x1), x1, x2))),
        lambda xp, x1, x2: x1 / (1 + x2),
    ),
    "entr": (lambda xp, x: -xp.log(x) - 1,),
    "huber": (
        lambda xp, delta, r: xp.maximum(abs(r) - delta, 0),
        lambda xp, delta, r: xp.minimum(xp.maximum(r, -delta), delta),
    ),
    "kl_div": (lambda xp, x1, x2: xp.log(x1 / x2), lambda xp, x1, x2: 1 - x1 / x2),
    "pseudo_huber": (
        lambda xp, delta, r, y: 2 * y / delta - r * (r / xp.hypot(delta, r)),
        lambda xp, delta, r: delta * r / xp.hypot(delta, r),
    ),
    "rel_entr": (lambda xp, x1, x2: xp.log(x1 / x2) + 1, lambda xp, x1, x2: -x1 / x2),
    "cosdg": (lambda xp, x: -_DEGREE * xp.special.sindg(x),),
    "cotdg": (lambda xp, y: -_DEGREE * (1 + y * y),),
    "radian": (lambda xp: _DEGREE, lambda xp: _DEGREE / 60, lambda xp: _DEGREE / 3600),
    "sinc": (_sinc,),
    "sindg": (lambda xp, x: _DEGREE * xp.special.cosdg(x),),
    "tandg": (lambda xp, y: _DEGREE * (1 + y * y),),
    "erf": (lambda xp, x: 2 / _ROOT_PI * xp.exp(-x * x),),
    "erfc": (lambda xp, x: -2 / _ROOT_PI * xp.exp(-x * x),),
    "erfcx": (lambda xp, x, y: 2 * x * y - 2 / _ROOT_PI,),
    "erfinv": (lambda xp, y: _ROOT_PI / 2 * xp.exp(y * y),),
    "log_ndtr": (lambda xp, x, y: xp.exp(-0.5 * x * x - y) / _ROOT_TWO_PI,),
    "ndtr": (_of_normal,),
    "ndtri": (_inverse(_of_normal, "x"),),
    "betaln": (
        lambda xp, a, b: xp.special.psi(a) - xp.special.psi(a + b),
        lambda xp, a, b: xp.special.psi(b) - xp.special.psi(a + b),
    ),
    "binom": (
        lambda xp, n, k, y: y * (xp.special.psi(n + 1) - xp.special.psi(n - k + 1)),
        lambda xp, n, k, y: y * (xp.special.psi(n - k + 1) - xp.special.psi(k + 1)),
    ),
    "gamma": (lambda xp, x, y: y * xp.special.psi(x),),
    "gammaln": (lambda xp, x: xp.special.psi(x),),
    "loggamma": (lambda xp, x: xp.special.psi(x),),
    "poch": (
        lambda xp, z, m, y: y * (xp.special.psi(z + m) - xp.special.psi(z)),
        lambda xp, z, m, y: y * xp.special.psi(z + m),
    ),
    "rgamma": (lambda xp, x, y: -y * xp.special.psi(x),),
    "polygamma": (None, lambda xp, n, x: xp.special.polygamma(n + 1, x)),
    "psi": (lambda xp, x: xp.special.zeta(2, x),),
    "zeta": (None, lambda xp, x, q: -x * xp.special.zeta(x + 1, q)),
    "exp1": (lambda xp, x: -xp.exp(-x) / x,),
    "expi": (lambda xp, x: xp.exp(x) / x,),
    "expn": (None, lambda xp, n, x: -xp.special.expn(n - 1, x)),
    "spence": (_spence,),
    "i0": (lambda xp, x: xp.special.i1(x),),
    "i0e": (lambda xp, x, y: xp.special.i1e(x) - xp.sign(x) * y,),
    "i1": (lambda xp, x, y: xp.special.i0(x) - _over(xp, y, x, 0.5),),
    "i1e": (lambda xp, x, y: xp.special.i0e(x) - xp.sign(x) * y - _over(xp, y, x, 0.5),),
    "j0": (lambda xp, x: -xp.special.j1(x),),
    "j1": (lambda xp, x, y: xp.special.j0(x) - _over(xp, y, x, 0.5),),
    "k0": (lambda xp, x: -xp.special.k1(x),),
    "k0e": (lambda xp, x, y: y - xp.special.k1e(x),),
    "k1": (lambda xp, x, y: -xp.special.k0(x) - y / x,),
    "k1e": (lambda xp, x, y: y - xp.special.k0e(x) - y / x,),
    "y0": (lambda xp, x: -xp.special.y1(x),),
    "y1": (lambda xp, x, y: xp.special.y0(x) - y / x,),
    "yn": (None, lambda xp, n, x, y: xp.special.yn(n - 1, x) - n * y / x),
    "hyp1f1": (None, None, lambda xp, a, b, x: a / b * xp.special.hyp1f1(a + 1, b + 1, x)),
    "lpmv": (None, None, _lpmv),
    "gammainc": (None, _of_gamma),
    "gammaincc": (None, _negative(_of_gamma)),
    "gammaincinv": (None, _inverse(_of_gamma, "x")),
    "gammainccinv": (None, _inverse(_negative(_of_gamma), "x")),
    "chdtr": (None, _of_chi_square),
    "chdtrc": (None, _negative(_of_chi_square)),
    "chdtri": (None, _inverse(_negative(_of_chi_square), "x")),
    "gdtr": (
        lambda xp, a, b, x: x * _of_gamma(xp, b, a * x),
        None,
        lambda xp, a, b, x: a * _of_gamma(xp, b, a * x),
    ),
    "gdtrc": (
        lambda xp, a, b, x: -x * _of_gamma(xp, b, a * x),
        None,
        lambda xp, a, b, x: -a * _of_gamma(xp, b, a * x),
    ),
    "pdtr": (None, _negative(_of_poisson)),
    "pdtrc": (None, _of_poisson),
    "pdtri": (None, _inverse(_negative(_of_poisson), "m")),
    "betainc": (None, None, _of_beta),
    "betaincc": (None, None, _negative(_of_beta)),
    "betaincinv": (None, None, _inverse(_of_beta, "x")),
    "bdtr": (None, None, _negative(_of_binomial)),
    "bdtrc": (None, None, _of_binomial),
    "bdtri": (None, None, _inverse(_negative(_of_binomial), "p")),
    "nbdtr": (None, None, _of_failures),
    "nbdtrc": (None, None, _negative(_of_failures)),
    "nbdtri": (None, None, _inverse(_of_failures, "p")),
    "fdtr": (None, None, _of_f),
    "fdtrc": (None, None, _negative(_of_f)),
    "fdtri": (None, None, _inverse(_of_f, "x")),
    "stdtr": (None, _of_student),
    "stdtrit": (None, _inverse(_of_student, "t")),
}

DERIVATIVES: dict[str, tuple[Derivative | None, ...]] = {
    "gammasgn": (zero,),
    **{name: tuple(slope and _times(slope) for slope in slopes) for name, slopes in _SLOPES.items()},
}
