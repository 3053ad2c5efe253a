"""Reductions on NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.blocks import BLOCK, block_shape, blocks
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import ACCUMULATED, NARROW, SINGLE, WIDENED, assign, buffer_of, cast
from xpops.engine.program import Kernel
from xpops.ops.reduction import Reduction
from xpops.plan.strides.coalesce import Strides

NDArray = np.ndarray[Any, Any]
Axes = tuple[int, ...]

# The most lines that NumPy may add up one after the other, since each addition rounds.
_LINES = 128
# The largest sum of a mean, which is infinite beyond it, as on CUDA, where narrower dtypes add in float32.
_LARGEST = dict.fromkeys((dt.bfloat16, dt.float32, dt.complex64), float(np.finfo(np.float32).max))
# Up to so many elements, NumPy reduces along any axis faster than `_halved` would.
_FEW = 4096


def reduce(
    op: Reduction,
    x: Layout,
    axes: Axes,
    loop: DType,
    out: Layout,
    strides: Strides,
    correction: float = 0.0,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.reduce`."""
    if isinstance(op.cpu, np.ufunc):
        if is_compiled(op, x, loop):
            return _compiled(op, x, axes)
        if _is_one_call(op, op.cpu, x, axes, loop, out):
            return _in_one_call(op.cpu, x, axes, out)
        return _by_blocks(op, op.cpu, x, axes, loop, correction)
    function, wide = op.cpu, WIDENED.get(loop, loop)
    along = axes if not op.positional else axes[0] if len(axes) == 1 else None

    def run(out: NDArray, x: NDArray) -> None:
        result = function(cast(cast(x, loop), wide), along)
        out[...] = cast(np.asarray(result), out.dtype).reshape(out.shape)

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        quietly(run, out, x)

    return kernel


def is_compiled(op: Reduction, x: Layout, loop: DType) -> bool:
    """Whether the compiled core reduces the elements in float64."""
    if compiled is None or not op.core or x.dtype not in SINGLE:
        return False
    return loop == x.dtype or loop == dt.float32


def _compiled(op: Reduction, x: Layout, axes: Axes) -> Kernel:
    """The kernel of the compiled core, which needs no memory for elements in the wider dtype."""
    assert compiled is not None
    run, name = compiled.reduce, op.core
    shape = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))
    count = float(x.size // prod(shape)) if op.averages else 1.0

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        run(name, buffer_of(out.reshape(shape)), buffer_of(x), count)

    return kernel


def _is_one_call(op: Reduction, ufunc: np.ufunc, x: Layout, axes: Axes, loop: DType, out: Layout) -> bool:
    """Whether one call of NumPy reduces the elements in the wider dtype, pairwise or a few, and rounds the result."""
    if op.averages or op.term is not None or x.size > BLOCK or out.dtype in NARROW or not np.can_cast(x.dtype, loop):
        return False
    if len(axes) == 1:
        return _is_direct(ufunc, x.shape[axes[0]], x.strides[axes[0]] == 1, x.size)
    return x.contiguous and len(axes) == x.ndim and _is_direct(ufunc, x.size, True, x.size)


def _in_one_call(ufunc: np.ufunc, x: Layout, axes: Axes, out: Layout) -> Kernel:
    combine: Any = ufunc.reduce
    wide, keepdims = ACCUMULATED.get(out.dtype, out.dtype), out.ndim == x.ndim

    def run(out: NDArray, x: NDArray) -> None:
        # Given `out`, NumPy would round totals to its dtype after every 8192 elements.
        np.copyto(out, combine(x, axes, wide, None, keepdims), casting="same_kind")

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        quietly(combine, x, axes, wide, out, keepdims)

    def kernel_that_rounds(stream: int, out: NDArray, x: NDArray) -> None:
        quietly(run, out, x)

    return kernel if wide == out.dtype else kernel_that_rounds


def _by_blocks(op: Reduction, ufunc: np.ufunc, x: Layout, axes: Axes, loop: DType, correction: float) -> Kernel:
    """Sums, products, means and variances: convert one block at a time to the wider dtype."""
    layout, lengths = x, block_shape(x, axes)
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    innermost_first = tuple(sorted(axes, key=lambda axis: abs(x.strides[axis])))
    shape = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))
    count = x.size // prod(shape)
    divisor = count - correction if correction < count else np.nan
    combine = _summed if ufunc is np.add else _multiplied
    wide = ACCUMULATED.get(loop, loop)

    def elements(x: NDArray) -> Iterator[NDArray]:
        blocked = (cast(x[key], loop) for key in blocks(layout, lengths, axes))
        return blocked if op.term is None else (op.term(cast(each, wide)) for each in blocked)

    def result(x: NDArray) -> NDArray:
        total = combine(pairwise(ufunc, each, innermost_first, wide) for each in elements(x))
        if not op.averages:
            return total
        if not op.dispersion:
            return _divided(total, count, _LARGEST.get(loop, np.inf))
        mean = _divided(total, count, np.inf)
        deviations = (_squares(each - mean) for each in elements(x))
        variance = _summed(pairwise(np.add, each, innermost_first, each.dtype) for each in deviations) / divisor
        return np.sqrt(variance) if op.root else variance

    def run(out: NDArray, x: NDArray) -> None:
        for key in blocks(layout, lengths, kept):
            part: NDArray = out[key] if key else out  # an empty key of a 0-d array would give a number
            assign(part, np.asarray(result(x[key])))

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        quietly(run, out.reshape(shape), x)

    return kernel


