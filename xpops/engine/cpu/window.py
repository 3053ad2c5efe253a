"""Windows onto arrays, on NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def window(
    x: Layout, starts: tuple[int, ...], out: Layout, fill: bytes | None, band: tuple[int, int] | None = None
) -> Kernel:
    """See `xpops.engine.protocol.Engine.window`."""
    wraps = fill is None
    shifts = [(start, start - n) if wraps and start else (start,) for start, n in zip(starts, x.shape, strict=True)]
    pieces = [_ranges(x.shape, shift, out.shape) for shift in product(*shifts)]

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        if fill is not None:
            out[...] = np.frombuffer(fill, out.dtype)[0]
        within = None if band is None else _band(out.shape, *band)
        for to, of in pieces:
            np.copyto(out[to], x[of], where=True if within is None else within[to[-2:]])

    return kernel


def _ranges(lengths: tuple[int, ...], starts: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The elements of the result that are in the array, and those of the array, as slices."""
    firsts = [max(start, 0) for start in starts]
    ends = [min(start + n, m) for n, start, m in zip(lengths, starts, shape, strict=True)]
    to = tuple(slice(first, max(end, first)) for first, end in zip(firsts, ends, strict=True))
    return to, tuple(slice(each.start - start, each.stop - start) for each, start in zip(to, starts, strict=True))


def _band(shape: tuple[int, ...], low: int, high: int) -> NDArray:
    """Whether each element of a matrix lies on a diagonal of the band."""
    diagonals = np.arange(shape[-1]) - np.arange(shape[-2])[:, np.newaxis]
    return (diagonals >= low) & (diagonals <= high)
