"""Softmax in long double, from its definition."""

from __future__ import annotations

from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


def exact_softmax(x: NDArray, axis: int) -> tuple[NDArray, NDArray]:
    """Softmax, and its logarithm."""
    with np.errstate(all="ignore"):
        wide = x.astype(np.longdouble)
        largest = np.max(wide, axis=axis, keepdims=True)
        below = wide - largest
        weights = np.exp(below)
        first = np.arange(x.shape[axis]) == np.expand_dims(np.argmax(wide, axis=axis), -1)
        others = np.where(first, 0, np.moveaxis(weights, axis, -1))
        rest = np.where(np.isfinite(largest), np.expand_dims(np.sum(others, axis=-1), axis), np.nan)
        return weights / (1 + rest), below - np.log1p(rest)
