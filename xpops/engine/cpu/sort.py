"""Sort on NumPy, in the total order: by value, -0.0 before +0.0, every NaN last in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def sort(x: Layout, values: Layout | None, indices: Layout | None, descending: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.sort`."""

    def kernel(stream: int, *data: NDArray) -> None:
        *results, x = data
        order = np.argsort(keys_of(x, descending), axis=-1, kind="stable")[..., : results[0].shape[-1]]
        if values is not None:
            results[0][...] = np.take_along_axis(x, order, axis=-1)
        if indices is not None:
            results[-1][...] = order

    return kernel


def keys_of(x: NDArray, descending: bool) -> NDArray:
    """Unsigned integers that sort as the values of `x` do (``native/xpops/math/order.cuh``)."""
    bits = x.view(f"u{x.itemsize}")
    sign = bits.dtype.type(1 << (8 * x.itemsize - 1))
    if x.dtype in dt.REAL_FLOATS:
        keys = np.where(bits & sign, ~bits, bits | sign)
    elif x.dtype in dt.SIGNED_INTEGERS:
        keys = bits ^ sign
    else:
        keys = (bits != 0).astype(bits.dtype) if x.dtype == dt.bool else bits
    keys = ~keys if descending else keys
    return np.where(x != x, ~bits.dtype.type(0), keys) if x.dtype in dt.REAL_FLOATS else keys
