"""Logarithm, sine and cosine of random words: what ``native/xpops/math/random_functions.cuh`` says, to the last bit."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]


class _Constants(NamedTuple):
    """What belongs to one size of words; polynomials begin with their constant."""

    real: DType
    mantissa: int
    log: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


_CONSTANTS = {
    dt.uint32: _Constants(
        dt.float32,
        23,
        (0.3333391, -0.25001338, 0.19963068, -0.16577592, 0.1491474, -0.14267424, 0.08700429),
        (-0.16666655, 0.008332178, -0.00019517266),
        (-0.49999896, 0.041656293, -0.0013597794),
    ),
    dt.uint64: _Constants(
        dt.float64,
        52,
        (
            *(0.6666666666666734, 0.39999999999414304, 0.2857142874247851, 0.2222219856312965),
            *(0.18183564883969408, 0.15314035423649772, 0.14796109274213035),
        ),
        (
            *(-0.16666666666666632, 0.008333333333322418, -0.00019841269829812185),
            *(2.755731369351247e-06, -2.5050758375937398e-08, 1.5896811358214452e-10),
        ),
        (
            *(-0.49999999999999484, 0.04166666666650313, -0.0013888888871720548),
            *(2.4801579014022894e-05, -2.7555295965464184e-07, 2.0633565543058e-09),
        ),
    ),
}


def minus_log(words: NDArray) -> NDArray:
    """``-log((w + 1/2) / 2**bits)`` of uint32 as float32, of uint64 as float64; never 0."""
    known, word = _CONSTANTS[words.dtype], words.dtype.type
    real, width, bits = known.real.type, known.mantissa, 8 * words.itemsize
    scaled = (words.astype(real) + real(0.5)).view(words.dtype)
    field = (scaled - real(0.5**0.5).view(word)) & word(2**bits - 2**width)
    whole = word(bits << width)
    distance = ((~words).astype(real) + real(0.5)) * real(-(2.0**-bits))
    near = np.where(field == whole, distance, (scaled - field).view(real) + real(-1))
    halvings = (whole - field).view(f"i{words.itemsize}").astype(real)
    return fused(halvings, real(np.log(2.0) * 2.0**-width), -_log1p_near(near, known))


def sincos_turn(words: NDArray) -> tuple[NDArray, NDArray]:
    """The sine and the cosine of ``2 * pi * w / 2**bits``, of the dtypes of `minus_log`."""
    known, word = _CONSTANTS[words.dtype], words.dtype.type
    real, bits = known.real.type, 8 * words.itemsize
    quadrant = (words + word(1 << (bits - 3))) >> word(bits - 2)
    rest = (words << word(2)).view(f"i{words.itemsize}").astype(real)
    x = rest * real(np.pi / 2 * 2.0**-bits)
    z = x * x
    s, c = fused(x * z, _polynomial(z, known.sine), x), fused(z, _polynomial(z, known.cosine), real(1))
    odd = quadrant & word(1) != 0
    sine, cosine = np.where(odd, c, s), np.where(odd, s, c)
    np.negative(sine, out=sine, where=quadrant & word(2) != 0)
    np.negative(cosine, out=cosine, where=(quadrant + word(1)) & word(2) != 0)
    return sine, cosine


def fused(x: Any, y: Any, z: Any) -> NDArray:
    """``x * y + z``, rounded once for float32 and twice for float64.

    A sum in float64 that lies halfway between two float32, though the exact one does not, is moved off that place.
    """
    if z.dtype == dt.float64:
        twice: NDArray = x * y + z
        return twice
    product, addend = np.multiply(x, y, dtype=np.float64), np.asarray(z, np.float64)
    total = product + addend
    halfway = total.view(np.uint64) & np.uint64(0x1FFFFFFF) == np.uint64(0x10000000)
    if halfway.any():
        addend = np.broadcast_to(addend, total.shape)[halfway]
        product, rough = product[halfway], total[halfway]
        back = rough - product
        rest = (product - (rough - back)) + (addend - back)  # what the sum lacks, exactly
        total[halfway] = np.where(rest == 0, rough, np.nextafter(rough, np.copysign(np.inf, rest)))
    return total.astype(np.float32)


def _polynomial(x: NDArray, coefficients: tuple[float, ...]) -> NDArray:
    first, *others = (x.dtype.type(each) for each in reversed(coefficients))
    return reduce(lambda value, each: fused(x, value, each), others, first)


def _log1p_near(x: NDArray, known: _Constants) -> NDArray:
    """``log(1 + x)`` for x from ``sqrt(1/2) - 1`` to ``sqrt(2) - 1``."""
    if x.dtype == dt.float32:
        p = _polynomial(x, known.log)
        return fused(x * x, fused(x, p, np.float32(-0.5)), x)
    s = x / (x + 2.0)
    z = s * s
    return fused(s, z * _polynomial(z, known.log), s + s)
