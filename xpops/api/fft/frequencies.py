"""Sample frequencies, and shifts that put frequency 0 in the middle of a spectrum."""

from __future__ import annotations

import operator
from typing import Any

from numpy.typing import DTypeLike

from xpops.api.creation.ranges import arange
from xpops.api.data_types import astype
from xpops.api.manipulation.joining import concat
from xpops.api.manipulation.repetition import roll
from xpops.api.signatures import array_function
from xpops.arrays import Array
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.core.operands import Axes
from xpops.plan.strides.views import axes_of

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """The frequencies of the elements that `fft` returns, in cycles per unit of `d`.

    Parameters
    ----------
    n : int
        The number of points of the transform.
    d : float
        The distance between two samples.
    dtype : numpy.dtype, optional
        Real floating-point; by default float64.
    device : Device or str, optional

    Returns
    -------
    Array
        Of shape ``(n,)``: 0 and the positive frequencies, then the negative ones, each part ascending.

    Raises
    ------
    TypeError
        If `n` is not an integer, or `dtype` is not real floating-point.
    ValueError
        If `n` is not positive.

    Examples
    --------
    >>> xp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float64, device='cpu')
    """
    count, found = _point_count(n, "fftfreq"), _real_dtype(dtype, "fftfreq")
    up, down = (arange(*ends, dtype=dt.float64, device=device) for ends in ((0, (count + 1) // 2), (-(count // 2), 0)))
    frequencies: Array = astype(concat((up, down)) / (count * d), found, copy=False)
    return frequencies


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """The frequencies of the elements that `rfft` returns; see `fftfreq`. All are positive or 0.

    Examples
    --------
    >>> xp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float64, device='cpu')
    """
    count, found = _point_count(n, "rfftfreq"), _real_dtype(dtype, "rfftfreq")
    steps = arange(0, count // 2 + 1, dtype=dt.float64, device=device)
    frequencies: Array = astype(steps / (count * d), found, copy=False)
    return frequencies


@array_function
def fftshift(x: Any, /, *, axes: Axes | None = None) -> Any:
    """Exchange the halves of a spectrum, so that frequency 0 is in the middle.

    Parameters
    ----------
    x : array
    axes : int or tuple of int, optional
        By default all.

    Returns
    -------
    array
        Has the dtype and shape of `x`.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.fft.fftshift(xp.fft.fftfreq(4))
    Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float64, device='cpu')
    """
    shape, found = _axes(x, axes, "fftshift")
    return roll(x, tuple(shape[axis] // 2 for axis in found), axis=found)


@array_function
def ifftshift(x: Any, /, *, axes: Axes | None = None) -> Any:
    """The inverse of `fftshift`. It differs from `fftshift` for odd lengths.

    Examples
    --------
    >>> xp.fft.ifftshift(xp.asarray([-1.0, 0.0, 1.0]))
    Array([ 0.,  1., -1.], dtype=float64, device='cpu')
    """
    shape, found = _axes(x, axes, "ifftshift")
    return roll(x, tuple(-(shape[axis] // 2) for axis in found), axis=found)


def _axes(x: Any, axes: Any, function: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = array_layout(x, function, "x").shape
    return shape, tuple(range(len(shape))) if axes is None else axes_of(axes, len(shape), function, "axes")


def _point_count(n: Any, function: str) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        raise TypeError(f"{function}: n is {n!r}; accepted: an integer") from None
    if count < 1:
        raise ValueError(f"{function}: n is {count}; accepted: 1 and more")
    return count


def _real_dtype(dtype: Any, function: str) -> DType:
    found = dt.DEFAULT_FLOAT if dtype is None else as_dtype(dtype, function)
    if found not in dt.CATEGORIES["real floating-point"]:
        raise TypeError(f"{function}: dtype {found} is not accepted; accepted: real floating-point dtypes")
    return found
