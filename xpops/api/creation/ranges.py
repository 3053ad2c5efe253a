"""Evenly spaced values, and grids of coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from xpops.api.creation.conversion import cast
from xpops.api.creation.filling import fill, layout_of_new, require_integer
from xpops.api.creation.remembered import known_new, make_new, way_of_new
from xpops.api.foreign import adopt_all
from xpops.arrays import Array
from xpops.arrays.regions import show_known
from xpops.core import dtypes as dt
from xpops.core.dtypes import as_dtype
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import elementwise
from xpops.dispatch.calls import PLAN_LIMIT, call_for
from xpops.engine import engine_of
from xpops.engine.program import Data, Kernel
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.cache import BoundedDict
from xpops.plan.strides import views
from xpops.plan.strides.views import Region

__all__ = ["arange", "linspace", "meshgrid"]

# Every integer up to this is a float64.
_EXACT = 2**53


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DTypeLike | None = None, device: str | None = None
) -> Array:
    """Evenly spaced values in ``[start, stop)``.

    Parameters
    ----------
    start, stop : int or float
        If only one is given, it is `stop`, and `start` is 0.
    step : int or float
        Not 0.
    dtype : numpy.dtype, optional
        Numeric. By default int64 if all three are integers, else float64.
    device : Device or str, optional

    Returns
    -------
    Array
        ``ceil((stop - start) / step)`` values; none if this is negative.

    Raises
    ------
    ValueError
        If `step` is 0, or an argument is not finite.
    TypeError
        If an argument is not a real number, or not an integer and `dtype` is an integer dtype.
    OverflowError
        If `dtype` cannot hold a value.

    Examples
    --------
    >>> xp.arange(5, 0, -2)
    Array([5, 3, 1], dtype=int64, device='cpu')
    """
    way = way_of_new(arange, (start, stop, step), (dtype,), device)
    known = known_new(way)
    if known is not None:
        return known
    if stop is None:
        start, stop = 0, start
    names = ("start", "stop", "step")
    start, stop, step = (_real_number(x, "arange", name) for x, name in zip((start, stop, step), names, strict=True))
    if step == 0:
        raise ValueError("arange: step is 0; accepted: any other number")
    integers = all(isinstance(x, int) for x in (start, stop, step))
    found = as_dtype(dtype, "arange") if dtype is not None else dt.DEFAULT_INTEGER if integers else dt.DEFAULT_FLOAT
    if found not in dt.CATEGORIES["numeric"]:
        raise TypeError(f"arange: dtype is {found}; accepted: numeric dtypes")
    length = max(0, -((start - stop) // step) if integers else math.ceil((stop - start) / step))
    if found in dt.CATEGORIES["integer"]:
        start = require_integer(start, found, "start", "arange")
        step = require_integer(step, dt.int64, "step", "arange")
        require_integer(start + max(length - 1, 0) * step, found, "the last value", "arange")
    out = layout_of_new((length,), found, device, "arange")
    return make_new(way, out, ramp_kernel(start, step, out))


def linspace(
    start: Any,
    stop: Any,
    /,
    num: Any,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Array:
    """`num` evenly spaced values from `start` to `stop`.

    Parameters
    ----------
    start, stop : int, float or complex
    num : int
    dtype : numpy.dtype, optional
        By default float64, or complex128 if `start` or `stop` is complex. Integer dtypes round down.
    device : Device or str, optional
    endpoint : bool
        Whether the last value is exactly `stop`. If not, `stop` would be the next value.

    Returns
    -------
    Array
        Has shape ``(num,)``.

    Raises
    ------
    ValueError
        If `num` is negative.
    TypeError
        If `start` or `stop` is not a number, or is complex and `dtype` is real.

    Examples
    --------
    >>> xp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64, device='cpu')
    """
    way = way_of_new(linspace, (start, stop, num), (dtype, endpoint), device)
    known = known_new(way)
    if known is not None:
        return known
    (count,) = views.shape_of(num, "linspace", "num")
    start, stop = _number(start, "linspace", "start"), _number(stop, "linspace", "stop")
    natural = dt.DEFAULT_COMPLEX if complex in (type(start), type(stop)) else dt.DEFAULT_FLOAT
    found = natural if dtype is None else as_dtype(dtype, "linspace")
    if found not in dt.CATEGORIES["numeric"] or (natural == dt.DEFAULT_COMPLEX and found not in dt.COMPLEX_FLOATS):
        raise TypeError(f"linspace: dtype is {found}; accepted: numeric dtypes, complex ones for complex ends")
    steps = count - 1 if endpoint else count
    integral = found in dt.CATEGORIES["integer"]
    out = layout_of_new((count,), dt.DEFAULT_FLOAT if integral else found, device, "linspace")
    power = _power_of(start, stop)
    if steps > 0 and not (power or integral) and all(isinstance(x, float) or abs(x) <= _EXACT for x in (start, stop)):
        return make_new(way, out, _line(start, (stop - start) / steps, stop, endpoint, out))
    first, last = _scale(start, -power), _scale(stop, -power)
    x = make_new((), out, ramp_kernel(first, (last - first) / steps if steps > 0 else 0.0, out))
    if power:
        x = elementwise(OPERATORS["multiply"], (x, math.ldexp(1.0, power)))
    if integral:
        x = cast(elementwise(OPERATORS["floor"], (x,)), found, "linspace")
        start, stop = math.floor(start), math.floor(stop)
    if count > 0:
        fill(x[0], start, "linspace")
    if endpoint and count > 1:
        fill(x[-1], stop, "linspace")
    return x


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinate arrays of a grid, from the coordinates along each axis.

    Parameters
    ----------
    *arrays : array
        One-dimensional, n of them.
    indexing : {"xy", "ij"}
        "ij": the i-th array varies along axis i. "xy": the first two axes are exchanged.

    Returns
    -------
    tuple of Array
        n read-only views with n axes each.

    Raises
    ------
    ValueError
        If an array is not one-dimensional, or `indexing` is unknown.

    Examples
    --------
    >>> rows, columns = xp.meshgrid(xp.arange(2), xp.arange(3), indexing="ij")
    >>> rows
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int64, device='cpu')
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; accepted: 'xy', 'ij'")
    vectors = adopt_all(arrays, "meshgrid")
    ways = _ways_of_grid(indexing, *[x._layout.shape for x in vectors])
    return tuple(
        [show_known(way, x, partial(_along, *way[1:]), writable=False) for x, way in zip(vectors, ways, strict=True)]
    )


@lru_cache(1024)
def _ways_of_grid(indexing: str, *shapes: tuple[int, ...]) -> list[tuple[str, tuple[int, ...], int]]:
    """For each vector the way of its view in the grid, which has the shape of the grid and the vector's axis in it."""
    for i, shape in enumerate(shapes):
        if len(shape) != 1:
            raise ValueError(f"meshgrid: arrays[{i}] has shape {shape}; accepted: one-dimensional arrays")
    axes = list(range(len(shapes)))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    grid = tuple(shapes[axes.index(axis)][0] for axis in range(len(axes)))
    return [("meshgrid", grid, axis) for axis in axes]


