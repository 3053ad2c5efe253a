"""Functions and arrays for tests of float16 and bfloat16 in fused functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]
HALVES = pytest.mark.parametrize("dtype", [np.dtype(np.float16), dt.bfloat16], ids=str)
ALONG: dict[str, Any] = {"axis": -1, "keepdims": True}
RANDOM = np.random.default_rng(11)


def number(x: Any, value: float) -> Any:
    """A Python scalar, which NumPy would take for a float64 beside bfloat16."""
    return x.dtype.type(value) if isinstance(x, np.ndarray) else value


# Functions of a namespace and two arrays, whose operators NumPy rounds as ours do; and whether elements are paired.
FUNCTIONS: dict[str, tuple[Callable[..., Any], bool]] = {
    "products and sums": (lambda m, x, y: (x * y + x) * number(x, 0.5) - y, True),
    "extremes": (lambda m, x, y: m.maximum(m.minimum(x, y + 1), x * number(x, 0.25)), True),
    "squares": (lambda m, x, y: x**2 - m.square(y), True),
    "a quotient between": (lambda m, x, y: (x - y) / (y * y + 1) + x, True),
    "a condition": (lambda m, x, y: m.where(x > y, x - y, 2 - x), True),
    "float32 between": (lambda m, x, y: m.astype(m.astype(x * y, m.float32) * 3, x.dtype) - x, True),
    "several results": (lambda m, x, y: (x + y, x < y, x * y - x), True),
    "only quotients": (lambda m, x, y: x / y, False),
    "a row": (lambda m, x, y: (x - m.max(x, **ALONG)) * y, True),
    "a row of several": (lambda m, x, y: (x - m.max(x - y, **ALONG), m.max(x * y, axis=-1)), True),
}


def rows_far_from_zero(rows: int, length: int, dtype: Any) -> NDArray:
    """Rows whose first elements, or those of other warps, are far from the others; rows far from 0; equal elements."""
    x = RANDOM.normal(size=(rows, length))
    x[0::7, 0] = 900
    x[1::7, 256 % length] = -700
    x[2::7] = 100 + x[2::7] / 2
    x[3::7] = 777 + 1000 * (np.arange(rows)[3::7, None] % 60)
    x[4::7, ::3] = 0
    x[5::7, -1] = 5000
    return x.astype(dtype)


def norm_operands(rows: int, length: int, dtype: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Rows, cotangents, a scale and a shift."""
    g, scale, shift = (RANDOM.normal(size=shape).astype(dtype) for shape in ((rows, length), length, length))
    return rows_far_from_zero(rows, length, dtype), g, scale, shift


def check_norm(got: NDArray, x: NDArray, scale: NDArray, shift: NDArray) -> None:
    """AssertionError unless this is the layer norm of `x`."""
    wide, weight, offset = (each.astype(np.float64) for each in (x, scale, shift))
    normed, _ = _normed(wide)
    wanted, epsilon = normed * weight + offset, float(xp.finfo(x.dtype).eps)
    error = abs(got.astype(np.float64) - wanted)
    assert (error <= epsilon * (abs(wanted) + (1 + abs(wanted).max()) / 4)).all()


def check_norm_gradients(got: tuple[NDArray, ...], g: NDArray, x: NDArray, scale: NDArray) -> None:
    """AssertionError unless these are the gradients of a layer norm by `x`, its scale and its shift."""
    cotangent, wide, weight = (each.astype(np.float64) for each in (g, x, scale))
    normed, deviation = _normed(wide)
    weighted = cotangent * weight
    by_x = weighted - normed * (weighted * normed).mean(-1, keepdims=True)
    by_x = (by_x - by_x.mean(-1, keepdims=True)) / deviation
    epsilon, largest = float(xp.finfo(x.dtype).eps), abs(by_x).max(-1, keepdims=True)
    assert (abs(got[0].astype(np.float64) - by_x) <= 2 * epsilon * largest).all()
    for each, wanted in zip(got[1:], ((cotangent * normed).sum(0), cotangent.sum(0)), strict=True):
        error = abs(each.astype(np.float64) - wanted)
        assert (error <= epsilon * (abs(wanted) + abs(wanted).max())).all()


def _normed(x: NDArray) -> tuple[NDArray, NDArray]:
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred / deviation, deviation
