"""Arrays filled with one value, and uninitialised arrays."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from xpops.api.creation.remembered import known_new, make_new, way_of_new
from xpops.api.devices import default_device, device_or_default
from xpops.arrays import Array, adopt_foreign, new_array
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.core.layouts import Layout, layout_of
from xpops.core.operands import Shape
from xpops.core.promotion import SCALAR_TYPES, scalar_dtype
from xpops.dispatch import elementwise
from xpops.dispatch.calls import call_for
from xpops.dispatch.keys import is_constant, way_of
from xpops.dispatch.steady import known, launches, make_launch_on, spec_of
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY
from xpops.plan.strides import views

__all__ = ["empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]

# No address space has so many bytes, and the index arithmetic of the kernels stays below it.
_MOST_BYTES = 2**62


def empty(shape: Shape, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """An uninitialised array.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : numpy.dtype, optional
        By default float64.
    device : Device or str, optional

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If a length is negative, or the array is larger than any memory.
    TypeError
        If `shape` is neither an integer nor a sequence of integers, or `dtype` is not a dtype.

    Examples
    --------
    >>> xp.empty((2, 3), dtype=xp.float16).shape
    (2, 3)
    """
    way = way_of_new(empty, (), (tuple(shape) if isinstance(shape, list) else shape, dtype), device)
    known = known_new(way)
    return make_new(way, layout_of_new(shape, dtype, device, "empty"), _write_nothing) if known is None else known


def empty_like(x: Any, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """As `empty`, with the shape of an array, and by default its dtype and device.

    Examples
    --------
    >>> xp.empty_like(xp.asarray([True, False])).dtype
    dtype('bool')
    """
    if dtype is not None or device is not None:
        return allocate(*_like(x, dtype, device, "empty_like"), "empty_like")
    found: Array | None = known(empty_like, (x,))
    if found is not None:
        return found
    given = array_layout(x, "empty_like", "x")
    layout, engine = layout_of(given.dtype, given.shape, None, given.device), engine_of(given.device)
    launch, spec = make_launch_on(engine, (layout,), _write_nothing, None, engine.current_stream), spec_of(x)
    if spec is not None:
        launches[empty_like, spec] = launch
    made: Array = launch()
    return made


def full(shape: Shape, fill_value: Any, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """An array filled with one value.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : scalar or 0-d array
    dtype : numpy.dtype, optional
        By default that of `fill_value`: bool, int64, float64 or complex128 for Python scalars.
    device : Device or str, optional

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        If `dtype` is of a lower kind than the value, such as an integer dtype for a float.
    OverflowError
        If `dtype` cannot hold an integer.

    Examples
    --------
    >>> xp.full((2, 2), -0.0)
    Array([[-0., -0.],
           [-0., -0.]], dtype=float64, device='cpu')
    """
    value, natural = _fill_value(fill_value, "full")
    return filled(shape, natural if dtype is None else dtype, device, value, "full")


def full_like(x: Any, /, fill_value: Any, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """As `full`, with the shape of an array, and by default its dtype and device.

    Examples
    --------
    >>> xp.full_like(xp.asarray([1, 2]), 7)
    Array([7, 7], dtype=int64, device='cpu')
    """
    value, _ = _fill_value(fill_value, "full_like")
    return filled(*_like(x, dtype, device, "full_like"), value, "full_like")


def ones(shape: Shape, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """An array of ones; the parameters are those of `empty`.

    Examples
    --------
    >>> xp.ones(2, dtype=xp.bool)
    Array([ True,  True], dtype=bool, device='cpu')
    """
    return filled(shape, dtype, device, True, "ones")


def ones_like(x: Any, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """As `ones`, with the shape of an array, and by default its dtype and device.

    Examples
    --------
    >>> xp.ones_like(xp.asarray([3, 4]))
    Array([1, 1], dtype=int64, device='cpu')
    """
    return filled(*_like(x, dtype, device, "ones_like"), True, "ones_like")


def zeros(shape: Shape, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """An array of zeros; the parameters are those of `empty`.

    Examples
    --------
    >>> xp.zeros(2)
    Array([0., 0.], dtype=float64, device='cpu')
    """
    return filled(shape, dtype, device, False, "zeros")


def zeros_like(x: Any, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Array:
    """As `zeros`, with the shape of an array, and by default its dtype and device.

    Examples
    --------
    >>> xp.zeros_like(xp.asarray([3.5]))
    Array([0.], dtype=float64, device='cpu')
    """
    return filled(*_like(x, dtype, device, "zeros_like"), False, "zeros_like")


def filled(shape: Any, dtype: Any, device: str | None, value: Any, function: str) -> Array:
    """A new array of one value; by default float64, on the default device."""
    lengths = tuple(shape) if isinstance(shape, list) else shape
    # What the value's checks depend on, but for the value itself: a launch checks whether the dtype holds it.
    way = way_of(filled, (lengths, dtype, default_device() if device is None else device))
    with suppress(TypeError, OverflowError):  # something cannot be hashed, or held: an error, which the checks raise
        found: Array | None = known(way, (value,))
        if found is not None:
            return found
    x = allocate(shape, dtype, device, function)
    held = _converted(value, x.dtype, function)
    fill(x, held, function)
    if held is not value:
        return x
    engine, layout = engine_of(x.device), x._layout
    kernel = call_for(IDENTITY, (type(value),), x.device, x.dtype, layout).kernel
    if is_constant(lengths):
        with suppress(TypeError):
            launches[way, type(value)] = make_launch_on(engine, (layout,), kernel, None, engine.current_stream)
    return x


def _write_nothing(stream: int, *data: Data) -> None:
    """The kernel of uninitialised arrays."""


def allocate(shape: Any, dtype: Any, device: str | None, function: str) -> Array:
    """An uninitialised array; by default float64, on the default device."""
    return new_array(layout_of_new(shape, dtype, device, function))


def layout_of_new(shape: Any, dtype: Any, device: str | None, function: str) -> Layout:
    """The layout of a new array; by default float64, on the default device."""
    found = dt.DEFAULT_FLOAT if dtype is None else as_dtype(dtype, function)
    lengths = tuple(map(int, views.shape_of(shape, function)))
    if math.prod(lengths) * found.itemsize >= _MOST_BYTES:
        raise ValueError(f"{function}: shape is {lengths}, which is more than memory can hold")
    return layout_of(found, lengths, None, device_or_default(device, function))


def fill(x: Array, value: Any, function: str) -> Array:
    """Write `value` to every element of `x`, and return `x`. -0.0 keeps its sign."""
    if isinstance(value, int) and x.dtype in dt.CATEGORIES["integer"]:
        require_integer(value, x.dtype, "fill_value", function)
    elementwise(IDENTITY, (value,), x, x.dtype)
    return x


def _converted(value: Any, dtype: DType, function: str) -> Any:
    """A scalar as one of the kind of `dtype`, if that changes no value, such as 1.0 for integers."""
    held = dt.float32 if dtype in dt.FLOAT8 else dtype
    if scalar_dtype(type(value), held) == held:
        return value
    kind = bool if dtype == dt.bool else int if dtype in dt.CATEGORIES["integer"] else float
    try:
        found = kind(value.real if isinstance(value, complex) else value)
    except (ValueError, OverflowError):  # NaN and infinities are no integers
        found = None
    if found != value:
        raise TypeError(
            f"{function}: fill_value is {value!r}; accepted for dtype {dtype}: values that it can hold, as they are"
        )
    return found


def require_integer(x: Any, dtype: DType, what: str, function: str) -> int:
    """`x` as a Python integer, after a check that it is an integer and that `dtype` can hold it."""
    if x != int(x):
        raise TypeError(f"{function}: {what} is {x}; accepted for dtype {dtype}: integers")
    bounds = np.iinfo(dtype)
    if not bounds.min <= x <= bounds.max:
        raise OverflowError(
            f"{function}: {what} is {x}, which {dtype} cannot hold; accepted: {bounds.min} to {bounds.max}"
        )
    return int(x)


def _like(x: Any, dtype: Any, device: str | None, function: str) -> tuple[tuple[int, ...], Any, str]:
    """The shape of an array; and its dtype and device, unless others are given."""
    adapter = adapter_of(type(x))
    if adapter is not None and adapter.is_traced(x):
        raise TypeError(
            f"{function}: x is traced, and the result would be an xpops array; accepted: {function} of its own library"
        )
    given = array_layout(x, function, "x")
    return given.shape, given.dtype if dtype is None else dtype, given.device if device is None else device


def _fill_value(value: Any, function: str) -> tuple[Any, DType]:
    """The value as a Python scalar or a 0-d array, and its own dtype."""
    if isinstance(value, np.generic):
        return value.item(), as_dtype(value.dtype, function)
    if isinstance(value, SCALAR_TYPES):
        return value, scalar_dtype(next(kind for kind in SCALAR_TYPES if isinstance(value, kind)), None)
    array = adopt_foreign(value, function, "fill_value")
    if array.shape:
        raise ValueError(f"{function}: fill_value has shape {array.shape}; accepted: scalars and 0-d arrays")
    return array.item(), array.dtype
