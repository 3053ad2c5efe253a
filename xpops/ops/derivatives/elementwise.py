"""The derivatives of elementwise operators: for each operator one expression for each operand, None for a condition.

Operators without a row here have none: their results are booleans or integers, or torch has no derivative either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Derivative = Callable[..., Any]


def same(xp: Any, g: Any) -> Any:
    """The derivative of a function that adds its operand: the cotangent itself."""
    return g


def zero(xp: Any, g: Any) -> Any:
    """The derivative of a function that is constant almost everywhere."""
    return 0


def _abs(xp: Any, g: Any, x: Any) -> Any:
    return xp.multiply(g, xp.sign(x))


def _between(xp: Any, g: Any, x: Any, min: Any, max: Any) -> Any:
    inside = xp.logical_and(xp.greater_equal(x, min), xp.less_equal(x, max))
    return xp.where(inside, g, 0)


def _below(xp: Any, g: Any, x: Any, min: Any, max: Any) -> Any:
    return xp.where(xp.logical_and(xp.less(x, min), xp.less(xp.maximum(x, min), max)), g, 0)


def _above(xp: Any, g: Any, x: Any, min: Any, max: Any) -> Any:
    return xp.where(xp.greater(xp.maximum(x, min), max), g, 0)


def _copysign(xp: Any, g: Any, x1: Any, y: Any) -> Any:
    return xp.where(xp.equal(x1, 0), 0, xp.where(xp.equal(xp.signbit(y), xp.signbit(x1)), g, xp.negative(g)))


def _divide_divisor(xp: Any, g: Any, x2: Any, y: Any, x2_shape: Any) -> Any:
    share = xp.multiply(g, xp.conj(y))
    dtype = xp.facts(share).dtype
    if dtype.itemsize > 2:  # elements that share a divisor are added first; a sum of halves might overflow
        share = xp.fit(share, g, x2_shape, dtype)
    return xp.negative(xp.divide(share, xp.conj(x2)))


def _pow_base(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
    # 0**0 is constant: its derivative is 0, not 0 * 0**-1.
    constant = xp.equal(xp.where(xp.equal(x1, 0), x2, 1), 0)
    slope = xp.multiply(xp.pow(x1, x2 - 1), x2)  # an operator, because both may be scalars
    return xp.where(constant, 0, xp.multiply(g, xp.conj(slope)))


def _pow_exponent(xp: Any, g: Any, x1: Any, y: Any) -> Any:
    base = xp.where(xp.isnan(y), y, x1)  # an array, if x1 is a scalar
    return xp.multiply(g, xp.conj(xp.multiply(y, xp.log(xp.where(xp.equal(base, 0), 1, base)))))


def _sign(xp: Any, g: Any, x: Any, y: Any) -> Any:
    if not xp.is_complex(g):
        return 0
    part = xp.where(xp.equal(y, 0), 0, xp.divide(g, xp.abs(x)))
    return xp.subtract(part, xp.multiply(y, xp.real(xp.multiply(part, xp.conj(y)))))


def _extreme(beats: str) -> tuple[Derivative, Derivative]:
    """The derivatives of a maximum or minimum. Equal operands get half of the cotangent each, as in torch."""

    def by_first(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
        return xp.where(getattr(xp, beats)(x2, x1), 0, xp.where(xp.equal(x1, x2), xp.multiply(g, 0.5), g))

    def by_second(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
        return by_first(xp, g, x2, x1)

    return by_first, by_second


def _number(first: bool) -> Derivative:
    """A derivative of the larger or smaller number. Equal operands get half each; a number wins over NaN."""

    def derivative(xp: Any, g: Any, x1: Any, x2: Any, y: Any) -> Any:
        shares = (0, g) if first else (g, 0)
        return xp.where(xp.equal(x1, x2), xp.multiply(g, 0.5), xp.where(xp.equal(y, x2), *shares))

    return derivative


def _heaviside_at_0(xp: Any, g: Any, x1: Any) -> Any:
    x = xp.where(xp.equal(g, 0), x1, x1)  # an array, if x1 is a scalar
    return xp.where(xp.equal(x, 0), g, 0)


def _gelu_slope(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
    square = xp.square(xp.clip(x2, -40, 40))  # beyond, the density is 0, and squares of halves are infinite
    density = xp.multiply(xp.exp(xp.multiply(square, -0.5)), 1 / math.sqrt(2 * math.pi))
    return xp.multiply(xp.multiply(g, x1), xp.multiply(density, xp.subtract(2, square)))


def _gelu_tanh(xp: Any, g: Any, x: Any) -> Any:
    scale, cubic = 2 * math.sqrt(2 / math.pi), 0.044715
    square = xp.square(x)
    share = xp.nn.sigmoid(xp.multiply(x, xp.add(xp.multiply(square, scale * cubic), scale)))
    slope = xp.multiply(x, xp.add(xp.multiply(square, 3 * scale * cubic), scale))
    return xp.multiply(g, xp.multiply(share, xp.add(xp.multiply(slope, xp.subtract(1, share)), 1)))


def _silu(xp: Any, g: Any, x: Any) -> Any:
    share = xp.nn.sigmoid(x)
    return xp.multiply(g, xp.multiply(share, xp.add(xp.multiply(x, xp.subtract(1, share)), 1)))


def _softplus(xp: Any, g: Any, x: Any, beta: Any, threshold: Any) -> Any:
    scaled = xp.multiply(x, beta)
    return xp.where(xp.greater(scaled, threshold), g, xp.multiply(g, xp.nn.sigmoid(scaled)))


def _of_operand(slope: Callable[[Any, Any], Any]) -> tuple[Derivative]:
    """The derivative of a holomorphic function with a slope that is an expression of the operand."""

    def derivative(xp: Any, g: Any, x: Any) -> Any:
        return xp.multiply(g, xp.conj(slope(xp, x)))

    return (derivative,)


def _of_result(slope: Callable[[Any, Any], Any]) -> tuple[Derivative]:
    """The same with a slope that is an expression of the result."""

    def derivative(xp: Any, g: Any, y: Any) -> Any:
        return xp.multiply(g, xp.conj(slope(xp, y)))

    return (derivative,)


def _of_inverse(inverse: Callable[[Any, Any], Any]) -> tuple[Derivative]:
    """The same with the inverse of the slope, an expression of the operand."""

    def derivative(xp: Any, g: Any, x: Any) -> Any:
        return xp.divide(g, xp.conj(inverse(xp, x)))

    return (derivative,)


def _roots(xp: Any, x: Any) -> Any:
    """``sqrt(x**2 - 1)``, with the branch cuts of the inverse of cosh."""
    return xp.multiply(xp.sqrt(xp.subtract(x, 1)), xp.sqrt(xp.add(x, 1)))


DERIVATIVES: dict[str, tuple[Derivative | None, ...]] = {
    "abs": (_abs,),
    "acos": _of_inverse(lambda xp, x: xp.negative(xp.sqrt(xp.subtract(1, xp.square(x))))),
    "acosh": _of_inverse(_roots),
    "add": (same, same),
    "asin": _of_inverse(lambda xp, x: xp.sqrt(xp.subtract(1, xp.square(x)))),
    "asinh": _of_inverse(lambda xp, x: xp.sqrt(xp.add(xp.square(x), 1))),
    "atan": _of_inverse(lambda xp, x: xp.add(xp.square(x), 1)),
    "atan2": (
        lambda xp, g, x1, x2: xp.divide(xp.multiply(g, x2), xp.add(xp.square(x1), xp.square(x2))),
        lambda xp, g, x1, x2: xp.negative(xp.divide(xp.multiply(g, x1), xp.add(xp.square(x1), xp.square(x2)))),
    ),
    "atanh": _of_inverse(lambda xp, x: xp.subtract(1, xp.square(x))),
    "ceil": (zero,),
    "clip": (_between, _below, _above),
    "conj": (lambda xp, g: xp.conj(g),),
    "copysign": (_copysign, zero),
    "cos": _of_operand(lambda xp, x: xp.negative(xp.sin(x))),
    "cosh": _of_operand(lambda xp, x: xp.sinh(x)),
    "divide": (
        lambda xp, g, x2: xp.divide(g, xp.conj(x2)),
        _divide_divisor,
    ),
    "exp": _of_result(lambda xp, y: y),
    "expm1": _of_result(lambda xp, y: xp.add(y, 1)),
    "exponent": (zero,),
    "floor": (zero,),
    "fmax": (_number(True), _number(False)),
    "fmin": (_number(True), _number(False)),
    "fmod": (same, lambda xp, g, x1, x2: xp.negative(xp.multiply(g, xp.trunc(xp.divide(x1, x2))))),
    "gelu": (lambda xp, g, x: xp.gelu_backward(g, x),),
    "gelu_backward": (lambda xp, g, x2: xp.gelu_backward(g, x2), _gelu_slope),
    "gelu_tanh": (_gelu_tanh,),
    "heaviside": (zero, _heaviside_at_0),
    "hypot": (
        lambda xp, g, x1, y: xp.multiply(g, xp.divide(x1, y)),
        lambda xp, g, x2, y: xp.multiply(g, xp.divide(x2, y)),
    ),
    "identity": (same,),
    "imag": (lambda xp, g: xp.multiply(g, 1j),),
    "ldexp": (lambda xp, g, x2: xp.ldexp(g, x2), zero),
    "leaky_relu": (lambda xp, g, x, negative_slope: xp.where(xp.greater(x, 0), g, xp.multiply(g, negative_slope)),),
    "log": _of_inverse(lambda xp, x: x),
    "log10": _of_inverse(lambda xp, x: xp.multiply(x, math.log(10))),
    "log1p": _of_inverse(lambda xp, x: xp.add(x, 1)),
    "log2": _of_inverse(lambda xp, x: xp.multiply(x, math.log(2))),
    "logaddexp": (
        lambda xp, g, x1, x2: xp.divide(g, xp.add(xp.exp(xp.subtract(x2, x1)), 1)),
        lambda xp, g, x1, x2: xp.divide(g, xp.add(xp.exp(xp.subtract(x1, x2)), 1)),
    ),
    "logaddexp2": (
        lambda xp, g, x1, x2: xp.divide(g, xp.add(xp.special.exp2(xp.subtract(x2, x1)), 1)),
        lambda xp, g, x1, x2: xp.divide(g, xp.add(xp.special.exp2(xp.subtract(x1, x2)), 1)),
    ),
    "maximum": _extreme("greater"),
    "minimum": _extreme("less"),
    "multiply": (
        lambda xp, g, x2: xp.multiply(g, xp.conj(x2)),
        lambda xp, g, x1: xp.multiply(g, xp.conj(x1)),
    ),
    "nextafter": (same, zero),
    "negative": (lambda xp, g: xp.negative(g),),
    "positive": (same,),
    "pow": (_pow_base, _pow_exponent),
    "real": (same,),
    "reciprocal": _of_result(lambda xp, y: xp.negative(xp.square(y))),
    "relu": (lambda xp, g, y: xp.where(xp.less_equal(y, 0), 0, g),),
    "remainder": (same, lambda xp, g, x1, x2: xp.negative(xp.multiply(g, xp.floor(xp.divide(x1, x2))))),
    "round": (zero,),
    "sigmoid": _of_result(lambda xp, y: xp.multiply(y, xp.subtract(1, y))),
    "sign": (_sign,),
    "silu": (_silu,),
    "sin": _of_operand(lambda xp, x: xp.cos(x)),
    "sinh": _of_operand(lambda xp, x: xp.cosh(x)),
    "softplus": (_softplus,),
    "sqrt": (lambda xp, g, y: xp.divide(g, xp.multiply(xp.conj(y), 2)),),
    "square": _of_operand(lambda xp, x: xp.multiply(x, 2)),
    "subtract": (same, lambda xp, g: xp.negative(g)),
    "tan": _of_result(lambda xp, y: xp.add(xp.square(y), 1)),
    "tanh": _of_result(lambda xp, y: xp.subtract(1, xp.square(y))),
    "trunc": (zero,),
    "where": (
        None,
        lambda xp, g, condition: xp.where(condition, g, 0),
        lambda xp, g, condition: xp.where(condition, 0, g),
    ),
}
