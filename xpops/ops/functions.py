"""NumPy functions of rows where NumPy's own function deviates from the standard or has another form.

They take ndarrays of the same dtype and return ndarrays. Those that need few temporary arrays or none write `out`, too,
of the dtype of the operands. The caller turns floating-point warnings off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


# NumPy 2.4 on x86-64 writes the results of the next four functions to wrong places of a strided `out` of 16 elements or
# more. So these functions take no `out`, and the engine copies their results.


def isfinite(x: NDArray) -> Any:
    """NumPy's, without `out`."""
    return np.isfinite(x)


def isinf(x: NDArray) -> Any:
    """NumPy's, without `out`."""
    return np.isinf(x)


def isnan(x: NDArray) -> Any:
    """NumPy's, without `out`."""
    return np.isnan(x)


def signbit(x: NDArray) -> Any:
    """NumPy's, without `out`."""
    return np.signbit(x)


def where(condition: NDArray, x: NDArray, y: NDArray) -> Any:
    """``np.where`` of operands of one dtype, without branches, which take ten times as long for random conditions."""
    if x.dtype.itemsize > 8:
        return np.where(condition, x, y)
    bits, others = (np.asarray(each).view(f"i{each.dtype.itemsize}") for each in (x, y))
    chosen = np.negative(condition.astype(bits.dtype))
    return (((bits ^ others) & chosen) ^ others).view(x.dtype)


def clip(x: NDArray, low: NDArray, high: NDArray, out: NDArray | None = None) -> Any:
    """NaN in any operand gives NaN. A zero equal to a bound is the bound; in ``np.clip`` strides decide."""
    return np.minimum(np.maximum(x, low), high, out=out)  # `out` may be `high`


def round(x: NDArray, out: NDArray | None = None) -> Any:
    """Half to even; integers are themselves."""
    return np.rint(x, out) if x.dtype.kind in "fc" else positive(x, out)


def positive(x: NDArray, out: NDArray | None = None) -> Any:
    """A copy, which takes NumPy's loop three times as long."""
    return x.copy() if out is None else _write(out, x)


def conj(x: NDArray, out: NDArray | None = None) -> Any:
    """Real numbers are copied, which takes NumPy's loop three times as long."""
    return np.conjugate(x, out) if x.dtype.kind == "c" else positive(x, out)


def floor_divide(x: NDArray, y: NDArray) -> Any:
    """``floor(x / y)``, also at infinity, where NumPy, like Python, returns NaN or -1."""
    if x.dtype == np.float32:
        return _floor_of_quotient(x, y).astype(np.float32)
    quotient = np.floor_divide(x, y)
    if x.dtype.kind != "f":
        return quotient
    return np.where(np.isinf(x) | np.isinf(y), np.divide(x, y), quotient)


def remainder(x: NDArray, y: NDArray) -> Any:
    """NumPy's. In float32 most quotients have few bits; then their product with `y` is exact in float64."""
    if x.dtype != np.float32:
        return np.remainder(x, y)
    quotient = _floor_of_quotient(x, y)
    result = np.asarray(np.copysign(x - quotient * y, y).astype(np.float32))
    hard = ~(np.abs(quotient) < 2.0**28) | np.isnan(result)
    if hard.any():
        x, y = np.broadcast_arrays(x, y)
        result[hard] = np.remainder(x[hard], y[hard])
    return result


def _floor_of_quotient(x: NDArray, y: NDArray) -> Any:
    """In float64: no quotient of float32 numbers up to 2**28 is rounded to an integer, unless it is that integer."""
    return np.floor(np.divide(x, y, dtype=np.float64))


def logaddexp(x: NDArray, y: NDArray) -> Any:
    """NumPy's method on whole arrays. float32 is computed in float64."""
    x, y = (each.astype(np.promote_types(each.dtype, np.float64), copy=False) for each in (x, y))
    tail = np.log1p(np.exp(-np.abs(x - y)))
    return np.maximum(x, y) + np.fmax(tail, 0)  # the difference of equal infinities is NaN


def logaddexp2(x: NDArray, y: NDArray) -> Any:
    """The same to the base 2."""
    x, y = (each.astype(np.promote_types(each.dtype, np.float64), copy=False) for each in (x, y))
    tail = np.log1p(np.exp2(-np.abs(x - y))) / np.log(x.dtype.type(2))
    return np.maximum(x, y) + np.fmax(tail, 0)


