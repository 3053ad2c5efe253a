"""Matrix products on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import WIDENED, assign, cast
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]

# NumPy multiplies integers without BLAS. From so many rows, columns and terms on, products of limbs are faster.
_LEAST = 16
# The bits of a limb, and the most terms for which sums of products of limbs are exact in float64.
_LIMB, _TERMS = 16, 1 << 20


def matmul(x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.matmul`."""
    wide = WIDENED.get(out.dtype)
    by_limbs = out.dtype.kind in "iu" and min(*x1.shape[-2:], x2.shape[-1]) >= _LEAST

    def run(out: NDArray, x1: NDArray, x2: NDArray) -> None:
        if by_limbs:
            out[...] = _product(x1, x2).astype(out.dtype)
        elif wide is None:
            np.matmul(x1, x2, out=out)
        else:
            assign(out, np.matmul(cast(x1, wide), cast(x2, wide)))

    def kernel(stream: int, out: NDArray, x1: NDArray, x2: NDArray) -> None:
        quietly(run, out, x1, x2)

    return kernel


def _product(x1: NDArray, x2: NDArray) -> NDArray:
    """The product modulo the dtype's range, as uint64: integers are polynomials of limbs, which BLAS multiplies."""
    result = np.zeros((*x1.shape[:-1], x2.shape[-1]), np.uint64)
    for start in range(0, x1.shape[-1], _TERMS):
        limbs1 = _limbs(x1[..., start : start + _TERMS])
        limbs2 = _limbs(x2[..., start : start + _TERMS, :])
        for place in range(len(limbs1)):
            for at in range(place + 1):
                part = (limbs1[at] @ limbs2[place - at]).astype(np.int64)
                result += part.view(np.uint64) << np.uint64(_LIMB * place)
    return result


def _limbs(x: NDArray) -> list[NDArray]:
    """The limbs of integers in float64, the lowest first."""
    bits = x.view(f"u{x.itemsize}")
    return [
        ((bits >> place) & ((1 << _LIMB) - 1) if x.itemsize > 2 else bits).astype(np.float64)
        for place in range(0, 8 * x.itemsize, _LIMB)
    ]
