"""Views and copies of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.devices import Device
from xpops.core.errors import describe
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor, elementwise
from xpops.dispatch.fusion.traced_arrays import require_no_trace
from xpops.dispatch.ownership import view_borrowed
from xpops.dispatch.steady import spec_of
from xpops.engine import engine_of
from xpops.frameworks.adapter import Known, View
from xpops.frameworks.differentiable import Facts
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY


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
    return view_borrowed(x, adapter, function, argument)


def array_layout(x: Any, function: str, argument: str) -> Layout | Facts:
    """The layout of an array of any framework; its memory is not viewed if arrays like it were seen before.

    Traced arrays have no layout: their shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array.
    """
    spec = spec_of(x)
    if isinstance(spec, Known):
        return spec.layout
    if isinstance(spec, Layout):
        return spec
    adapter = adapter_of(type(x))
    if adapter is not None and adapter.is_traced(x):
        return adapter.facts(x)
    return view_foreign(x if adapter is None else adapter.without_gradient(x), function, argument).layout


def copy_to_device(host: np.ndarray[Any, Any], device: Device) -> Tensor:
    """Copy an ndarray to new memory on a device."""
    layout, engine = layout_of(host.dtype, host.shape, None, device), engine_of(device)
    stream = engine.current_stream()
    data, owner = engine.allocate(layout, stream)
    engine.from_host(np.ascontiguousarray(host), data, layout, stream)
    return Tensor(layout, data, owner)


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


def view_as(x: Tensor, layout: Layout) -> Tensor:
    """The view of `x` that has this layout, and the same first element; `x` itself if that is its layout."""
    if layout is x._layout:
        return x
    return Tensor(layout, engine_of(layout.device).view(x._data, 0, layout), x._owner, x._writable)
