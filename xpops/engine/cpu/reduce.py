"""Reductions on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.protocol import Kernel
from xpops.ops.reduction import Reduction
from xpops.plan.coalesce import Strides

if TYPE_CHECKING:
    from xpops.engine.cpu.engine import CpuEngine

NDArray = np.ndarray[Any, Any]
Axes = tuple[int, ...]


def reduce(
    engine: CpuEngine,
    op: Reduction,
    x: Layout,
    axes: Axes,
    loop: DType,
    out: Layout,
    strides: Strides,
    correction: float = 0.0,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.reduce`."""
    function = _function(op, correction)
    wide = WIDENED.get(loop, loop)

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        with np.errstate(all="ignore"):
            result = function(cast(x, loop).astype(wide, copy=False), axes)
            out[...] = cast(np.asarray(result), out.dtype).reshape(out.shape)

    return kernel


def _function(op: Reduction, correction: float) -> Callable[[NDArray, Axes], Any]:
    if op.dispersion:
        return lambda x, axes: _dispersion(op, x, axes, correction)
    if op.positional:
        position = getattr(np, op.name)
        return lambda x, axes: position(x, axis=axes[0])
    if op.name in ("sum", "prod"):
        total = getattr(np, op.name)
        return lambda x, axes: total(x, axis=axes, dtype=x.dtype)
    if op.name == "mean":
        return _mean
    function: Callable[[NDArray, Axes], Any] = getattr(np, op.name)
    return function


def _mean(x: NDArray, axes: Axes) -> Any:
    """The two parts of complex numbers each for itself, where NumPy divides by a complex count."""
    if x.dtype.kind != "c":
        return np.mean(x, axis=axes)
    total = np.asarray(np.sum(x, axis=axes))
    count = total.real.dtype.type(x.size // max(total.size, 1))
    total.real /= count
    total.imag /= count
    return total


def _dispersion(op: Reduction, x: NDArray, axes: Axes, correction: float) -> Any:
    """Variance or deviation; NaN where the correction is the count or more."""
    deviations = x - np.mean(x, axis=axes, keepdims=True)
    squares = np.sum((deviations * deviations.conj()).real, axis=axes)
    count = x.size // max(squares.size, 1)
    variance = squares / x.real.dtype.type(count - correction if correction < count else np.nan)
    return np.sqrt(variance) if op.name == "std" else variance
