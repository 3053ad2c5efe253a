"""Indexing by arrays of integers, alone or with slices, integers, None and masks."""

from __future__ import annotations

from typing import Any

from xpops.arrays import masks
from xpops.arrays.keys import NDArray, hashable_parts, resolve, sole_mask
from xpops.arrays.tensors import (
    copy_to_layout,
    drop_leading_axes,
    ranges_overlap,
    require_one_device,
    require_own_places,
)
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.dispatch import Tensor, state
from xpops.dispatch.keys import Fixed, call_key
from xpops.dispatch.primitives import call
from xpops.dispatch.state import launches
from xpops.engine import engine_of
from xpops.engine.program import Data, Kernel, Program
from xpops.engine.protocol import Engine
from xpops.plan.cache import BoundedDict
from xpops.plan.gather import gathered_shape
from xpops.plan.keys import ARRAY, Part, Selection, select
from xpops.plan.strides import views
from xpops.plan.strides.broadcast import broadcast_shapes

_LIMIT = 1024
# For each number of arrays, up to the largest number of axes: the parts of a key that consists of arrays only.
_ARRAYS = [Fixed((ARRAY,) * count) for count in range(65)]
# (layout of x, parts of the key, layouts of its arrays) -> the elements that they select.
_targets: BoundedDict[tuple[Any, ...], _Target] = BoundedDict(_LIMIT)
# ((layout of x, parts, layouts of arrays), layout of the value) -> the kernel (stream, x, value, *indices).
_scatters: BoundedDict[tuple[Any, ...], Kernel] = BoundedDict(_LIMIT)


def get_known(x: Tensor, key: Any) -> Any:
    """``x[key]`` by the steady state, if the key consists of integer arrays only and the call is known; else None."""
    arrays = key if key.__class__ is tuple else (key,)
    for each in arrays:
        if each.__class__ is not state.array_class:
            return None
    if len(arrays) >= len(_ARRAYS):
        return None
    layouts = (x._layout, *[each._layout for each in arrays])
    launch = launches.get(call_key(_plan_get, layouts, (_ARRAYS[len(arrays)],)))
    return None if launch is None else launch(x._data, *[each._data for each in arrays])


def get(x: Tensor, parts: tuple[Part, ...], arrays: list[Tensor | NDArray]) -> Any:
    """``x[key]``, in new memory.

    Raises
    ------
    IndexError
        If an array or a mask does not fit, the arrays do not broadcast, or an index is out of range. Indices on the
        CPU or from the host are checked at once. On CUDA an index out of range is clamped, and the error is raised when
        the host next reads from the device.
    """
    mask = sole_mask(parts, arrays)
    if mask is not None:
        return masks.get(x, mask)
    indices = resolve(x, parts, arrays)
    names = ("x", *(f"key[{number}]" for number in range(len(indices))))
    return call(_plan_get, "index", names, (x, *indices), hashable_parts(parts))


def set(x: Tensor, parts: tuple[Part, ...], arrays: list[Tensor | NDArray], value: Any) -> None:
    """``x[key] = value``.

    If an element gets several values, on the CPU the last one wins; on CUDA an unspecified one does.

    Parameters
    ----------
    x : Tensor
        Writable.
    value : Tensor or scalar
        Promotes to the dtype of `x`, and broadcasts to the shape of ``x[key]``.

    Raises
    ------
    IndexError
        As `get`.
    ValueError
        If the value does not fit, or the value or an array of the key is on another device.
    """
    mask = sole_mask(parts, arrays)
    if mask is not None:
        masks.set(x, mask, value)
        return
    layout = x._layout
    indices = resolve(x, parts, arrays)
    given = {f"key[{number}]": each for number, each in enumerate(indices)}
    require_one_device(layout.device, {**given, "value": value})
    require_own_places(layout)
    indices = tuple(_copy_if_overlapping(x, each) for each in indices)
    layouts = tuple(each._layout for each in indices)
    key = (layout, hashable_parts(parts), layouts)
    target = _targets.get(key)
    if target is None:
        target = _targets[key] = _Target(layout, parts, layouts)
    value = target.fit(x, value)
    scatter = _scatters.get((key, value._layout))
    if scatter is None:
        scatter = _scatters[key, value._layout] = target.scatter(value._layout)
    engine = engine_of(layout.device)
    scatter(engine.current_stream(), x._data, value._data, *(each._data for each in indices))


