"""Elementwise arithmetic."""

from __future__ import annotations

from typing import Any

from xpops.dispatch import binary, unary
from xpops.ops.elementwise import OPERATORS as op

__all__ = [
    "abs",
    "add",
    "conj",
    "copysign",
    "divide",
    "floor_divide",
    "hypot",
    "imag",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "sign",
    "square",
    "subtract",
]


def abs(x: Any, /, *, out: Any = None) -> Any:
    """The absolute values, ``|x|``.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`; float32 or float64 for complex64 or complex128.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.abs(xp.asarray([-3, 4]))
    Array([3, 4], dtype=int64, device='cpu')
    """
    return unary(op["abs"], x, out)


def add(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The sums, ``x1 + x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Numeric; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.add(xp.asarray([1, 2]), 10)
    Array([11, 12], dtype=int64, device='cpu')
    """
    return binary(op["add"], x1, x2, out)


def conj(x: Any, /, *, out: Any = None) -> Any:
    """The complex conjugates. Real elements are their own.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.conj(xp.asarray([1 + 2j]))
    Array([1.-2.j], dtype=complex128, device='cpu')
    """
    return unary(op["conj"], x, out)


def copysign(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The magnitudes of `x1` with the signs of `x2`.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.copysign(xp.asarray([1.0, -2.0]), -0.0)
    Array([-1., -2.], dtype=float64, device='cpu')
    """
    return binary(op["copysign"], x1, x2, out)


def divide(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The quotients, ``x1 / x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.divide(xp.asarray([1.0, 2.0]), 4)
    Array([0.25, 0.5 ], dtype=float64, device='cpu')
    """
    return binary(op["divide"], x1, x2, out)


def floor_divide(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The quotients rounded down, ``x1 // x2``.

    Division of integers by zero gives 0.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.floor_divide(xp.asarray([7, -7]), 2)
    Array([ 3, -4], dtype=int64, device='cpu')
    """
    return binary(op["floor_divide"], x1, x2, out)


def hypot(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """``sqrt(x1**2 + x2**2)``, without overflow on the way.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.hypot(xp.asarray([3.0]), 4.0)
    Array([5.], dtype=float64, device='cpu')
    """
    return binary(op["hypot"], x1, x2, out)


def imag(x: Any, /, *, out: Any = None) -> Any:
    """The imaginary parts; 0 for real elements.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`; float32 or float64 for complex64 or complex128.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.imag(xp.asarray([1 + 2j]))
    Array([2.], dtype=float64, device='cpu')
    """
    return unary(op["imag"], x, out)


def maximum(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The larger of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.maximum(xp.asarray([1, 5]), 3)
    Array([3, 5], dtype=int64, device='cpu')
    """
    return binary(op["maximum"], x1, x2, out)


def minimum(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The smaller of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.minimum(xp.asarray([1, 5]), 3)
    Array([1, 3], dtype=int64, device='cpu')
    """
    return binary(op["minimum"], x1, x2, out)


def multiply(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The products, ``x1 * x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Numeric; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.multiply(xp.asarray([1, 2]), 3)
    Array([3, 6], dtype=int64, device='cpu')
    """
    return binary(op["multiply"], x1, x2, out)


def negative(x: Any, /, *, out: Any = None) -> Any:
    """The elements with the other sign, ``-x``.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.negative(xp.asarray([1, -2]))
    Array([-1,  2], dtype=int64, device='cpu')
    """
    return unary(op["negative"], x, out)


def nextafter(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The next number after `x1` in the direction of `x2` that the dtype holds.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real floating-point; integers and booleans are taken as float64; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.nextafter(xp.asarray([1.0]), 2.0)
    Array([1.], dtype=float64, device='cpu')
    """
    return binary(op["nextafter"], x1, x2, out)


def positive(x: Any, /, *, out: Any = None) -> Any:
    """The elements themselves, ``+x``, in a new array.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.positive(xp.asarray([1, -2]))
    Array([ 1, -2], dtype=int64, device='cpu')
    """
    return unary(op["positive"], x, out)


def pow(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The powers, ``x1 ** x2``.

    An integer to a negative power is rounded toward zero.

    Parameters
    ----------
    x1, x2 : array or scalar
        Numeric; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.pow(xp.asarray([2, 3]), 2)
    Array([4, 9], dtype=int64, device='cpu')
    """
    return binary(op["pow"], x1, x2, out)


def real(x: Any, /, *, out: Any = None) -> Any:
    """The real parts.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`; float32 or float64 for complex64 or complex128.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.real(xp.asarray([1 + 2j]))
    Array([1.], dtype=float64, device='cpu')
    """
    return unary(op["real"], x, out)


def reciprocal(x: Any, /, *, out: Any = None) -> Any:
    """``1 / x``.

    Parameters
    ----------
    x : array
        Floating-point; integers and booleans are taken as float64.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`, float64 for integers and booleans.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.reciprocal(xp.asarray([4.0]))
    Array([0.25], dtype=float64, device='cpu')
    """
    return unary(op["reciprocal"], x, out)


def remainder(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """What is left of ``x1 // x2``, ``x1 % x2``, with the sign of `x2`.

    Division of integers by zero gives 0.

    Parameters
    ----------
    x1, x2 : array or scalar
        Real-valued; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not real-valued.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.remainder(xp.asarray([7, -7]), 3)
    Array([1, 2], dtype=int64, device='cpu')
    """
    return binary(op["remainder"], x1, x2, out)


def sign(x: Any, /, *, out: Any = None) -> Any:
    """-1, 0 or 1 by the sign; ``z / |z|`` for complex elements; NaN for NaN.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.sign(xp.asarray([-3.0, 0.0, 2.0]))
    Array([-1.,  0.,  1.], dtype=float64, device='cpu')
    """
    return unary(op["sign"], x, out)


def square(x: Any, /, *, out: Any = None) -> Any:
    """``x * x``.

    Parameters
    ----------
    x : array
        Numeric.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If an operand is not numeric.

    Examples
    --------
    >>> xp.square(xp.asarray([3, -4]))
    Array([ 9, 16], dtype=int64, device='cpu')
    """
    return unary(op["square"], x, out)


def subtract(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
    """The differences, ``x1 - x2``.

    Parameters
    ----------
    x1, x2 : array or scalar
        Numeric; at least one is an array. They broadcast.
    out : array, optional
        Written and returned; has the result's shape and dtype.

    Returns
    -------
    array
        The dtype that `x1` and `x2` promote to.

    Raises
    ------
    TypeError
        If an operand is not numeric.
    ValueError
        If the operands do not broadcast, or are on different devices.

    Examples
    --------
    >>> xp.subtract(xp.asarray([1, 2]), 10)
    Array([-9, -8], dtype=int64, device='cpu')
    """
    return binary(op["subtract"], x1, x2, out)