def _along(shape: tuple[int, ...], axis: int, layout: Layout) -> Region:
    """The region that shows a vector along an axis of `shape`."""
    return Region(0, shape, tuple(layout.strides[0] if other == axis else 0 for other in range(len(shape))))


# The kernels of `Engine.arange`, since loops make ranges of one length with other ends.
_kernels: BoundedDict[Layout, Kernel] = BoundedDict(PLAN_LIMIT)


def ramp_kernel(start: Any, step: Any, out: Layout) -> Callable[[int, Data], None]:
    """The kernel of ``start + i * step`` for each index i."""
    kind = complex if out.dtype in dt.COMPLEX_FLOATS else int if out.dtype in dt.CATEGORIES["integer"] else float
    first, difference = kind(start), kind(step)
    ramp = _kernels.get(out)
    if ramp is None:
        ramp = _kernels[out] = engine_of(out.device).arange(out)
    return lambda stream, out: ramp(stream, out, first, difference)


def _line(start: Any, step: Any, stop: Any, endpoint: bool, out: Layout) -> Callable[[int, Data], None]:
    """`ramp_kernel` with exact ends: the first keeps the sign of -0.0, and with `endpoint` the last one is `stop`."""
    kind = complex if out.dtype in dt.COMPLEX_FLOATS else float
    first, last, ramp = kind(start), kind(stop), ramp_kernel(start, step, out)
    begins = kind is complex or not math.isfinite(step) or (start == 0 and math.copysign(1, start) < 0)
    engine, single = engine_of(out.device), layout_of(out.dtype, (), None, out.device, out.dtype.itemsize)
    write = call_for(IDENTITY, (kind,), out.device, out.dtype, single).kernel

    def kernel(stream: int, out_data: Data) -> None:
        ramp(stream, out_data)
        if begins:
            write(stream, engine.view(out_data, 0, single), first)
        if endpoint:
            write(stream, engine.view(out_data, out.size - 1, single), last)

    return kernel


def _power_of(start: complex, stop: complex) -> int:
    """The exponent of a power of two by which to divide both ends, so that the step has no overflow or underflow."""
    largest = max(abs(float(part)) for end in (start, stop) for part in (end.real, end.imag))
    if largest == 0 or not math.isfinite(largest) or 2.0**-900 <= largest < 2.0**1022:
        return 0
    return math.frexp(largest)[1] - 1


def _scale(x: Any, power: int) -> Any:
    """``x * 2**power``, where the factor itself may overflow; a Python number of the same kind if `power` is 0."""
    if power == 0:
        return x
    if isinstance(x, complex):
        return complex(math.ldexp(x.real, power), math.ldexp(x.imag, power))
    return math.ldexp(x, power)


def _number(x: Any, function: str, argument: str) -> Any:
    """`x` as a Python number: a number, a NumPy scalar, or a 0-d array. TypeError for anything else."""
    value = x.item() if isinstance(x, (np.generic, Array)) and not x.shape else x
    if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
        raise TypeError(f"{function}: {argument} is {x!r}; accepted: a number")
    return value


def _real_number(x: Any, function: str, argument: str) -> Any:
    value = _number(x, function, argument)
    if isinstance(value, complex):
        raise TypeError(f"{function}: {argument} is {x!r}; accepted: a real number")
    if not math.isfinite(value):
        raise ValueError(f"{function}: {argument} is {value}; accepted: finite numbers")
    return value
