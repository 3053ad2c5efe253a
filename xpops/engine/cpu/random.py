"""Random numbers on NumPy: the same bits as from ``native/xpops/math/philox.cuh`` and ``random.cuh``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.random_functions import fused, minus_log, sincos_half_turn
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.program import Kernel
from xpops.ops.random import Law
from xpops.plan.random import round_keys

NDArray = np.ndarray[Any, Any]

# The counters of one step, so few that temporary arrays stay in the cache.
CHUNK = 1 << 13
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_DIGITS = {dt.bfloat16: 8, dt.float16: 11, dt.float32: 24, dt.float64: 53}


def random(law: Law, out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.random`."""
    count, make = law.count(out.dtype), _MAKERS[law.name]

    def kernel(stream: int, out: NDArray, key: int, branch: int, position: int, *parameters: Any) -> None:
        flat = out.reshape(-1)
        with np.errstate(all="ignore"):
            for start in range(0, flat.size, CHUNK * count):
                part = flat[start : start + CHUNK * count]
                words = philox(key, branch, position + start // count, -(-part.size // count))
                part[...] = make(words, out.dtype, *parameters).reshape(-1)[: part.size]

    return kernel


def philox(key: int, branch: int, position: int, counters: int) -> NDArray:
    """The words for counters from `position` on: a row of four uint32 for each counter."""
    if compiled is not None:
        words = np.empty((counters, 4), np.uint32)
        compiled.philox(words, np.array(round_keys(key), np.uint64), branch, position)
        return words
    places = np.arange(counters, dtype=np.uint64) + np.uint64(position % 2**64)
    branches = np.full_like(places, branch)
    a, b, c, d = places & _LOW, places >> _HALF, branches & _LOW, branches >> _HALF
    for first, second in (map(np.uint64, (words % 2**32, words >> 32)) for words in round_keys(key)):
        left, right = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b = (right >> _HALF) ^ b ^ first, right & _LOW
        c, d = (left >> _HALF) ^ d ^ second, left & _LOW
    return np.stack((a, b, c, d), axis=1).astype(np.uint32)


def _real_words(words: NDArray, dtype: DType) -> NDArray:
    """The words from which real numbers of `dtype` are made: 32-bit words, or 64-bit words for float64."""
    return words if dtype != dt.float64 else _pairs(words)


def _pairs(words: NDArray) -> NDArray:
    """Join pairs of 32-bit words to 64-bit words, the first word in the low half."""
    low, high = words[:, 0::2], words[:, 1::2].astype(np.uint64)
    pairs: NDArray = low | high << _HALF
    return pairs


def _uniform(words: NDArray, dtype: DType, low: float, span: float) -> NDArray:
    bits, real = _real_words(words, dtype), WIDENED.get(dtype, dtype)
    kept = _DIGITS[dtype]
    unit = (bits >> bits.dtype.type(8 * bits.itemsize - kept)).astype(real) * real.type(2.0**-kept)
    return cast(real.type(low) + real.type(span) * unit, dtype)


def _normal(words: NDArray, dtype: DType, mean: float, scale: float) -> NDArray:
    bits, real = _real_words(words, dtype), WIDENED.get(dtype, dtype)
    half, turn = minus_log(bits[:, 0::2]), bits[:, 1::2]
    round_about = turn >> turn.dtype.type(8 * turn.itemsize - 1) != 0
    radius = np.sqrt(half + half)
    radius = real.type(scale) * np.where(round_about, -radius, radius)
    sine, cosine = sincos_half_turn(turn)
    both = np.stack((cosine, sine), axis=2)
    return cast(fused(radius[:, :, None], both, np.full((), mean, real)), dtype)


def _exponential(words: NDArray, dtype: DType, scale: float) -> NDArray:
    value = minus_log(_real_words(words, dtype))
    return cast(value.dtype.type(scale) * value, dtype)


def _bernoulli(words: NDArray, dtype: DType, threshold: int) -> NDArray:
    return words < np.uint64(threshold)


def _integers(words: NDArray, dtype: DType, low: int, span: int) -> NDArray:
    bits = _pairs(words)
    below = _high_product(bits, np.uint64(span)) if span else bits
    return (below + np.uint64(low)).astype(dtype)


def _wide_integers(words: NDArray, dtype: DType, low: int, span: int) -> NDArray:
    bits, factor = _pairs(words), np.uint64(span)
    below = _high_product(bits[:, 0], factor)
    carry = bits[:, 1] * factor + below < below
    return (_high_product(bits[:, 1], factor) + carry + np.uint64(low)).astype(dtype)


def _high_product(x: NDArray, y: np.uint64) -> NDArray:
    """The high 64 bits of products."""
    low, high = x & _LOW, x >> _HALF
    y_low, y_high = y & _LOW, y >> _HALF
    middle = high * y_low + (low * y_low >> _HALF)
    other = low * y_high + (middle & _LOW)
    product: NDArray = high * y_high + (middle >> _HALF) + (other >> _HALF)
    return product


_MAKERS: dict[str, Callable[..., NDArray]] = {
    "uniform": _uniform,
    "normal": _normal,
    "exponential": _exponential,
    "bernoulli": _bernoulli,
    "integers": _integers,
    "wide_integers": _wide_integers,
}