def nextafter(x: NDArray, y: NDArray) -> Any:
    """Returns `y` if the operands are equal, also for zeros of different sign, where NumPy's float16 returns `x`."""
    start = np.where(x == 0, np.copysign(x, y), x)
    up = (y > x) ^ np.signbit(start)  # away from 0, to the next larger integer with these bits
    steps = (up.view(np.int8) * 2 - 1) * (x != y)
    bits = start.view(f"i{x.dtype.itemsize}") + steps.astype(f"i{x.dtype.itemsize}")
    return np.where((x == x) & (y == y), bits.view(x.dtype), x + y)


def power(x: NDArray, y: NDArray, out: NDArray | None = None) -> Any:
    """Negative powers of integers are rounded toward zero, where NumPy raises: 0, except for bases of 1 and -1.

    -0.0 and minus infinity to the power 0.5 are positive, where NumPy returns the square root.
    """
    if y.ndim == 0 and y == 2:
        return np.square(x, out)
    if x.dtype.kind == "f":
        roots = y == 0.5
        if not roots.any():
            return np.power(x, y, out)
        return _write(out, np.where(roots & ((x == 0) | np.isinf(x)), np.abs(x), np.power(x, y)))
    if x.dtype.kind != "i":
        return np.power(x, y, out)
    sign = np.where(y & 1, x, 1)
    inverse = np.where(x == 1, 1, np.where(x == -1, sign, 0))
    return _write(out, np.where(y < 0, inverse, np.power(x, np.maximum(y, 0))))


def expm1(x: NDArray) -> Any:
    """At infinity and NaN, where NumPy's formula is wrong, the result is ``exp(x) - 1``."""
    if x.dtype.kind != "c":
        return np.expm1(x)
    finite, exponential = np.expm1(x), np.exp(x)
    special = ~np.isfinite(x)
    result = np.empty_like(finite)
    result.real = np.where(x == 0, 0, np.where(special, exponential.real - 1, finite.real))
    # A zero imaginary part keeps its sign, as in every function that is real on the real axis.
    result.imag = np.where(x.imag == 0, x.imag, np.where(special, exponential.imag, finite.imag))
    return result


def log1p(x: NDArray) -> Any:
    """Near 0 the real part is ``log1p(|1 + x|**2 - 1) / 2``; NumPy uses the logarithm of a rounded ``1 + x``."""
    if x.dtype.kind != "c":
        return np.log1p(x)
    result = np.asarray(np.log1p(x))
    # The sum may cancel, so its products must be exact, or nearly so: compute them in long double, NumPy's widest
    # dtype.
    real, imag = x.real.astype(np.longdouble), x.imag.astype(np.longdouble)
    near = np.log1p(real * (2 + real) + imag * imag) / 2
    result.real = np.where(np.hypot(real, imag) < 0.5, near, result.real)
    return result


def reciprocal(x: NDArray, out: NDArray | None = None) -> Any:
    """``1 / x``, also for complex numbers, where NumPy's reciprocal differs at infinity and zero."""
    return np.divide(x.dtype.type(1), x, out)


def sign(x: NDArray, out: NDArray | None = None) -> Any:
    """NaN in either part gives NaN in both parts, where NumPy checks for an infinite part first."""
    if x.dtype.kind != "c":
        return np.sign(x, out)
    return _write(out, np.where(np.isnan(x), x * np.nan, np.sign(x)))


def ldexp(x: NDArray, y: NDArray) -> Any:
    """``x * 2**y``, where `y` has the dtype of `x`: it is truncated, and NaN counts as minus infinity."""
    beyond = 1 << 16  # of every dtype's exponents
    return np.ldexp(x, np.where(y > -beyond, np.minimum(y, beyond), -beyond).astype(np.int32))


def exponent(x: NDArray) -> Any:
    """The exponent that ``np.frexp`` returns, of the dtype of `x`; 0 at infinity and NaN, where C leaves it open."""
    return np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(x.dtype)


def _write(out: NDArray | None, result: NDArray) -> NDArray:
    """A result, in `out` if it is given."""
    if out is None:
        return result
    np.copyto(out, result, casting="unsafe")
    return out
