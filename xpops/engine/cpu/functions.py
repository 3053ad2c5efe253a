"""Functions where NumPy's own deviate from the standard, or have another form."""

from __future__ import annotations

from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


def clip(x: NDArray, low: NDArray, high: NDArray) -> Any:
    """NaN in any operand gives NaN."""
    return np.minimum(np.maximum(x, low), high)


def round(x: NDArray) -> Any:
    """Half to even; integers are themselves."""
    return x if x.dtype.kind in "iub" else np.rint(x)