def _copy_if_overlapping(x: Tensor, y: Tensor) -> Tensor:
    """`y`, or a copy of it if a write to `x` might change it."""
    if not ranges_overlap(x, y):
        return y
    layout = y._layout
    return copy_to_layout(y, layout_of(layout.dtype, layout.shape, None, layout.device))


class _Target:
    """The elements that a key selects from arrays of one layout: a view, and indices broadcast to one shape."""

    def __init__(self, x: Layout, parts: tuple[Part, ...], indices: tuple[Layout, ...]) -> None:
        self.selection: Selection = select(x, parts)
        region, axes = self.selection.region, self.selection.axes
        shape = _common_shape(indices)
        for axis, name in zip(axes, self.selection.names, strict=True):
            if region.shape[axis] == 0 and 0 not in shape:
                raise IndexError(f"{name} is not empty, but the axis is; accepted: no index")
        align = min(x.align, alignment(abs(region.offset) * x.dtype.itemsize))
        self.part = layout_of(x.dtype, region.shape, region.strides, x.device, align)
        self.indices = tuple(
            layout_of(each.dtype, shape, views.broadcast_to(each, shape, "index").strides, x.device, each.align)
            for each in indices
        )
        self.shape = gathered_shape(self.part, axes, shape, self.selection.place)
        self.engine: Engine = engine_of(x.device)
        self.as_given = self.part is x and self.indices == indices

    def data(self, x: Data, indices: tuple[Data, ...]) -> tuple[Data, ...]:
        """The data of the view that the indices index, and of the broadcast indices."""
        view = self.engine.view
        places = (view(data, 0, layout) for data, layout in zip(indices, self.indices, strict=True))
        return view(x, self.selection.region.offset, self.part), *places

    def fit(self, x: Tensor, value: Any) -> Tensor:
        """A value to assign as a tensor of the dtype of `x`, on other memory, with no more axes than the selection."""
        dtype, device = self.part.dtype, self.part.device
        if not isinstance(value, Tensor):
            return copy_to_layout(value, layout_of(dtype, (), None, device))
        value = drop_leading_axes(value, len(self.shape))
        layout = value._layout
        if layout.ndim > len(self.shape) or any(
            n not in (1, m) for n, m in zip(reversed(layout.shape), reversed(self.shape), strict=False)
        ):
            raise ValueError(f"__setitem__: value has shape {layout.shape}; accepted: what broadcasts to {self.shape}")
        if layout.dtype != dtype or ranges_overlap(x, value):
            return copy_to_layout(value, layout_of(dtype, layout.shape, None, device))
        fitted: Tensor = value
        return fitted

    def scatter(self, value: Layout) -> Kernel:
        """The kernel ``(stream, x, value, *indices)``."""
        region = views.broadcast_to(value, self.shape, "__setitem__")
        wide = layout_of(value.dtype, self.shape, region.strides, value.device, value.align)
        axes, names, place = self.selection.axes, self.selection.names, self.selection.place
        write, view = self.engine.scatter(self.part, axes, self.indices, place, wide, names), self.engine.view

        def kernel(stream: int, x: Data, value: Data, *indices: Data) -> None:
            part, *places = self.data(x, indices)
            write(stream, part, view(value, 0, wide), *places)

        return kernel


def _plan_get(engine: Engine, specs: tuple[Layout, ...], parts: tuple[Part, ...]) -> Program:
    target = _Target(specs[0], parts, specs[1:])
    axes, names, place = target.selection.axes, target.selection.names, target.selection.place
    program = engine.gather(target.part, axes, target.indices, place, names)
    if target.as_given:
        return program

    def kernel(stream: int, out: Data, x: Data, *indices: Data) -> None:
        program.kernel(stream, out, *target.data(x, indices))

    return Program(program.layouts, kernel)


def _common_shape(indices: tuple[Layout, ...]) -> tuple[int, ...]:
    try:
        return broadcast_shapes(*(each.shape for each in indices), function="index")
    except ValueError as error:
        raise IndexError(str(error)) from None
