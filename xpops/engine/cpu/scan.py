"""Scans on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.layouts import Layout
from xpops.engine.cpu.blocks import block_shape, blocks
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import ACCUMULATED, SINGLE, assign, buffer_of, cast, copied
from xpops.engine.program import Kernel
from xpops.ops.scan import Scan

NDArray = np.ndarray[Any, Any]

# The elements of a recurrence that are computed one after the other.
_CHUNK = 16


def scan(op: Scan, x: Layout, axis: int, out: Layout, initial: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.scan`."""
    layout, lengths = x, block_shape(x, (axis,))
    others = tuple(other for other in range(x.ndim) if other != axis)
    wide = ACCUMULATED.get(out.dtype, out.dtype)

    def scanned(out: NDArray, x: NDArray, gamma: float) -> None:
        keys = list(blocks(layout, lengths, (axis,)))
        before: NDArray | None = None
        for key in reversed(keys) if op.reverse else keys:
            elements = np.moveaxis(copied(cast(x[key], out.dtype), wide), axis, 0)
            before = _scanned(op, elements, before, gamma)
            assign(out[key], np.moveaxis(elements, 0, axis))

    def kernel(stream: int, out: NDArray, x: NDArray, gamma: float = 0.0) -> None:
        if initial:
            out = _after_initial(op, out, axis)
        for key in blocks(layout, lengths, others):
            quietly(scanned, out[key], x[key], gamma)

    def compiled_kernel(stream: int, out: NDArray, x: NDArray) -> None:
        assert compiled is not None
        if initial:
            out = _after_initial(op, out, axis)
        compiled.scan(buffer_of(out), buffer_of(x), axis, op.ufunc is np.multiply)

    return compiled_kernel if is_compiled(op, x, out) else kernel


def is_compiled(op: Scan, x: Layout, out: Layout) -> bool:
    """Whether the compiled core computes a scan. The elements are first converted to the result's dtype: exactly."""
    is_exact = x.dtype == out.dtype or (x.dtype in SINGLE and out.dtype == dt.float32)
    return compiled is not None and op.ufunc is not None and out.dtype in SINGLE and is_exact


def _after_initial(op: Scan, out: NDArray, axis: int) -> NDArray:
    """Write the result before the first element, and return the others."""
    turned = np.moveaxis(out, axis, 0)
    turned[0] = op.initial
    return np.moveaxis(turned[1:], 0, axis)


def _scanned(op: Scan, x: NDArray, before: NDArray | None, gamma: float) -> NDArray:
    """Scan `x` along the first axis in place, continuing from the line `before`. Returns the line to continue from."""
    if op.ufunc is None:
        if before is not None:
            x[-1:] += gamma * before
        _recur(x, np.float64(gamma))
        return x[:1]
    if before is not None:
        op.ufunc(before, x[:1], out=x[:1])
    op.ufunc.accumulate(x, axis=0, out=x)
    return x[-1:]


def _recur(x: NDArray, gamma: np.float64) -> None:
    """Compute ``x[i] += gamma * x[i + 1]`` from the end to the beginning of the first axis."""
    power = gamma**_CHUNK
    if len(x) < 2 * _CHUNK or not np.isfinite(power) or (power == 0 and gamma != 0):
        for place in reversed(range(len(x) - 1)):
            x[place] += gamma * x[place + 1]
        return
    # First scan all chunks at once. Then the first element of each is its sum; scan these.
    rest = len(x) % _CHUNK
    chunks = x[rest:].reshape(-1, _CHUNK, *x.shape[1:])
    for place in reversed(range(_CHUNK - 1)):
        chunks[:, place] += gamma * chunks[:, place + 1]
    later = chunks[:, 0].copy()
    _recur(later, power)
    powers = gamma ** np.arange(_CHUNK, 0, -1).reshape(-1, *(1,) * (x.ndim - 1))
    chunks[:-1] += powers * later[1:, np.newaxis]
    for place in reversed(range(rest)):
        x[place] += gamma * x[place + 1]
