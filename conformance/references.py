"""What operators and reductions compute, by definition and apart from xpops: for tests and for the fuzzer.

References take and return ndarrays. In higher precision than the operator's, their results have no error to speak of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.ops.operator import Operator
from xpops.ops.reduction import Reduction, reduction_dtypes

NDArray = np.ndarray[Any, Any]

_PI = np.longdouble("3.14159265358979323846264338327950288")
_THIRD = np.longdouble("0.044715")
# Below this the share of the normal distribution is computed from a series, above from a fraction.
_FAR = 2.5


def floor_divide(x: NDArray, y: NDArray) -> NDArray:
    """The standard's floor_divide: ``x / y`` if an operand is infinite or the divisor is 0; else its floor."""
    if x.dtype.kind != "f":
        return np.asarray(np.floor_divide(x, y))
    return np.where(np.isinf(x) | np.isinf(y) | (y == 0), x / y, np.floor_divide(x, y))


def ldexp(x: NDArray, power: NDArray) -> NDArray:
    """``x * 2**power`` for a power of the dtype of `x`: it is truncated, and NaN counts as minus infinity."""
    whole = np.trunc(np.clip(np.where(power == power, power, -np.inf), -40000, 40000))
    return np.asarray(np.ldexp(x, whole.astype(np.int64)))


def log1p(x: NDArray) -> NDArray:
    """log1p without the complex sum ``1 + x``, in which NumPy loses all digits of a small `x`."""
    if x.dtype.kind != "c":
        return np.asarray(np.log1p(x))
    return np.asarray(np.log1p(x.real * (2 + x.real) + x.imag**2) / 2 + 1j * np.arctan2(x.imag, 1 + x.real))


def power(x: NDArray, y: NDArray) -> NDArray:
    """Powers. Those of integers wrap; negative powers of integers are rounded toward zero."""
    if x.dtype.kind != "i":
        return np.asarray(np.power(x, y))
    x, y = np.broadcast_arrays(x, y)
    powers = [
        pow(a, b, 2**64) if b >= 0 else {1: 1, -1: -1 if b % 2 else 1}.get(a, 0) % 2**64
        for a, b in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    ]
    return np.array(powers, np.uint64).astype(x.dtype).reshape(x.shape)


def sign(x: NDArray) -> NDArray:
    """The sign: +0 for -0, and ``x / abs(x)`` for complex numbers."""
    if x.dtype.kind == "c":
        return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))
    return np.asarray(np.where(x == 0, 0, np.sign(x)).astype(x.dtype))


def relu(x: NDArray) -> NDArray:
    """0 for negative numbers and for -0."""
    return np.where(x <= 0, x.dtype.type(0), x)


def leaky_relu(x: NDArray, slope: float = 0.01) -> NDArray:
    """`x`, or its product with `slope` where it is not positive."""
    return np.where(x > 0, x, x * slope)


def gelu(x: NDArray) -> NDArray:
    """`x` times P(Z < x) for a standard normal Z."""
    above = _share_above(np.asarray(np.abs(x)))
    return np.asarray(x * np.where(x > 0, 1 - above, above))


def gelu_backward(g: NDArray, x: NDArray) -> NDArray:
    """`g` times the derivative of `gelu` at `x`; far from 0 the derivative is 0 or 1."""
    a = np.minimum(np.abs(x), 150)
    part = _share_above(a) - a * np.exp(-a * a / 2) / np.sqrt(2 * _PI.astype(x.dtype))
    return np.asarray(g * np.where(x > 0, 1 - part, part))


def _share_above(a: NDArray) -> NDArray:
    """P(Z > a) for a standard normal Z and a >= 0: by a series near 0, else by Laplace's continued fraction."""
    density = np.asarray(np.exp(-a * a / 2) / np.sqrt(2 * _PI.astype(a.dtype)))
    is_far = a >= _FAR
    near, far = np.where(is_far, 0, a), a[is_far]
    term, below = near, near
    for odd in range(3, 84, 2):
        term = term * (near * near / odd)
        below = below + term
    result = np.asarray(0.5 - density * below)
    fraction = far
    for step in range(80, 0, -1):
        fraction = far + step / fraction
    result[is_far] = density[is_far] / fraction
    return result


def gelu_tanh(x: NDArray) -> NDArray:
    """The approximation of `gelu` by a hyperbolic tangent."""
    scale, third = np.sqrt(2 / _PI).astype(x.dtype), _THIRD.astype(x.dtype)
    return np.asarray(x / (1 + np.exp(-2 * scale * (x + third * x**3))))


def sigmoid(x: NDArray) -> NDArray:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def silu(x: NDArray) -> NDArray:
    """`x` times its `sigmoid`."""
    return np.asarray(x / (1 + np.exp(-x)))


def softplus(x: NDArray, beta: float = 1.0, threshold: float = 20.0) -> NDArray:
    """``log(1 + exp(beta * x)) / beta``; `x` where the product with `beta` is beyond the threshold."""
    scaled = x * x.dtype.type(beta)
    smooth = np.maximum(scaled, 0) + np.log1p(np.exp(-np.abs(scaled)))
    return np.where(scaled > threshold, x, smooth / x.dtype.type(beta))


# For rows whose NumPy function deviates from the standard or is missing.
REFERENCES: dict[str, Callable[..., Any]] = {
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "exponent": lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(x.dtype),
    "floor_divide": floor_divide,
    "gelu": gelu,
    "gelu_backward": gelu_backward,
    "gelu_tanh": gelu_tanh,
    "leaky_relu": leaky_relu,
    "ldexp": ldexp,
    "log1p": log1p,
    "pow": power,
    "reciprocal": lambda x: x.dtype.type(1) / x,
    "relu": relu,
    "round": lambda x: x if x.dtype.kind in "iu" else np.round(x),
    "sigmoid": sigmoid,
    "sign": sign,
    "silu": silu,
    "softplus": softplus,
}


def reference_of(op: Operator) -> Callable[..., Any]:
    """The reference of an operator: that of `REFERENCES`, else NumPy's function of this name, else the row's function.

    The CPU engine calls the row's function. So it tests the CUDA engine and the precision, but not the CPU engine.
    """
    found: Callable[..., Any] = REFERENCES.get(op.name) or getattr(np, op.cpu.__name__, op.cpu)
    return found


def reduced(op: Reduction, x: NDArray, axis: Any = None, keepdims: bool = False, correction: float = 0.0) -> NDArray:
    """A reduction of a whole array, by the function of its row."""
    along = {"axis": axis, "keepdims": keepdims}
    if x.dtype.kind in "biu":
        x = x.astype(reduction_dtypes(op, x.dtype)[0])
    if not isinstance(op.cpu, np.ufunc):
        return np.asarray(op.cpu(x, **along))
    if op.dispersion:
        variance = np.asarray(np.var(x, **along, ddof=correction))
        return np.sqrt(variance) if op.root else variance
    total = np.asarray(op.cpu.reduce(terms(op, x), **along))
    return total / np.float64(x.size / max(total.size, 1)) if op.averages else total


def terms(op: Reduction, x: NDArray) -> NDArray:
    """The term of each element that a reduction combines."""
    return x if op.term is None else np.asarray(op.term(x))


def sizes(op: Reduction, x: NDArray, axis: Any = None, keepdims: bool = False) -> NDArray:
    """The sum, mean or product of absolute values. The error allowed is a share of it."""
    total = np.asarray(op.cpu.reduce(np.abs(terms(op, x)), axis=axis, keepdims=keepdims))  # type: ignore[attr-defined]
    return total / np.float64(x.size / max(total.size, 1)) if op.averages else total
