"""Checks of the operand of a composite function, so that errors name this function."""

from __future__ import annotations

from typing import Any, NamedTuple

from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.plan.strides import views


class Operand(NamedTuple):
    """An array's dtype and shape, and the axes along which a function works."""

    dtype: DType
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def has_nan(self) -> bool:
        """Whether the dtype has a NaN."""
        return self.dtype in dt.CATEGORIES["floating-point"]


def operand_of(function: str, x: Any, axis: Any, accepts: str = "arithmetic", *, nonempty: bool = False) -> Operand:
    """The dtype, shape and axes of an array, a layout or a traced array, after checks. By default all axes.

    Raises
    ------
    TypeError
        If `x` is not an array, its dtype is not in the category `accepts`, or an axis is not an integer.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice; with `nonempty`, if one of the axes has no elements.
    """
    given = x if isinstance(x, (Layout, Traced)) else array_layout(x, function, "x")
    if given.dtype not in dt.CATEGORIES[accepts]:
        names = ", ".join(each.name for each in dt.INFO if each in dt.CATEGORIES[accepts])
        raise TypeError(f"{function}: dtype {given.dtype} is not accepted; accepted: {names}")
    axes = tuple(range(given.ndim)) if axis is None else views.axes_of(axis, given.ndim, function)
    if nonempty and 0 in (given.shape[i] for i in axes):
        raise ValueError(
            f"{function}: x has shape {given.shape}, nothing along axis {axis}; accepted: at least one element"
        )
    return Operand(given.dtype, given.shape, axes)
