"""Helpers of indexing and assignment: views and copies of tensors, and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.errors import describe
from xpops.core.layouts import Layout, extent, layout_of
from xpops.core.promotion import SCALAR_TYPES, TABLE, scalar_dtype
from xpops.dispatch import Tensor, elementwise
from xpops.dispatch.fusion.traced_arrays import require_no_trace
from xpops.dispatch.ownership import borrow
from xpops.engine import engine_of
from xpops.frameworks.adapter import View
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY
from xpops.plan.strides.overlap import overlaps_itself

_BOUNDS = {dtype: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for dtype in dt.CATEGORIES["integer"]}


def view_foreign(x: Any, function: str, argument: str) -> View:
    """The memory of an array of any framework.

    Raises
    ------
    TypeError
        If `x` is no array.
    """
    adapter = adapter_of(type(x))
    if adapter is None:
        require_no_trace(x, function)
        raise TypeError(f"{function}: {argument} is {describe(x)}; accepted: an array")
    return borrow(adapter.view(x, function, argument, lambda device: engine_of(device).current_stream()), adapter)


def copy_to_device(host: np.ndarray[Any, Any], device: Device) -> Tensor:
    """Copy an ndarray to new memory on a device."""
    layout, engine = layout_of(host.dtype, host.shape, None, device), engine_of(device)
    stream = engine.current_stream()
    data, owner = engine.allocate(layout, stream)
    engine.from_host(np.ascontiguousarray(host), data, layout, stream)
    return Tensor(layout, data, owner)


def resolve_value(value: Any, dtype: DType) -> Any:
    """A value to assign as a scalar or a tensor, after the check that it promotes to `dtype`.

    Raises
    ------
    TypeError
        If it is no array and no scalar, or does not promote.
    OverflowError
        If `dtype` cannot hold a Python integer.
    """
    found: DType | None
    if isinstance(value, (*SCALAR_TYPES, np.generic)):
        value = value.item() if isinstance(value, np.generic) else value
        name, found = f"a Python {type(value).__name__}", scalar_dtype(type(value), dtype)
        if isinstance(value, int) and dtype in _BOUNDS and not _BOUNDS[dtype][0] <= value <= _BOUNDS[dtype][1]:
            low, high = _BOUNDS[dtype]
            raise OverflowError(f"__setitem__: value is {value}, which {dtype} cannot hold; accepted: {low} to {high}")
    else:
        value = value if isinstance(value, Tensor) else Tensor(*view_foreign(value, "__setitem__", "value"))
        given = value._layout.dtype
        name, found = given.name, dtype if given == dtype else TABLE.get((dtype, given))
    if found is None or found != dtype:  # NumPy says that float64 == None
        raise TypeError(f"__setitem__: value is {name}, which does not promote to {dtype}; convert it with astype")
    return value


def drop_leading_axes(value: Tensor, ndim: int) -> Tensor:
    """A value to assign, without leading axes of length 1 if it has more than `ndim` axes."""
    layout = value._layout
    extra = layout.ndim - ndim
    if extra <= 0 or layout.shape[:extra] != (1,) * extra:
        return value
    return view_with_axes(value, layout.shape[extra:], layout.strides[extra:])


def require_one_device(device: Device, others: dict[str, Any]) -> None:
    """Refuse tensors that are not on `device`, the device of the array to assign to.

    Raises
    ------
    ValueError
    """
    for name, other in others.items():
        if isinstance(other, Tensor) and other._layout.device != device:
            raise ValueError(
                f"__setitem__: {name} is on {other._layout.device} and the array on {device}; move it first"
            )


def require_own_places(layout: Layout) -> None:
    """Refuse to assign to an array whose elements may share memory.

    Raises
    ------
    ValueError
    """
    if overlaps_itself(layout):
        raise ValueError("__setitem__: the array may have several elements at one address; assign to a copy of it")


def ranges_overlap(x: Tensor, y: Tensor) -> bool:
    """Whether the byte ranges of `x` and `y` overlap. True for interleaved arrays, too."""
    (low, high), (other_low, other_high) = (extent(each._layout) for each in (x, y))
    engine = engine_of(x._layout.device)
    distance = engine.address(y._data) - engine.address(x._data)
    return distance + other_low < high and low < distance + other_high


def to_contiguous(x: Tensor) -> Tensor:
    """`x`, or a C-contiguous copy if it is not C-contiguous."""
    layout = x._layout
    return x if layout.contiguous else copy_to_layout(x, layout_of(layout.dtype, layout.shape, None, layout.device))


def copy_to_layout(x: Tensor, target: Layout) -> Tensor:
    """A copy of `x`, converted and broadcast to the layout `target`."""
    engine = engine_of(target.device)
    fresh = Tensor(target, *engine.allocate(target, engine.current_stream()))
    elementwise(IDENTITY, (x,), fresh, target.dtype)
    return fresh


def view_with_axes(x: Tensor, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """A view of `x` with other axes, and the same first element."""
    layout = x._layout
    view = layout_of(layout.dtype, shape, strides, layout.device, layout.align)
    return Tensor(view, engine_of(layout.device).view(x._data, 0, view), x._owner, x._writable)
