"""Circular and hyperbolic functions. For complex special cases NumPy uses a C library with unspecified signs.

The standard requires the symmetries of the hyperbolic functions for all operands. It defines the circular functions "as
if" computed by the hyperbolic ones, with operand and result multiplied by powers of 1j.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


def arcsin(x: NDArray) -> Any:
    """``-1j * arcsinh(x * 1j)``."""
    return _turned_back(np.arcsinh(_turned(x))) if x.dtype.kind == "c" else np.arcsin(x)


def arctan(x: NDArray) -> Any:
    """``-1j * arctanh(x * 1j)``."""
    return _turned_back(np.arctanh(_turned(x))) if x.dtype.kind == "c" else np.arctan(x)


def cos(x: NDArray) -> Any:
    """``cosh(x * 1j)``."""
    return cosh(_turned(x)) if x.dtype.kind == "c" else np.cos(x)


def cosh(x: NDArray) -> Any:
    """Computed in the first quadrant. The imaginary part has the sign of the product of the operand's parts."""
    if x.dtype.kind != "c":
        return np.cosh(x)
    first = np.cosh(_first_quadrant(x))
    return _joined(first.real, np.where(np.signbit(x.real) ^ np.signbit(x.imag), -first.imag, first.imag))


def sin(x: NDArray) -> Any:
    """``-1j * sinh(x * 1j)``."""
    return _turned_back(sinh(_turned(x))) if x.dtype.kind == "c" else np.sin(x)


def sinh(x: NDArray) -> Any:
    """Computed in the first quadrant. Each part has the sign of the operand's part."""
    return _odd(np.sinh(_first_quadrant(x)), x) if x.dtype.kind == "c" else np.sinh(x)


def tan(x: NDArray) -> Any:
    """``-1j * tanh(x * 1j)``."""
    return _turned_back(tanh(_turned(x))) if x.dtype.kind == "c" else np.tan(x)


def tanh(x: NDArray) -> Any:
    """At infinity the imaginary part is a zero with the sign of ``x.imag``; C uses the sign of ``sin(2 imag)``."""
    if x.dtype.kind != "c":
        return np.tanh(x)
    first = np.tanh(_first_quadrant(x))
    return _odd(_joined(first.real, np.where(np.isinf(x.real), 0, first.imag)), x)


def _joined(real: NDArray, imag: NDArray) -> NDArray:
    result = np.empty(np.shape(real), np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imag
    return result


def _turned(x: NDArray) -> NDArray:
    """``x * 1j`` without a product, which would be wrong for infinities and signed zeros."""
    return _joined(-x.imag, x.real)


def _turned_back(x: NDArray) -> NDArray:
    """``x * -1j``."""
    return _joined(x.imag, -x.real)


def _first_quadrant(x: NDArray) -> NDArray:
    return _joined(np.abs(x.real), np.abs(x.imag))


def _odd(first: NDArray, x: NDArray) -> NDArray:
    """The value at `x` from the value in the first quadrant, for odd functions that are real on the real axis."""
    parts = ((first.real, x.real), (first.imag, x.imag))
    return _joined(*(np.where(np.signbit(sign), -value, value) for value, sign in parts))
