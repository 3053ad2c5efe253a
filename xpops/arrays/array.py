"""The Array object: a `Tensor` with the operators, conversions and indexing of the standard."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from xpops.arrays.host import NDArray, Readable, host_array
from xpops.arrays.indexing import reading, writing
from xpops.arrays.indexing.keys import is_basic, parse
from xpops.arrays.printing import to_text
from xpops.arrays.regions import known_index, show_known, transpose_matrices, transpose_matrix, view_of
from xpops.arrays.tensors import view_foreign
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.core.operands import Axes, Bound, Producer, Shape
from xpops.dispatch import binary, elementwise, set_array_class, unary
from xpops.dispatch.steady import known_array
from xpops.dlpack.capsules import device_of
from xpops.dlpack.exporting import cuda_array_interface, to_capsule
from xpops.engine import engine_of
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.strides import views

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


@set_array_class
class Array(Readable):
    """An array on one device.

    The functions of the namespace make arrays (`xpops.asarray`, `xpops.zeros`, ...). Do not call the class.

    Examples
    --------
    >>> x = xp.asarray([[1, 2], [3, 4]])
    >>> x[:, ::-1] + 10
    Array([[12, 11],
           [14, 13]], dtype=int64, device='cpu')
    """

    __slots__ = ()

    if TYPE_CHECKING:
        # `xpops.api.methods` attaches these methods. They call the functions of the same names.
        def all(self, axis: Axes | None = None, *, keepdims: bool = False) -> Array: ...
        def argsort(self, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array: ...
        def astype(self, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Array: ...
        def clip(self, min: Bound = None, max: Bound = None, *, out: Array | None = None) -> Array: ...
        def conj(self, *, out: Array | None = None) -> Array: ...
        def flatten(self) -> Array: ...
        def mean(
            self, axis: Axes | None = None, *, dtype: DTypeLike | None = None, keepdims: bool = False
        ) -> Array: ...
        def nonzero(self) -> tuple[Array, ...]: ...
        def reshape(self, *shape: Shape, copy: bool | None = None) -> Array: ...
        def squeeze(self, axis: Axes | None = None) -> Array: ...
        def take(self, indices: Producer | int, /, *, axis: int | None = None) -> Array: ...
        def transpose(self, *axes: Axes) -> Array: ...
        def var(
            self,
            axis: Axes | None = None,
            *,
            correction: float = 0.0,
            ddof: float | None = None,
            dtype: DTypeLike | None = None,
            keepdims: bool = False,
        ) -> Array: ...

        any = argmax = argmin = max = min = all
        prod = sum = mean
        ravel, std = flatten, var

    @property
    def dtype(self) -> DType:
        """The data type of the elements."""
        return self._layout.dtype

    @property
    def device(self) -> Device:
        """The device that holds the elements."""
        return self._layout.device

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._layout.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._layout.size

    @property
    def T(self) -> Array:
        """The transpose of a matrix, as a view. ValueError if the array does not have two axes."""
        return show_known("T", self, transpose_matrix)

    @property
    def mT(self) -> Array:
        """The transposes of a stack of matrices, as a view. ValueError if there are fewer than two axes."""
        return show_known("mT", self, transpose_matrices)

    def copy(self) -> Array:
        """A new array with the same elements on the same device."""
        copied: Array = unary(IDENTITY, self)
        return copied

    def __repr__(self) -> str:
        text = to_text(self.shape, self._read, ", ", "Array(")
        shape = f"shape={self.shape}, " if self.size == 0 and self.shape != (0,) else ""
        return f"Array({text}, {shape}dtype={self.dtype}, device={str(self.device)!r})"

    def __str__(self) -> str:
        return to_text(self.shape, self._read)

    def _read(self, key: tuple[slice, ...]) -> NDArray:
        """The elements of a part, on the host."""
        return self[key].to_numpy()

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self._scalar("format"), spec)

    # The object as a container

    def __len__(self) -> int:
        if not self._layout.shape:
            raise TypeError("len: a 0-d array has no length")
        return self._layout.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._layout.shape:
            raise TypeError("iter: a 0-d array has nothing to iterate over")
        return (self[position] for position in range(self._layout.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(host_array(binary(OPERATORS["equal"], self, value))))

    def __getitem__(self, key: Any) -> Array:
        selected: Array | None = known_index(self, key)
        if selected is not None:
            return selected
        if is_basic(key):
            return view_of(self, views.index(self._layout, key))
        selected = reading.get_known(self, key)
        if selected is None:
            parts, arrays = parse(self, key)
            if not arrays:
                return view_of(self, views.index(self._layout, parts))
            selected = reading.get(self, parts, arrays)
        return selected

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._writable:
            raise ValueError("__setitem__: the array is read-only; assign to a copy of it")
        target: Array | None = known_index(self, key)
        if target is None and not is_basic(key):
            if writing.set_known(self, key, value):
                return
            key, arrays = parse(self, key)
            if arrays:
                writing.set(self, key, arrays, value)
                return
        writing.assign(view_of(self, views.index(self._layout, key)) if target is None else target, value)

    # Exchange

    def to_device(self, device: str, /, *, stream: Any = None) -> Array:
        """The array on `device`: itself if it is there, else a copy.

        Parameters
        ----------
        device : Device or str
        stream : int, optional
            The handle of the CUDA stream that copies; by default the current stream.

        Returns
        -------
        Array

        Raises
        ------
        DeviceError
            If the device is not there.
        ValueError
            If a stream is given and neither device has streams.
        """
        target = Device(device)
        here, there = engine_of(self.device), engine_of(target)
        if stream is not None and here.is_host and there.is_host:
            raise ValueError(f"to_device: stream is {stream!r}; accepted on the CPU: None")
        if here is there:
            return self
        host = host_array(self, None if here.is_host else stream)
        return from_host(host, target, stream=stream if here.is_host else None)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in API_VERSIONS:
            raise ValueError(
                f"__array_namespace__: api_version is {api_version!r}; accepted: {', '.join(API_VERSIONS)}"
            )
        return sys.modules["xpops"]

    # NumPy's functions and operators. `xpops.numpy` is loaded at the first of them.
    __array_priority__ = 100.0  # Dask reads it

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *operands: Any, **options: Any) -> Any:
        return import_module("xpops.numpy.protocols").call_ufunc(self, ufunc, method, operands, options)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        return import_module("xpops.numpy.protocols").call_function(self, function, types, arguments, options)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return to_capsule(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return device_of(self._layout)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return cuda_array_interface(self)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return from_host, (host_array(self), self.device)


def new_array(layout: Layout) -> Array:
    """An uninitialised array."""
    engine = engine_of(layout.device)
    data, owner = engine.allocate(layout, engine.current_stream())
    return Array(layout, data, owner)


def contiguous_copy(x: Array) -> Array:
    """A C-contiguous copy of `x`."""
    layout = x._layout
    if layout.contiguous:
        return x.copy()
    target = new_array(layout_of(layout.dtype, layout.shape, None, layout.device))
    copied: Array = elementwise(IDENTITY, (x,), target, layout.dtype)
    return copied


def adopt_foreign(x: Any, function: str, argument: str) -> Array:
    """An xpops array on the memory of an array of any framework; `x` itself if it is an xpops array.

    Raises
    ------
    TypeError
        If `x` is no array.
    """
    known: Array | None = known_array(x)
    if known is not None:
        return known
    return x if isinstance(x, Array) else Array(*view_foreign(x, function, argument))


def from_host(host: NDArray, device: Device, *, stream: Any = None) -> Array:
    """A new array on `device` with the elements of an ndarray of a supported dtype."""
    x = new_array(layout_of(host.dtype, host.shape, None, device))
    engine = engine_of(device)
    current = engine.current_stream()
    handle = current if stream is None else operator.index(stream)
    if handle != current:
        engine.order(current, handle)
    engine.from_host(np.ascontiguousarray(host), x._data, x._layout, handle)
    if handle != current:
        engine.order(handle, current)
    return x
