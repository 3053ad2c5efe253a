"""Logic, comparisons, and complex numbers."""

from __future__ import annotations

import math
from typing import Any

from xpops.api.elementwise import comparison, complex_numbers, floating_point, logical
from xpops.api.elementwise.arithmetic import multiply
from xpops.api.elementwise.signs import abs
from xpops.api.elementwise.trigonometric import atan2
from xpops.api.fusion import fuse
from xpops.api.manipulation.shapes import broadcast_shapes
from xpops.api.searching import where
from xpops.api.utility import all
from xpops.core import dtypes as dt
from xpops.numpy.arguments import arrays_of, dtype_of, floating, given, is_scalar
from xpops.numpy.creation import ones_like, zeros_like
from xpops.numpy.elementwise import ufunc

__all__ = [
    "allclose", "angle", "array_equal", "array_equiv", "conj", "conjugate", "equal", "greater", "greater_equal",
    "imag", "isclose", "iscomplex", "iscomplexobj", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
    "isreal", "isrealobj", "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor",
    "not_equal", "real", "signbit",
]  # fmt: skip


@fuse
def _isneginf(x: Any) -> Any:
    return floating_point.isinf(x) & (x < 0)


@fuse
def _isposinf(x: Any) -> Any:
    return floating_point.isinf(x) & (x > 0)


@fuse
def _close(a: Any, b: Any, rtol: Any, atol: Any) -> Any:
    same = comparison.equal(a, b)
    a, b = where(same, a, a), where(same, b, b)  # scalars become arrays
    near = (abs(a - b) <= atol + rtol * abs(b)) & floating_point.isfinite(b)
    return near | same


@fuse
def _both_nan(a: Any, b: Any) -> Any:
    return (a != a) & (b != b)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """As `numpy.isclose`: whether ``|a - b| <= atol + rtol * |b|``."""
    a, b = arrays_of((a, b))
    a, b = (given(a) if is_scalar(b) else a), b
    a, b = ((x if isinstance(x, complex) else float(x)) if is_scalar(x) else floating(x) for x in (a, b))
    near = _close(a, b, rtol, atol)
    return logical.logical_or(near, _both_nan(a, b)) if equal_nan else near


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """As `numpy.allclose`: a bool, so it waits for the device."""
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def _same(a1: Any, a2: Any, equal_nan: bool) -> Any:
    found = comparison.equal(a1, a2)
    inexact = dtype_of(a1) in dt.CATEGORIES["floating-point"] and dtype_of(a2) in dt.CATEGORIES["floating-point"]
    return all(logical.logical_or(found, _both_nan(a1, a2)) if equal_nan and inexact else found)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """As `numpy.array_equal`: a bool, so it waits for the device."""
    a1, a2 = arrays_of((a1, a2), scalars=True)
    return tuple(a1.shape) == tuple(a2.shape) and bool(_same(a1, a2, equal_nan))


def array_equiv(a1: Any, a2: Any) -> bool:
    """As `numpy.array_equiv`: whether the arrays are equal after broadcasting. A bool, so it waits for the device."""
    a1, a2 = arrays_of((a1, a2), scalars=True)
    try:
        broadcast_shapes(tuple(a1.shape), tuple(a2.shape))
    except ValueError:
        return False
    return bool(_same(a1, a2, False))


def real(val: Any) -> Any:
    """As `numpy.real`."""
    return complex_numbers.real(given(val))


def imag(val: Any) -> Any:
    """As `numpy.imag`."""
    return complex_numbers.imag(given(val))


def angle(z: Any, deg: bool = False) -> Any:
    """As `numpy.angle`: the argument of complex numbers."""
    return (_angle_in_degrees if deg else _angle)(floating(z))


@fuse
def _angle(z: Any) -> Any:
    return atan2(complex_numbers.imag(z), complex_numbers.real(z))


@fuse
def _angle_in_degrees(z: Any) -> Any:
    return multiply(_angle(z), 180 / math.pi)


def iscomplexobj(x: Any) -> bool:
    """As `numpy.iscomplexobj`: whether the dtype is complex."""
    return dtype_of(given(x)) in dt.COMPLEX_FLOATS


def isrealobj(x: Any) -> bool:
    """As `numpy.isrealobj`: whether the dtype is not complex."""
    return not iscomplexobj(x)


def iscomplex(x: Any) -> Any:
    """As `numpy.iscomplex`: whether the imaginary parts are not 0."""
    x = given(x)
    return _is_complex(x) if iscomplexobj(x) else zeros_like(x, dtype=dt.bool)


def isreal(x: Any) -> Any:
    """As `numpy.isreal`: whether the imaginary parts are 0."""
    x = given(x)
    return _is_real(x) if iscomplexobj(x) else ones_like(x, dtype=dt.bool)


@fuse
def _is_complex(x: Any) -> Any:
    return comparison.not_equal(complex_numbers.imag(x), 0)


@fuse
def _is_real(x: Any) -> Any:
    return comparison.equal(complex_numbers.imag(x), 0)


def _false(x: Any) -> Any:
    return logical.logical_and(x, False)


def _true(x: Any) -> Any:
    return logical.logical_or(x, True)


conj = conjugate = ufunc("conjugate", complex_numbers.conj)
logical_and = ufunc("logical_and", logical.logical_and, 2)
logical_or = ufunc("logical_or", logical.logical_or, 2)
logical_not = ufunc("logical_not", logical.logical_not)
logical_xor = ufunc("logical_xor", logical.logical_xor, 2)
isnan = ufunc("isnan", floating_point.isnan, 1, _false)
isinf = ufunc("isinf", floating_point.isinf, 1, _false)
isfinite = ufunc("isfinite", floating_point.isfinite, 1, _true)
isneginf = ufunc("isneginf", _isneginf, 1, _false)
isposinf = ufunc("isposinf", _isposinf, 1, _false)
signbit = ufunc("signbit", floating_point.signbit, 1, _false)
equal = ufunc("equal", comparison.equal, 2)
not_equal = ufunc("not_equal", comparison.not_equal, 2)
less = ufunc("less", comparison.less, 2)
less_equal = ufunc("less_equal", comparison.less_equal, 2)
greater = ufunc("greater", comparison.greater, 2)
greater_equal = ufunc("greater_equal", comparison.greater_equal, 2)
