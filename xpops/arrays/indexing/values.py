"""Values to assign: their dtype, their shape, and copies of what an assignment would overwrite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.arrays.tensors import copy_to_layout, view_foreign
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, extent, layout_of
from xpops.core.promotion import SCALAR_TYPES, TABLE, scalar_dtype
from xpops.dispatch import Tensor
from xpops.dispatch.calls import call_for
from xpops.engine import engine_of
from xpops.engine.program import Data, Owner
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY
from xpops.plan.signature import Operand

_BOUNDS = {dtype: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for dtype in dt.CATEGORIES["integer"]}


def holds(dtype: DType, value: Any) -> bool:
    """Whether `dtype` can hold a value. Only Python integers are checked: no other value is refused."""
    if value.__class__ is not int or dtype not in _BOUNDS:
        return True
    low, high = _BOUNDS[dtype]
    return bool(low <= value <= high)


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
        if isinstance(value, int) and not holds(dtype, int(value)):
            low, high = _BOUNDS[dtype]
            raise OverflowError(f"__setitem__: value is {value}, which {dtype} cannot hold; accepted: {low} to {high}")
    else:
        value = value if isinstance(value, Tensor) else Tensor(*view_foreign(value, "__setitem__", "value"))
        given = value._layout.dtype
        name, found = given.name, dtype if given == dtype else TABLE.get((dtype, given))
    if found is None or found != dtype:  # NumPy says that float64 == None
        raise TypeError(f"__setitem__: value is {name}, which does not promote to {dtype}; convert it with astype")
    return value


def drop_leading_axes(value: Layout, ndim: int) -> Layout:
    """The layout of a value to assign, without leading axes of length 1 if it has more than `ndim` axes."""
    extra = value.ndim - ndim
    if extra <= 0 or value.shape[:extra] != (1,) * extra:
        return value
    return layout_of(value.dtype, value.shape[extra:], value.strides[extra:], value.device, value.align)


def fit(value: Layout, shape: tuple[int | None, ...]) -> Layout:
    """The layout of a value to assign, with at most as many axes as `shape`, to which it broadcasts.

    None in `shape` is a length that depends on data.

    Raises
    ------
    ValueError
        If it does not broadcast.
    """
    value = drop_leading_axes(value, len(shape))
    pairs = zip(reversed(value.shape), reversed(shape), strict=False)
    if value.ndim > len(shape) or any(n not in (1, m) and m is not None for n, m in pairs):
        accepted = tuple("count" if length is None else length for length in shape)
        raise ValueError(f"__setitem__: value has shape {value.shape}; accepted: what broadcasts to {accepted}")
    return value


def convert(
    engine: Engine, value: Operand, target: Layout, is_dense: bool
) -> tuple[Layout, Callable[[int, Any], tuple[Data, Owner]]]:
    """A layout with the dtype and the shape of `target`, and a function ``(stream, value)`` that makes its data.

    The function returns data with the first element of the layout, and its owner. It copies a scalar, and an array of
    another dtype or shape; if `is_dense`, also one that is not C-contiguous.
    """
    fits = isinstance(value, Layout) and (value.dtype, value.shape) == (target.dtype, target.shape)
    if isinstance(value, Layout) and fits and (value.contiguous or not is_dense):
        return value, lambda stream, data: (data, None)
    copy, allocate = call_for(IDENTITY, (value,), target.device, target.dtype, target).kernel, engine.allocator(target)

    def convert_data(stream: int, given: Any) -> tuple[Data, Owner]:
        made, owner = allocate(stream)
        copy(stream, made, engine.view(given, 0, value) if isinstance(value, Layout) else given)
        return made, owner

    return target, convert_data


def detach(y: Tensor, x: Tensor) -> Tensor:
    """`y`, or a copy of it if a write to `x` might change it."""
    layout = y._layout
    if layout.device != x._layout.device or not _ranges_overlap(x, y):
        return y
    return copy_to_layout(y, layout_of(layout.dtype, layout.shape, None, layout.device))


def _ranges_overlap(x: Tensor, y: Tensor) -> bool:
    """Whether the byte ranges of `x` and `y` overlap. True for interleaved arrays, too."""
    (low, high), (other_low, other_high) = (extent(each._layout) for each in (x, y))
    engine = engine_of(x._layout.device)
    distance = engine.address(y._data) - engine.address(x._data)
    return distance + other_low < high and low < distance + other_high
