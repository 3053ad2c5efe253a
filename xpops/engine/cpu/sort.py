"""Sort on NumPy, in the total order: by value, -0.0 before +0.0, every NaN last in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.blocks import BLOCK, blocks, line_blocks
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]

# Up to so many elements, a whole sort takes fewer calls of NumPy than the first elements by a partition.
_FEW = 4096
# From so many elements a row on, the radix sort of the compiled core is faster than NumPy's sorts. Measured on x86-64,
# 2026-11, over 64 to 2**23.
_LONG = 1024
# The core looks for the first elements of rows that are so many times as long.
_MANY = 8


def sort(x: Layout, values: Layout | None, indices: Layout | None, descending: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.sort`."""
    layout, lengths = x, line_blocks(x, x.ndim - 1, BLOCK)

    def rows(x: NDArray, results: list[NDArray]) -> None:
        count = results[0].shape[-1]
        keys = keys_of(x, descending)
        if indices is None and count == x.shape[-1]:
            results[0][...] = _values_of(_sorted(keys), x.dtype, descending)
            return
        order = _first(keys, count) if count < x.shape[-1] else _order(keys)
        if values is not None:
            results[0][...] = np.take_along_axis(x, order, axis=-1)
        if indices is not None:
            results[-1][...] = order

    def kernel(stream: int, *data: NDArray) -> None:
        *results, x = data
        for key in blocks(layout, lengths, range(layout.ndim - 1)):
            rows(x[key], [result[key] for result in results])

    return kernel


def keys_of(x: NDArray, descending: bool) -> NDArray:
    """New unsigned integers that sort as the values of `x` do (``native/xpops/math/order.cuh``)."""
    bits: NDArray = x.view(f"u{x.itemsize}")
    if x.dtype in dt.REAL_FLOATS:
        keys: NDArray = bits ^ _flips(bits)
    elif x.dtype in dt.SIGNED_INTEGERS:
        keys = bits ^ _sign(bits)
    else:
        keys = (bits != 0).astype(bits.dtype) if x.dtype == dt.bool else bits.copy()
    if descending:
        np.invert(keys, out=keys)
    if x.dtype in dt.REAL_FLOATS:
        nan = x != x
        if nan.any():
            keys[nan] = ~keys.dtype.type(0)
    return keys


def _values_of(keys: NDArray, dtype: DType, descending: bool) -> NDArray:
    """The values that have these keys."""
    if descending:
        keys = ~keys
    if dtype in dt.REAL_FLOATS:
        keys = keys ^ _flips(~keys)
    elif dtype in dt.SIGNED_INTEGERS:
        keys = keys ^ _sign(keys)
    return keys.view(dtype)


def _sign(bits: NDArray) -> Any:
    return bits.dtype.type(1 << (8 * bits.itemsize - 1))


def _flips(bits: NDArray) -> Any:
    """The bits that differ between a floating-point number and its key: all if it is negative, else the sign."""
    signs = bits.view(f"i{bits.itemsize}") >> (8 * bits.itemsize - 1)
    return signs.view(bits.dtype) | _sign(bits)


def _sorted(keys: NDArray, first: int = 0) -> NDArray:
    """The rows in order; `keys` itself may be sorted. The bits before `first` are ordered already, or all the same."""
    if compiled is not None and keys.shape[-1] >= _LONG:
        keys = np.ascontiguousarray(keys)
        compiled.sort(keys, first)
    else:
        # NumPy's stable sort of bytes is a radix sort; its other sorts are faster for all other dtypes.
        keys.sort(axis=-1, kind="stable" if keys.itemsize == 1 else "quicksort")
    return keys


def _order(keys: NDArray) -> NDArray:
    """The indices of a stable sort."""
    if keys.itemsize < 8:
        return _order_of_narrow(keys)
    order = _order_of_narrow(keys.astype(np.uint32))
    high = np.take_along_axis((keys >> 32).astype(np.uint32), order, axis=-1)
    return np.take_along_axis(order, _order_of_narrow(high), axis=-1)


def _order_of_narrow(keys: NDArray) -> NDArray:
    """The indices of a stable sort: integers of a key and an index are all different, so that any sort is stable."""
    count = keys.shape[-1]
    index = np.arange(count, dtype=np.uint32 if keys.itemsize <= 2 and count <= 1 << 16 else np.uint64)
    half = 4 * index.itemsize
    both = keys.astype(index.dtype) << half
    both |= index
    both = _sorted(both, half)
    both &= (1 << half) - 1
    return both.astype(np.int64)


def _first(keys: NDArray, count: int) -> NDArray:
    """The first `count` indices of a stable sort."""
    if compiled is not None and keys.itemsize <= 4 and 0 < count * _MANY <= keys.shape[-1] < 1 << 32:
        found = np.empty((*keys.shape[:-1], count), np.int64)
        compiled.first(np.ascontiguousarray(keys), found)
        return found
    if keys.size <= _FEW:
        return _order(keys)[..., :count]
    last = np.partition(keys, count - 1, axis=-1)[..., count - 1 : count]
    taken = keys <= last
    if np.count_nonzero(taken) != last.size * count:  # of the keys equal to the last one, the first are taken
        below, equal = keys < last, keys == last
        missing = count - np.count_nonzero(below, axis=-1, keepdims=True)
        taken = below | (equal & (np.cumsum(equal, axis=-1) <= missing))
    places = (np.flatnonzero(taken) % keys.shape[-1]).reshape(*keys.shape[:-1], count)
    return np.take_along_axis(places, _order(np.take_along_axis(keys, places, axis=-1)), axis=-1)