def pairwise(ufunc: np.ufunc, x: NDArray, axes: Axes, dtype: DType) -> NDArray:
    """Reduce a block along axes, which keep length 1. Rounding errors grow as the logarithm of the axes' lengths."""
    if not axes:
        x = ufunc.reduce(x, axis=(), dtype=dtype)  # as along an axis, -0.0 becomes the sum 0.0
    for axis in axes:
        if not _is_direct(ufunc, x.shape[axis], x.strides[axis] == x.itemsize, x.size):
            x = _halved(ufunc, x, axis, dtype)
        x = ufunc.reduce(x, axis=axis, dtype=dtype, keepdims=True)
    return x


def _is_direct(ufunc: np.ufunc, length: int, contiguous: bool, size: int) -> bool:
    """Whether NumPy reduces an axis accurately and fast: it adds contiguous elements pairwise."""
    if ufunc is np.add and contiguous and length > _LINES:
        return True
    return length <= _LINES and (size <= _FEW or size >= _LINES * length)


def _halved(ufunc: np.ufunc, x: NDArray, axis: int, dtype: DType) -> NDArray:
    """Combine halves along an axis until its lines are few, and long enough, or small enough in all, for NumPy."""
    lines = np.moveaxis(x, axis, 0)
    while len(lines) > _LINES or (lines.size > _FEW and lines.size < _LINES * len(lines)):
        half = len(lines) // 2
        halved = ufunc(lines[:half], lines[half : 2 * half], dtype=dtype)
        if len(lines) % 2:
            ufunc(halved[:1], lines[-1:], out=halved[:1])
        lines = halved
    return np.moveaxis(lines, 0, axis)


def _summed(parts: Iterator[NDArray]) -> NDArray:
    """The sum of parts. Knuth's two-sum finds the rounding errors; their sum is added at the end."""
    total, error = next(parts), None
    for part in parts:
        found = total + part
        back = found - total
        lost = (total - (found - back)) + (part - back)
        total, error = found, lost if error is None else error + lost
    if error is None:
        return total
    return np.where(np.isfinite(error), total + error, total)  # the error of an infinite sum is NaN


def _multiplied(parts: Iterator[NDArray]) -> NDArray:
    total = next(parts)
    for part in parts:
        total = total * part
    return total


def _divided(x: NDArray, count: int, largest: float) -> NDArray:
    """Divide by `count`, after numbers beyond `largest` became infinite.

    Complex numbers are divided part by part, since NumPy would turn an infinite part into NaN.
    """
    if x.dtype.kind != "c":
        return x / count if largest == np.inf else np.where(np.abs(x) > largest, x * np.inf, x / count)
    result = np.empty_like(x)
    result.real, result.imag = _divided(x.real, count, largest), _divided(x.imag, count, largest)
    return result


def _squares(x: NDArray) -> NDArray:
    return x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x
