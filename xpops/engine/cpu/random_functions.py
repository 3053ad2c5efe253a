"""Functions of random words: the same bits as from ``native/xpops/math/random_functions.cuh``."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.dtypes import DType

NDArray = np.ndarray[Any, Any]


class _Constants(NamedTuple):
    """The constants for one word size; polynomials begin with the constant coefficient."""

    real: DType
    mantissa: int
    log: tuple[float, ...]
    sine: tuple[float, ...]


_CONSTANTS = {
    dt.uint32: _Constants(
        dt.float32,
        23,
        (0.3333391, -0.25001338, 0.19963068, -0.16577592, 0.1491474, -0.14267424, 0.08700429),
        (-0.1666666, 0.0083330665, -0.00019809596, 2.6057653e-06),
    ),
    dt.uint64: _Constants(
        dt.float64,
        52,
        (
            *(0.6666666666666734, 0.39999999999414304, 0.2857142874247851, 0.2222219856312965),
            *(0.18183564883969408, 0.15314035423649772, 0.14796109274213035),
        ),
        (
            *(-0.16666666666666666, 0.008333333333333194, -0.00019841269841209183, 2.7557319211130673e-06),
            *(-2.5052106872182503e-08, 1.6058939674061378e-10, -7.642990644115888e-13, 2.721165893133841e-15),
        ),
    ),
}


def minus_log(words: NDArray) -> NDArray:
    """``-log((w + 1/2) / 2**bits)`` as float32 for uint32, as float64 for uint64; never 0."""
    known, word = _CONSTANTS[words.dtype], words.dtype.type
    real, width, bits = known.real.type, known.mantissa, 8 * words.itemsize
    scaled = (words.astype(real) + real(0.5)).view(words.dtype)
    field = (scaled - real(0.5**0.5).view(word)) & word(2**bits - 2**width)
    whole = word(bits << width)
    distance = ((~words).astype(real) + real(0.5)) * real(-(2.0**-bits))
    near = np.where(field == whole, distance, (scaled - field).view(real) + real(-1))
    halvings = (whole - field).view(f"i{words.itemsize}").astype(real)
    return fused(halvings, real(np.log(2.0) * 2.0**-width), -_log1p_near(near, known))


def sincos_half_turn(words: NDArray) -> tuple[NDArray, NDArray]:
    """The sine and the cosine of ``pi * s / 2**bits``, where s is ``word << 1``, read as a signed integer."""
    known, word = _CONSTANTS[words.dtype], words.dtype.type
    real, bits = known.real.type, 8 * words.itemsize
    turn, unit = words << word(1), real(np.pi * 2.0**-bits)
    angle = turn.view(f"i{words.itemsize}")
    rest = word(2 ** (bits - 1)) - np.where(angle < 0, ~turn + word(1), turn)
    return _sin_near(angle.astype(real) * unit, known), _sin_near(rest.astype(real) * unit, known)


def fused(x: Any, y: Any, z: Any) -> NDArray:
    """``x * y + z``, rounded once for float32 and twice for float64.

    float32 numbers are added in float64. If that sum is halfway between two float32 numbers but the exact sum is not,
    it is moved towards the exact sum, so that it rounds to the correct float32.
    """
    if z.dtype == dt.float64:
        twice: NDArray = x * y + z
        return twice
    if compiled is not None:
        return _fused_by_core(*(np.asarray(each, np.float32) for each in (x, y, z)))
    product, addend = np.multiply(x, y, dtype=np.float64), np.asarray(z, np.float64)
    total = product + addend
    halfway = total.view(np.uint64) & np.uint64(0x1FFFFFFF) == np.uint64(0x10000000)
    if halfway.any():
        addend = np.broadcast_to(addend, total.shape)[halfway]
        product, rough = product[halfway], total[halfway]
        back = rough - product
        rest = (product - (rough - back)) + (addend - back)  # the exact rounding error of the sum
        total[halfway] = np.where(rest == 0, rough, np.nextafter(rough, np.copysign(np.inf, rest)))
    once: NDArray = total.astype(np.float32)
    return once


def _fused_by_core(*operands: NDArray) -> NDArray:
    assert compiled is not None
    result = np.empty(np.broadcast_shapes(*(each.shape for each in operands)), np.float32)
    compiled.fused(result, *(each.reshape((1,) * (result.ndim - each.ndim) + each.shape) for each in operands))
    return result


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


def _sin_near(x: NDArray, known: _Constants) -> NDArray:
    """``sin(x)`` for ``|x| <= pi / 2``."""
    z = x * x
    return fused(x * z, _polynomial(z, known.sine), x)
