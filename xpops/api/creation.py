"""Creation functions of the standard that make new elements."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from xpops.api.conversion import asarray, cast, from_dlpack
from xpops.api.devices import device_or_default
from xpops.array import Array, adopt_foreign, new_array, view_of
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType, as_dtype
from xpops.core.layouts import layout_of
from xpops.core.promotion import SCALAR_TYPES, scalar_dtype
from xpops.dispatch import binary, elementwise
from xpops.engine import engine_of
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan import views

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

# More bytes than any address space has; also what the index arithmetic of the kernels holds.
_MOST_BYTES = 2**62


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: str | None = None) -> Array:
    """Evenly spaced values in ``[start, stop)``.

    Parameters
    ----------
    start, stop : int or float
        With one of them, it is `stop` and `start` is 0.
    step : int or float
        Not 0.
    dtype : numpy.dtype, optional
        Numeric. By default int64 if all are integers, else float64.
    device : Device or str, optional

    Returns
    -------
    Array
        ``ceil((stop - start) / step)`` values, or none.

    Raises
    ------
    ValueError
        If `step` is 0, or an argument is not finite.
    TypeError
        If an argument is no real number, or not an integer for an integer `dtype`.
    OverflowError
        If `dtype` cannot hold a value.

    Examples
    --------
    >>> xp.arange(5, 0, -2)
    Array([5, 3, 1], dtype=int64, device='cpu')
    """
    if stop is None:
        start, stop = 0, start
    names = ("start", "stop", "step")
    start, stop, step = (_real(x, "arange", name) for x, name in zip((start, stop, step), names, strict=True))
    if step == 0:
        raise ValueError("arange: step is 0; accepted: any other number")
    integers = all(isinstance(x, int) for x in (start, stop, step))
    found = as_dtype(dtype, "arange") if dtype is not None else dt.DEFAULT_INTEGER if integers else dt.DEFAULT_FLOAT
    if found not in dt.CATEGORIES["numeric"]:
        raise TypeError(f"arange: dtype is {found}; accepted: numeric dtypes")
    length = max(0, -((start - stop) // step) if integers else math.ceil((stop - start) / step))
    if found in dt.CATEGORIES["integer"]:
        start, step = _integral(start, found, "start"), _integral(step, dt.int64, "step")
        _integral(start + max(length - 1, 0) * step, found, "the last value")
    return _ramp(start, step, _empty((length,), found, device, "arange"))


def empty(shape: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """An array whose elements are whatever lay in its memory.

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
        If a length is negative, or there are too many elements to count.
    TypeError
        If `shape` holds no integers, or `dtype` is no dtype.

    Examples
    --------
    >>> xp.empty((2, 3), dtype=xp.float16).shape
    (2, 3)
    """
    return _empty(shape, dtype, device, "empty")


def empty_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Array:
    """As `empty`, with the shape, and unless given the dtype and device, of an array.

    Examples
    --------
    >>> xp.empty_like(xp.asarray([True, False])).dtype
    dtype('bool')
    """
    return _like(x, dtype, device, "empty_like")


def eye(n_rows: Any, n_cols: Any = None, /, *, k: Any = 0, dtype: Any = None, device: str | None = None) -> Array:
    """A matrix of zeros with ones on a diagonal.

    Parameters
    ----------
    n_rows, n_cols : int
        By default as many columns as rows.
    k : int
        The diagonal: above the main one if positive, below it if negative.
    dtype : numpy.dtype, optional
        By default float64.
    device : Device or str, optional

    Returns
    -------
    Array
        Has shape ``(n_rows, n_cols)``.

    Raises
    ------
    ValueError, TypeError
        If a length is negative or no integer.

    Examples
    --------
    >>> xp.eye(2, 3, k=1, dtype=xp.int8)
    Array([[0, 1, 0],
           [0, 0, 1]], dtype=int8, device='cpu')
    """
    (rows,) = views.shape_of(n_rows, "eye", "n_rows")
    (columns,) = (rows,) if n_cols is None else views.shape_of(n_cols, "eye", "n_cols")
    found = dt.DEFAULT_FLOAT if dtype is None else as_dtype(dtype, "eye")
    on_diagonal = _diagonals("equal", rows, columns, k, device_or_default(device, "eye"), "eye")
    return cast(on_diagonal, found, "eye")


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """An array of one value.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : scalar or 0-d array
    dtype : numpy.dtype, optional
        By default the value's: bool, int64, float64 or complex128 for Python scalars.
    device : Device or str, optional

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        If `dtype` is of a lower kind than the value (an integer dtype for a float).
    OverflowError
        If `dtype` cannot hold an integer.

    Examples
    --------
    >>> xp.full((2, 2), -0.0)
    Array([[-0., -0.],
           [-0., -0.]], dtype=float64, device='cpu')
    """
    value, natural = _fill_value(fill_value, "full")
    found = natural if dtype is None else as_dtype(dtype, "full")
    return _filled(_empty(shape, found, device, "full"), value, "full")


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """As `full`, with the shape, and unless given the dtype and device, of an array.

    Examples
    --------
    >>> xp.full_like(xp.asarray([1, 2]), 7)
    Array([7, 7], dtype=int64, device='cpu')
    """
    value, _ = _fill_value(fill_value, "full_like")
    return _filled(_like(x, dtype, device, "full_like"), value, "full_like")


def linspace(
    start: Any,
    stop: Any,
    /,
    num: Any,
    *,
    dtype: Any = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Array:
    """A number of evenly spaced values from `start` to `stop`.

    Parameters
    ----------
    start, stop : int, float or complex
    num : int
    dtype : numpy.dtype, optional
        By default float64, or complex128 if an end is complex. Integer dtypes round down.
    device : Device or str, optional
    endpoint : bool
        Whether `stop` is the last value, exactly; else it would be the next one.

    Returns
    -------
    Array
        Has shape ``(num,)``.

    Raises
    ------
    ValueError
        If `num` is negative.
    TypeError
        If an end is no number, or complex where `dtype` is real.

    Examples
    --------
    >>> xp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64, device='cpu')
    """
    (count,) = views.shape_of(num, "linspace", "num")
    start, stop = _number(start, "linspace", "start"), _number(stop, "linspace", "stop")
    natural = dt.DEFAULT_COMPLEX if complex in (type(start), type(stop)) else dt.DEFAULT_FLOAT
    found = natural if dtype is None else as_dtype(dtype, "linspace")
    if found not in dt.CATEGORIES["numeric"] or (natural == dt.DEFAULT_COMPLEX and found not in dt.COMPLEX_FLOATS):
        raise TypeError(f"linspace: dtype is {found}; accepted: numeric dtypes, complex ones for complex ends")
    steps = count - 1 if endpoint else count
    step = (stop - start) / steps if steps > 0 else 0.0
    integral = found in dt.CATEGORIES["integer"]
    x = _ramp(start, step, _empty((count,), dt.DEFAULT_FLOAT if integral else found, device, "linspace"))
    if integral:
        x = cast(elementwise(OPERATORS["floor"], (x,)), found, "linspace")
        start, stop = math.floor(start), math.floor(stop)
    if count > 0:
        _filled(x[0], start, "linspace")
    if endpoint and count > 1:
        _filled(x[-1], stop, "linspace")
    return x


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinate arrays of a grid, from the coordinates along each axis.

    Parameters
    ----------
    *arrays : array
        One-dimensional, n of them.
    indexing : {"xy", "ij"}
        "ij": the i-th array runs along axis i. "xy": the first two axes change places.

    Returns
    -------
    tuple of Array
        n read-only views of n axes each: nothing is copied.

    Raises
    ------
    ValueError
        If an array is not one-dimensional, or `indexing` is another word.

    Examples
    --------
    >>> rows, columns = xp.meshgrid(xp.arange(2), xp.arange(3), indexing="ij")
    >>> rows
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int64, device='cpu')
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; accepted: 'xy', 'ij'")
    vectors = [adopt_foreign(x, "meshgrid", f"arrays[{i}]") for i, x in enumerate(arrays)]
    for i, x in enumerate(vectors):
        if x.ndim != 1:
            raise ValueError(f"meshgrid: arrays[{i}] has shape {x.shape}; accepted: one-dimensional arrays")
    axes = list(range(len(vectors)))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    shape = [0] * len(axes)
    for x, axis in zip(vectors, axes, strict=True):
        shape[axis] = x.size
    keys = [tuple(slice(None) if other == axis else None for other in range(len(axes))) for axis in axes]
    return tuple(
        view_of(x[key], views.broadcast_to(x[key]._layout, tuple(shape)), writable=False)
        for x, key in zip(vectors, keys, strict=True)
    )


def ones(shape: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """An array of ones; the parameters are those of `empty`.

    Examples
    --------
    >>> xp.ones(2, dtype=xp.bool)
    Array([ True,  True], dtype=bool, device='cpu')
    """
    return _filled(_empty(shape, dtype, device, "ones"), True, "ones")


def ones_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Array:
    """As `ones`, with the shape, and unless given the dtype and device, of an array.

    Examples
    --------
    >>> xp.ones_like(xp.asarray([3, 4]))
    Array([1, 1], dtype=int64, device='cpu')
    """
    return _filled(_like(x, dtype, device, "ones_like"), True, "ones_like")


def tril(x: Any, /, *, k: Any = 0) -> Array:
    """A stack of matrices with zeros above a diagonal.

    Parameters
    ----------
    x : array
        Has two axes or more.
    k : int
        The diagonal: above the main one if positive, below it if negative.

    Returns
    -------
    Array
        Has the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> xp.tril(xp.ones((2, 3), dtype=xp.int8))
    Array([[1, 0, 0],
           [1, 1, 0]], dtype=int8, device='cpu')
    """
    return _triangle("greater_equal", x, k, "tril")


def triu(x: Any, /, *, k: Any = 0) -> Array:
    """A stack of matrices with zeros below a diagonal; the parameters are those of `tril`.

    Examples
    --------
    >>> xp.triu(xp.ones((2, 3), dtype=xp.int8))
    Array([[1, 1, 1],
           [0, 1, 1]], dtype=int8, device='cpu')
    """
    return _triangle("less_equal", x, k, "triu")


def zeros(shape: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """An array of zeros; the parameters are those of `empty`.

    Examples
    --------
    >>> xp.zeros(2)
    Array([0., 0.], dtype=float64, device='cpu')
    """
    return _filled(_empty(shape, dtype, device, "zeros"), False, "zeros")


def zeros_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Array:
    """As `zeros`, with the shape, and unless given the dtype and device, of an array.

    Examples
    --------
    >>> xp.zeros_like(xp.asarray([3.5]))
    Array([0.], dtype=float64, device='cpu')
    """
    return _filled(_like(x, dtype, device, "zeros_like"), False, "zeros_like")


def _empty(shape: Any, dtype: Any, device: str | None, function: str) -> Array:
    found = dt.DEFAULT_FLOAT if dtype is None else as_dtype(dtype, function)
    lengths = views.shape_of(shape, function)
    if math.prod(lengths) * found.itemsize >= _MOST_BYTES:
        raise ValueError(f"{function}: shape is {lengths}, which is more than memory can hold")
    return new_array(layout_of(found, lengths, None, device_or_default(device, function)))


def _like(x: Any, dtype: Any, device: str | None, function: str) -> Array:
    x = adopt_foreign(x, function, "x")
    return _empty(x.shape, x.dtype if dtype is None else dtype, x.device if device is None else device, function)


def _filled(x: Array, value: Any, function: str) -> Array:
    """`x`, with `value` written to every element, bit for bit (so that -0.0 stays)."""
    held = dt.float32 if x.dtype in dt.FLOAT8 else x.dtype
    if isinstance(value, SCALAR_TYPES) and scalar_dtype(type(value), held) != held:
        raise TypeError(f"{function}: a Python {type(value).__name__} does not fit dtype {x.dtype}")
    if isinstance(value, int) and x.dtype in dt.CATEGORIES["integer"]:
        _integral(value, x.dtype, "fill_value", function)
    elementwise(IDENTITY, (value,), x, x.dtype)
    return x


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


def _ramp(start: Any, step: Any, out: Array) -> Array:
    """`out`, with ``start + i * step`` written to it."""
    engine = engine_of(out.device)
    kind = complex if out.dtype in dt.COMPLEX_FLOATS else int if out.dtype in dt.CATEGORIES["integer"] else float
    engine.arange(out._layout)(engine.current_stream(), out._data, kind(start), kind(step))
    return out


def _diagonals(comparison: str, rows: int, columns: int, k: Any, device: Device, function: str) -> Array:
    """Where ``row + k`` compares so to the column: a boolean matrix."""
    try:
        shift = min(max(operator.index(k), -rows), columns)
    except TypeError:
        raise TypeError(f"{function}: k is {k!r}; accepted: an integer") from None
    down = arange(shift, rows + shift, device=device)[:, None]
    matrix: Array = binary(OPERATORS[comparison], down, arange(columns, device=device))
    return matrix


def _triangle(comparison: str, x: Any, k: Any, function: str) -> Array:
    x = adopt_foreign(x, function, "x")
    if x.ndim < 2:
        raise ValueError(f"{function}: x has shape {x.shape}; accepted: two axes or more")
    mask = _diagonals(comparison, x.shape[-2], x.shape[-1], k, x.device, function)
    kept: Array = elementwise(OPERATORS["where"], (mask, x, False))
    return kept


def _number(x: Any, function: str, argument: str) -> Any:
    """A Python number: itself, or what a NumPy scalar or a 0-d array holds."""
    value = x.item() if isinstance(x, (np.generic, Array)) and not x.shape else x
    if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
        raise TypeError(f"{function}: {argument} is {x!r}; accepted: a number")
    return value


def _real(x: Any, function: str, argument: str) -> Any:
    value = _number(x, function, argument)
    if isinstance(value, complex):
        raise TypeError(f"{function}: {argument} is {x!r}; accepted: a real number")
    if not math.isfinite(value):
        raise ValueError(f"{function}: {argument} is {value}; accepted: finite numbers")
    return value


def _integral(x: Any, dtype: DType, what: str, function: str = "arange") -> int:
    """`x` as an integer that `dtype` holds."""
    if x != int(x):
        raise TypeError(f"{function}: {what} is {x}; accepted for dtype {dtype}: integers")
    bounds = np.iinfo(dtype)
    if not bounds.min <= x <= bounds.max:
        raise OverflowError(
            f"{function}: {what} is {x}, which {dtype} cannot hold; accepted: {bounds.min} to {bounds.max}"
        )
    return int(x)
