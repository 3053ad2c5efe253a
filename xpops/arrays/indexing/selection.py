"""The elements that a key with integer arrays selects."""

from __future__ import annotations

from xpops.core.layouts import Layout, alignment, layout_of
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.plan.gather import gathered_shape
from xpops.plan.keys import Part, select
from xpops.plan.strides import views
from xpops.plan.strides.broadcast import broadcast_shapes


class Target:
    """The elements that a key selects from arrays of one layout, as the primitives `gather` and `scatter` take them.

    Attributes
    ----------
    part : Layout
        The view that the arrays index.
    indices : tuple of Layout
        The arrays, broadcast to one shape.
    axes, position, names
        As `xpops.plan.keys.Selection` has them.
    shape : tuple of int
        The shape of the selected elements.
    as_given : bool
        Whether the view and the arrays are the operands themselves.

    Raises
    ------
    IndexError
        If a part of the key is out of range, or the arrays do not broadcast.
    """

    def __init__(self, x: Layout, parts: tuple[Part, ...], indices: tuple[Layout, ...]) -> None:
        region, self.axes, self.names, self.position = select(x, parts)
        shape = _common_shape(indices)
        for axis, name in zip(self.axes, self.names, strict=True):
            if region.shape[axis] == 0 and 0 not in shape:
                raise IndexError(f"{name} is not empty, but the axis is; accepted: no index")
        align = min(x.align, alignment(abs(region.offset) * x.dtype.itemsize))
        self.part = layout_of(x.dtype, region.shape, region.strides, x.device, align)
        self.indices = tuple(
            layout_of(each.dtype, shape, views.broadcast_to(each, shape, "index").strides, x.device, each.align)
            for each in indices
        )
        self.shape = gathered_shape(self.part, self.axes, shape, self.position)
        self.as_given = self.part is x and self.indices == indices
        self._offset, self._view = region.offset, engine_of(x.device).view

    def data(self, x: Data, indices: tuple[Data, ...]) -> tuple[Data, ...]:
        """The data of the view, and of the broadcast arrays."""
        if self.as_given:
            return x, *indices
        arrays = (self._view(data, 0, layout) for data, layout in zip(indices, self.indices, strict=True))
        return self._view(x, self._offset, self.part), *arrays


def _common_shape(indices: tuple[Layout, ...]) -> tuple[int, ...]:
    try:
        return broadcast_shapes(*(each.shape for each in indices), function="index")
    except ValueError as error:
        raise IndexError(str(error)) from None
