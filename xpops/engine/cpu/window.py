"""Windows onto arrays, on NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]

# The most elements of a matrix whose band is a mask, which takes as many bytes.
_SMALL = 1 << 16


def window(
    x: Layout, starts: tuple[int, ...], out: Layout, fill: bytes | str | None, band: tuple[int, int] | None = None
) -> Kernel:
    """See `xpops.engine.protocol.Engine.window`."""
    if isinstance(fill, str):
        return _repeating(x, starts, out, fill)
    wraps = fill is None
    shifts = [(start, start - n) if wraps and start else (start,) for start, n in zip(starts, x.shape, strict=True)]
    pieces = [_ranges(x.shape, shift, out.shape) for shift in product(*shifts)]
    masks = [None if band is None else _band_of(to, *band) for to, _ in pieces]

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        if fill is not None:
            out[...] = np.frombuffer(fill, out.dtype)[0]
        for (to, of), mask in zip(pieces, masks, strict=True):
            if band is None:
                np.copyto(out[to], x[of])
            elif mask is not None:
                np.copyto(out[to], x[of], where=mask)
            else:
                _copy_band(out[to], x[of], *(diagonal + to[-2].start - to[-1].start for diagonal in band))

    return kernel


def _repeating(x: Layout, starts: tuple[int, ...], out: Layout, mode: str) -> Kernel:
    """The kernel of a window that repeats elements beyond the array. It copies the array, and pads it axis by axis."""
    middle: tuple[Any, ...] = tuple(slice(start, start + n) for start, n in zip(starts, x.shape, strict=True))
    borders = [
        tuple((*(slice(None),) * axis, along, *middle[axis + 1 :]) for along in (border, places))
        for axis, (part, wide) in enumerate(zip(middle, out.shape, strict=True))
        for border, places in _borders(part, wide, mode)
    ]

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        np.copyto(out[(*middle, ...)], x)
        for border, repeated in borders:
            out[border] = out[repeated]

    return kernel


def _borders(part: slice, wide: int, mode: str) -> list[tuple[slice, NDArray]]:
    """The borders around a part of an axis, each with the places in the axis of the elements that it repeats."""
    pad: Any = np.pad
    places = pad(np.arange(part.start, part.stop), (part.start, wide - part.stop), mode)
    borders = slice(0, part.start), slice(part.stop, wide)
    return [(border, places[border].copy()) for border in borders if border.start < border.stop]


def _ranges(lengths: tuple[int, ...], starts: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The elements of the result that are in the array, and those of the array, as slices."""
    firsts = [max(start, 0) for start in starts]
    ends = [min(start + n, m) for n, start, m in zip(lengths, starts, shape, strict=True)]
    to = tuple(slice(first, max(end, first)) for first, end in zip(firsts, ends, strict=True))
    return to, tuple(slice(each.start - start, each.stop - start) for each, start in zip(to, starts, strict=True))


def _band_of(to: tuple[slice, ...], low: int, high: int) -> NDArray | None:
    """Which elements of small matrices are in a band; None for larger ones, which `_copy_band` copies faster."""
    rows, columns = (np.arange(each.start, each.stop) for each in to[-2:])
    if rows.size * columns.size > _SMALL:
        return None
    diagonals = columns - rows[:, None]
    return (diagonals >= low) & (diagonals <= high)


def _copy_band(out: NDArray, x: NDArray, low: int, high: int) -> None:
    """Copy the diagonals of a band of matrices, row by row, or column by column if these are fewer."""
    if out.shape[-2] > out.shape[-1]:
        out, x, low, high = out.mT, x.mT, -high, -low
    for row in range(out.shape[-2]):
        part = slice(max(row + low, 0), max(row + high + 1, 0))
        out[..., row, part] = x[..., row, part]
