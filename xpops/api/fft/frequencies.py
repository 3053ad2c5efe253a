"""Sample frequencies, and shifts that put frequency 0 in the middle of a spectrum."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numpy.typing import DTypeLike

from xpops.api.creation.filling import layout_of_new
from xpops.api.creation.ranges import ramp_kernel
from xpops.api.creation.remembered import known_new, make_new, way_of_new
from xpops.api.data_types import astype
from xpops.api.manipulation.joining import concat
from xpops.api.manipulation.repetition import roll
from xpops.api.signatures import array_function
from xpops.arrays import Array
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType, as_dtype
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.core.operands import Axes
from xpops.dispatch.calls import call_for
from xpops.dispatch.primitives import copier
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.ops.elementwise import OPERATORS
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
    way = way_of_new(fftfreq, (n, d), (dtype,), device)
    known = known_new(way)
    if known is not None:
        return known
    count, found = _point_count(n, "fftfreq"), _real_dtype(dtype, "fftfreq")
    return _frequencies(way, [(0, (count + 1) // 2), (-(count // 2), 0)], count * d, found, device, "fftfreq")


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """The frequencies of the elements that `rfft` returns; see `fftfreq`. All are positive or 0.

    Examples
    --------
    >>> xp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float64, device='cpu')
    """
    way = way_of_new(rfftfreq, (n, d), (dtype,), device)
    known = known_new(way)
    if known is not None:
        return known
    count, found = _point_count(n, "rfftfreq"), _real_dtype(dtype, "rfftfreq")
    return _frequencies(way, [(0, count // 2 + 1)], count * d, found, device, "rfftfreq")


def _frequencies(
    way: tuple[Any, ...], ranges: list[tuple[int, int]], divisor: Any, dtype: DType, device: Any, function: str
) -> Array:
    """The integers of ranges, one after the other, divided by a scalar. They are computed in float64."""
    total = sum(stop - start for start, stop in ranges)
    wide = layout_of_new((total,), dt.float64, device, function)
    if not way:  # the divisor may be any scalar
        steps = [make_new((), *_range(start, stop, 0, wide.device)) for start, stop in ranges]
        frequencies: Array = astype(concat(steps) / divisor, dtype, copy=False)
        return frequencies
    engine, out = engine_of(wide.device), layout_of(dtype, (total,), None, wide.device)
    offsets = [0, ranges[0][1] - ranges[0][0]]
    parts = [(offset, *_range(*ends, offset, wide.device)) for offset, ends in zip(offsets, ranges, strict=False)]
    divide = call_for(OPERATORS["divide"], (wide, type(divisor)), wide.device, None, wide).kernel
    convert, allocate = copier(wide, out), engine.allocator(wide)

    def kernel(stream: int, out_data: Data) -> None:
        data, owner = (out_data, None) if out is wide else allocate(stream)
        for offset, part, write in parts:
            write(stream, engine.view(data, offset, part))
        divide(stream, data, data, divisor)
        if out is not wide:
            convert(stream, out_data, data)
        del owner  # kept until the kernels were launched

    return make_new(way, out, kernel)


def _range(start: int, stop: int, offset: int, device: Device) -> tuple[Layout, Callable[[int, Data], None]]:
    """The layout of integers in float64 that begin `offset` elements into an array, and the kernel that writes them."""
    layout = layout_of(dt.float64, (stop - start,), None, device, alignment(offset * dt.float64.itemsize))
    return layout, ramp_kernel(start, 1, layout)


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
