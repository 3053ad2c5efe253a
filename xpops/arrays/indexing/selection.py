"""The elements that a key with integer arrays selects."""

from __future__ import annotations

from xpops.core.layouts import Layout, alignment, layout_of
from xpops.dispatch import Tensor, steady
from xpops.dispatch.keys import Fixed
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.plan.cache import BoundedDict
from xpops.plan.gather import gathered_shape
from xpops.plan.keys import Indexed, Part, select
from xpops.plan.strides import views
from xpops.plan.strides.broadcast import broadcast_shapes

# (layout of x, parts of a key) -> the offset of the view, its layout, and what arrays index in it. Plans know only the
# view, so that keys that differ in an integer, as ``x[j, array]`` in a loop, share one.
_views: BoundedDict[tuple[Layout, tuple[Part, ...]], tuple[int, Layout, Indexed]] = BoundedDict(1024)


def select_view(x: Tensor, parts: tuple[Part, ...]) -> tuple[Tensor, Indexed]:
    """The view that the slices, integers and None of a key select, and the axes of it that the key's arrays index.

    Raises
    ------
    IndexError
        If a part is out of range, or there are too many parts.
    """
    layout = x._layout
    key = layout, tuple((part.start, part.stop, part.step) if isinstance(part, slice) else part for part in parts)
    known = _views.get(key)
    if known is None:
        region, indexed = select(layout, parts)
        align = min(layout.align, alignment(abs(region.offset) * layout.dtype.itemsize))
        part = layout_of(layout.dtype, region.shape, region.strides, layout.device, align)
        # Fixed tuples, because these are parameters of plans.
        known = _views[key] = (
            region.offset,
            part,
            indexed._replace(axes=Fixed(indexed.axes), names=Fixed(indexed.names)),
        )
    offset, part, indexed = known
    if part is layout:
        return x, indexed
    data = engine_of(layout.device).view(x._data, offset, part)
    view: Tensor = steady.array_class(part, data, x._owner, x._writable)
    return view, indexed


class Target:
    """The elements of a view that integer arrays select, as the primitives `gather` and `scatter` take them.

    Attributes
    ----------
    indices : tuple of Layout
        The arrays, broadcast to one shape.
    shape : tuple of int
        The shape of the selected elements.
    as_given : bool
        Whether the arrays need no broadcasting.

    Raises
    ------
    IndexError
        If the arrays do not broadcast, or index an axis without elements.
    """

    def __init__(self, x: Layout, indexed: Indexed, indices: tuple[Layout, ...]) -> None:
        shape = _common_shape(indices)
        for axis, name, each in zip(indexed.axes, indexed.names, indices, strict=True):
            # NumPy does not check an array that broadcasts to no elements. It always checks one without axes.
            if x.shape[axis] == 0 and (0 not in shape or not each.ndim):
                raise IndexError(f"{name} is not empty, but the axis is; accepted: no index")
        self.indices = tuple(
            layout_of(each.dtype, shape, views.broadcast_to(each, shape, "index").strides, x.device, each.align)
            for each in indices
        )
        self.shape = gathered_shape(x, indexed.axes, shape, indexed.position)
        self.as_given = self.indices == indices
        self._view = engine_of(x.device).view

    def broadcast(self, indices: tuple[Data, ...]) -> tuple[Data, ...]:
        """The data of the broadcast arrays."""
        if self.as_given:
            return indices
        return tuple(self._view(data, 0, layout) for data, layout in zip(indices, self.indices, strict=True))


def _common_shape(indices: tuple[Layout, ...]) -> tuple[int, ...]:
    try:
        return broadcast_shapes(*(each.shape for each in indices), function="index")
    except ValueError as error:
        raise IndexError(str(error)) from None
