"""Views of xpops arrays: of a region, and of a key without arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xpops.core.compiled import compiled
from xpops.core.dtypes import DType
from xpops.core.layouts import MAX_ALIGNMENT, Layout, alignment, layout_of
from xpops.dispatch import Tensor
from xpops.dispatch.steady import known_view, remember_view
from xpops.engine import engine_of
from xpops.plan.strides import views
from xpops.plan.strides.reinterpretation import reinterpret
from xpops.plan.strides.views import Region, with_whole_axes

A = TypeVar("A", bound=Tensor)
# How a view is made: by ``function(x, argument)``.
Show = tuple[Callable[[Any, Any], Any], Any]
# The alignments of the compiled core's views.
_ALIGNMENTS = (1, 2, 4, 8, 16)


def view_of(x: A, region: Region, writable: bool = True) -> A:
    """A view of a region of `x`."""
    (offset, shape, strides), layout = region, x._layout
    engine = engine_of(layout.device)
    # On the host the alignment does not matter.
    start = 0 if engine.is_host else engine.address(x._data) + offset * layout.dtype.itemsize
    part = layout_of(layout.dtype, shape, strides, layout.device, alignment(start))
    return x.__class__(part, engine.view(x._data, offset, part), x._owner, x._writable and writable)


def show_region(layout: Layout, region: Region, writable: bool = True) -> Show:
    """How the view of a region is made, for all arrays of a layout."""
    if compiled is not None and not engine_of(layout.device).is_host:
        return _call, _compiled_view(layout, region, (), writable)
    if region.offset:
        return (view_of if writable else _read_only_view_of), region
    part = layout_of(layout.dtype, region.shape, region.strides, layout.device, layout.align)
    return (_show if writable else _show_read_only), part


def show_known(way: Any, x: A, plan: Callable[[Layout], Region], writable: bool = True) -> A:
    """The view of the region that `plan` returns for the layout of `x`. It is remembered under `way`."""
    found: A | None = known_view(way, x)
    if found is None:
        function, argument = show_region(x._layout, plan(x._layout), writable)
        remember_view(way, x, function, argument)
        found = function(x, argument)
    return found


def show_as(x: A, dtype: DType) -> A:
    """The view of the same bytes in another dtype, for `Array.view`.

    Raises
    ------
    ValueError
        As `reinterpret`; or if the elements would not be aligned on a GPU.
    """
    way = "view", dtype
    found: A | None = known_view(way, x)
    if found is None:
        layout = x._layout
        part = reinterpret(layout, dtype)
        if layout.align < min(dtype.itemsize, MAX_ALIGNMENT) and not engine_of(layout.device).is_host:
            raise ValueError(f"view: the address is a multiple of {layout.align}; accepted: of {dtype.itemsize}")
        remember_view(way, x, _show, part)
        found = _show(x, part)
    return found


def transpose_matrix(layout: Layout) -> Region:
    """The transpose of a matrix, for `Array.T`."""
    if layout.ndim != 2:
        raise ValueError(f"T: the array has {layout.ndim} axes; accepted: 2. For stacks of matrices there is mT")
    return views.permute(layout, (1, 0))


def transpose_matrices(layout: Layout) -> Region:
    """The transposes of a stack of matrices, for `Array.mT`."""
    if layout.ndim < 2:
        raise ValueError(f"mT: the array has {layout.ndim} axes; accepted: 2 or more")
    return views.permute(layout, (*range(layout.ndim - 2), layout.ndim - 1, layout.ndim - 2))


def _compiled_view(layout: Layout, region: Region, axes: tuple[tuple[int, int], ...], writable: bool) -> Any:
    assert compiled is not None
    parts = [layout_of(layout.dtype, region.shape, region.strides, layout.device, align) for align in _ALIGNMENTS]
    return compiled.View(tuple(parts), region.offset * layout.dtype.itemsize, axes, writable)


def _plan_index(layout: Layout, key: Any) -> Any:
    """The view of a key without arrays, for the compiled core: its arguments are the integers of the key."""
    parts = key if isinstance(key, tuple) else (key,)
    region = views.index(layout, tuple(0 if part.__class__ is int else part for part in parts))
    used = sum(part is not None and part is not Ellipsis for part in parts)
    whole = with_whole_axes(parts, used, layout.ndim)
    indexed = [part for part in whole if part is not None]  # one for each axis
    step = 0 if 0 in region.shape else layout.dtype.itemsize
    axes = [
        (length, stride * step)
        for part, length, stride in zip(indexed, layout.shape, layout.strides, strict=True)
        if part.__class__ is int
    ]
    return _compiled_view(layout, region, tuple(axes), True)


def _unknown_index(x: Tensor, key: Any) -> None:
    """Return None: without the compiled core, no view of a key is remembered."""


known_index: Callable[[Any, Any], Any] = _unknown_index
if compiled is not None:
    known_index = compiled.index
    compiled.set_index(_plan_index)


def _call(x: Tensor, view: Callable[[Any], Any]) -> Any:
    return view(x)


def _show(x: A, part: Layout) -> A:
    return x.__class__(part, engine_of(part.device).view(x._data, 0, part), x._owner, x._writable)


def _show_read_only(x: A, part: Layout) -> A:
    return x.__class__(part, engine_of(part.device).view(x._data, 0, part), x._owner, False)


def _read_only_view_of(x: A, region: Region) -> A:
    return view_of(x, region, writable=False)
