"""Activation functions in long double, computed from their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]

_PI = np.longdouble("3.14159265358979323846264338327950288")
_THIRD = np.longdouble("0.044715")


def share_above(a: NDArray) -> NDArray:
    """P(Z > a) for a standard normal Z and a >= 0: by a series near 0, else by Laplace's continued fraction."""
    density = np.exp(-a * a / 2) / np.sqrt(2 * _PI)
    term, below = a.copy(), a.copy()
    for odd in range(3, 140, 2):
        term = term * a * a / odd
        below = below + term
    fraction = a
    for step in range(200, 0, -1):
        fraction = a + step / fraction
    return np.where(a < 2.5, np.longdouble(0.5) - density * below, density / fraction)


def gelu(x: NDArray) -> NDArray:
    above = share_above(np.abs(x))
    return np.asarray(x * np.where(x > 0, 1 - above, above))


def gelu_tanh(x: NDArray) -> NDArray:
    return np.asarray(x / (1 + np.exp(-2 * np.sqrt(2 / _PI) * (x + _THIRD * x**3))))


def sigmoid(x: NDArray) -> NDArray:
    return np.asarray(1 / (1 + np.exp(-x)))


def silu(x: NDArray) -> NDArray:
    return np.asarray(x / (1 + np.exp(-x)))


def softplus(x: NDArray, beta: float = 1.0, threshold: float = 20.0) -> NDArray:
    scaled = x * np.longdouble(beta)
    smooth = np.maximum(scaled, 0) + np.log1p(np.exp(-np.abs(scaled)))
    return np.where(scaled > threshold, x, smooth / np.longdouble(beta))


def softmax(x: NDArray, axis: int) -> tuple[NDArray, NDArray]:
    """Softmax and log-softmax."""
    with np.errstate(all="ignore"):
        wide = x.astype(np.longdouble)
        largest = np.max(wide, axis=axis, keepdims=True)
        below = wide - largest
        weights = np.exp(below)
        first = np.arange(x.shape[axis]) == np.expand_dims(np.argmax(wide, axis=axis), -1)
        others = np.where(first, 0, np.moveaxis(weights, axis, -1))
        rest = np.where(np.isfinite(largest), np.expand_dims(np.sum(others, axis=-1), axis), np.nan)
        return weights / (1 + rest), below - np.log1p(rest)


# The CPU engine's functions compute in float64.
REFERENCES: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (gelu, gelu_tanh, sigmoid, silu, softplus)
}
