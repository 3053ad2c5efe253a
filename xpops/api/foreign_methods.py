"""Methods and attributes that arrays of NumPy, cupy and torch have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api.creation.filling import zeros_like
from xpops.api.elementwise.arithmetic import multiply, subtract
from xpops.api.elementwise.complex_numbers import imag, real
from xpops.api.elementwise.rounding import round
from xpops.api.flat import Flat, put
from xpops.api.linear_algebra import matmul
from xpops.api.manipulation.axes import permute_dims
from xpops.api.manipulation.repetition import repeat
from xpops.api.searching import searchsorted
from xpops.api.statistics.extremes import max, min
from xpops.api.statistics.sums import cumulative_prod, cumulative_sum
from xpops.arrays import Array
from xpops.arrays.regions import show_as
from xpops.core import dtypes as dt
from xpops.core.devices import CPU, Device
from xpops.core.dtypes import as_dtype


def _running(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def method(self: Array, axis: int | None = None, dtype: Any = None) -> Any:
        x, along = (self.reshape(-1), 0) if axis is None else (self, axis)
        return function(x, axis=along, dtype=dtype)

    method.__name__, method.__qualname__ = name, f"Array.{name}"
    method.__doc__ = f"As `xpops.{function.__name__}`; without an axis, of all elements in C order."
    return method


def _swapaxes(self: Array, axis1: int, axis2: int) -> Array:
    """A view with two axes in each other's place.

    Examples
    --------
    >>> xp.zeros((2, 3, 4)).swapaxes(0, 2).shape
    (4, 3, 2)
    """
    order = list(range(self.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    view: Array = permute_dims(self, tuple(order))
    return view


def _fill(self: Array, value: Any) -> None:
    """Write one value to all elements."""
    self[...] = value


def _round(self: Array, decimals: int = 0) -> Array:
    """As `xpops.round`; with `decimals`, to so many places behind the point.

    Examples
    --------
    >>> xp.asarray([1.26, 2.5]).round(1)
    Array([1.3, 2.5], dtype=float64, device='cpu')
    """
    scale = 10.0**decimals
    found: Array = round(self) if decimals == 0 else round(multiply(self, scale)) / scale
    return found


def _dot(self: Array, other: Any) -> Any:
    """The product of two arrays: of vectors and matrices as `xpops.matmul`, of a number as `xpops.multiply`."""
    if self.ndim == 0 or getattr(other, "ndim", 0) == 0:
        return multiply(self, other)
    if other.ndim > 2:
        raise ValueError(f"dot: the other array has {other.ndim} axes; accepted: up to 2. See xpops.matmul")
    return matmul(self, other)


def _ptp(self: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The differences of the largest and the smallest elements."""
    found: Array = subtract(max(self, axis=axis, keepdims=keepdims), min(self, axis=axis, keepdims=keepdims))
    return found


def _trace(self: Array, offset: int = 0) -> Any:
    """As `xpops.linalg.trace`, of the last two axes."""
    from xpops.api.linalg.products import trace  # this package is loaded when it is used

    return trace(self, offset=offset)


def _diagonal(self: Array, offset: int = 0) -> Any:
    """As `xpops.linalg.diagonal`, of the last two axes."""
    from xpops.api.linalg.products import diagonal

    return diagonal(self, offset=offset)


def _repeat(self: Array, repeats: Any, axis: int | None = None) -> Any:
    """As `xpops.repeat`."""
    return repeat(self, repeats, axis=axis)


def _searchsorted(self: Array, values: Any, side: Any = "left") -> Any:
    """As `xpops.searchsorted`."""
    return searchsorted(self, values, side=side)


def _tobytes(self: Array) -> bytes:
    """The elements as bytes, in C order. Waits for the device."""
    return bytes(self.to_numpy().tobytes())


def _view(self: Array, dtype: Any = None) -> Array:
    """The same memory as elements of a dtype, as `numpy.ndarray.view`; without a dtype, the array once more.

    Elements of another size change the length of the last axis, which must be contiguous then.

    Examples
    --------
    >>> xp.asarray([1.0, -2.0]).astype(xp.float32).view(xp.uint32)
    Array([1065353216, 3221225472], dtype=uint32, device='cpu')
    """
    if isinstance(dtype, (int, tuple, list)):
        raise TypeError(f"view: dtype is {dtype!r}; accepted: a dtype. For another shape there is x.reshape(shape)")
    return show_as(self, self.dtype if dtype is None else as_dtype(dtype, "view"))


def _set_flat(self: Array, values: Any) -> None:
    Flat(self)[...] = values


def _cpu(self: Array) -> Array:
    """The array on the CPU: itself if it is there."""
    return self.to_device(CPU)


def _cuda(self: Array, device: Any = "cuda") -> Array:
    """The array on a GPU, by default the first: itself if it is there."""
    return self.to_device(device)


def _to(self: Array, *targets: Any) -> Array:
    """The array on a device, in a dtype, or both: itself if nothing changes.

    Examples
    --------
    >>> xp.asarray([1, 2]).to("cpu", xp.float32)
    Array([1., 2.], dtype=float32, device='cpu')
    """
    found = self
    for target in targets:
        try:
            device = Device(target)
        except ValueError:
            found = found.astype(target, copy=False)
        else:
            found = found.to_device(device)
    return found


def _numpy(self: Array) -> Any:
    """As `Array.to_numpy`: a NumPy array on the same memory on the CPU, a copy of memory on a GPU."""
    return self.to_numpy()


def _detach(self: Array) -> Array:
    """The array itself: xpops arrays record no gradients."""
    return self


def _real(self: Array) -> Any:
    return self if self.dtype == dt.bool else real(self)


def _imag(self: Array) -> Any:
    return zeros_like(self) if self.dtype == dt.bool else imag(self)


METHODS: dict[str, Callable[..., Any]] = {
    "cpu": _cpu,
    "cuda": _cuda,
    "cumprod": _running(cumulative_prod, "cumprod"),
    "cumsum": _running(cumulative_sum, "cumsum"),
    "detach": _detach,
    "diagonal": _diagonal,
    "dot": _dot,
    "fill": _fill,
    "get": _numpy,
    "numpy": _numpy,
    "ptp": _ptp,
    "put": put,
    "repeat": _repeat,
    "round": _round,
    "searchsorted": _searchsorted,
    "swapaxes": _swapaxes,
    "to": _to,
    "tobytes": _tobytes,
    "trace": _trace,
    "view": _view,
}
ATTRIBUTES: dict[str, property] = {
    "real": property(_real, doc="As `xpops.real`; an array of bool itself."),
    "imag": property(_imag, doc="As `xpops.imag`; False for an array of bool."),
    "flat": property(
        Flat, _set_flat, doc="The elements in C order, to iterate over, read and write; see `numpy.flatiter`."
    ),
    "itemsize": property(lambda self: self.dtype.itemsize, doc="The bytes of an element."),
    "nbytes": property(lambda self: self.size * self.dtype.itemsize, doc="The bytes of all elements."),
    "strides": property(
        lambda self: tuple(stride * self.dtype.itemsize for stride in self._layout.strides),
        doc="The bytes from one element to the next, along each axis.",
    ),
}
