"""Indexing by a boolean array."""

from __future__ import annotations

from typing import Any

from xpops.arrays.tensors import (
    copy_to_layout,
    drop_leading_axes,
    ranges_overlap,
    require_one_device,
    require_own_places,
    to_contiguous,
    view_with_axes,
)
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor, elementwise
from xpops.dispatch.dense import plan_on_dense, require_array
from xpops.dispatch.primitives import compute
from xpops.engine import engine_of
from xpops.engine.program import Measure, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import OPERATORS
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand

_LIMIT = 1024
# (layout of x, of the mask, of the values) -> the primitive's measure.
_places: BoundedDict[tuple[Layout, Layout, Layout], Measure] = BoundedDict(_LIMIT)


def get(x: Tensor, mask: Any) -> Any:
    """``x[mask]``: the elements where `mask` is True. The axes of `mask` are the leading axes of `x`.

    Raises
    ------
    IndexError
        If `mask` is not boolean, or its shape is not that of leading axes.
    """
    return compute(_plan_get, "index", ("x", "mask"), (x, mask))


def _plan_get(engine: Engine, specs: tuple[Operand, ...]) -> Program | Measure:
    x, mask = (require_array(spec, "index", name) for spec, name in zip(specs, ("x", "mask"), strict=True))
    _require_mask(x, mask)
    if mask.size == 0:
        nothing = layout_of(x.dtype, (0, *x.shape[mask.ndim :]), None, x.device)
        return Program((nothing,), lambda stream, *data: None)
    return plan_on_dense(engine, (x, mask), engine.compress)


def set(x: Tensor, mask: Tensor, value: Any) -> None:
    """``x[mask] = value``.

    Parameters
    ----------
    x : Tensor
        Writable.
    mask : Tensor
    value : Tensor or scalar
        Promotes to the dtype of `x`, and broadcasts to the shape of ``x[mask]``.

    Raises
    ------
    IndexError
        If `mask` is not boolean, or its shape is not that of leading axes.
    ValueError
        If the value does not fit, or the value or the mask is on another device. Nothing is written then.
    """
    layout = x._layout
    require_one_device(layout.device, {"mask": mask, "value": value})
    _require_mask(layout, mask._layout)
    require_own_places(layout)
    rest = layout.shape[mask._layout.ndim :]
    if isinstance(value, Tensor):
        value = _drop_first_axis(drop_leading_axes(value, len(rest) + 1), rest)
        if value._layout.ndim > len(rest):
            _write_rows(x, mask, value, rest)
            return
    if mask._layout.size == 0:
        return
    wide = view_with_axes(mask, (*mask._layout.shape, *(1 for _ in rest)), (*mask._layout.strides, *(0 for _ in rest)))
    elementwise(OPERATORS["where"], (wide, value, x), x)


def _require_mask(x: Layout, mask: Layout) -> None:
    if mask.dtype != dt.bool:
        raise IndexError(f"index: an array of dtype {mask.dtype}; accepted: boolean arrays")
    lengths = x.shape[: mask.ndim]
    if mask.ndim > x.ndim or any(given not in (length, 0) for given, length in zip(mask.shape, lengths, strict=True)):
        raise IndexError(f"index: a mask of shape {mask.shape} for an array of shape {x.shape}; accepted: leading axes")


def _drop_first_axis(value: Tensor, rest: tuple[int, ...]) -> Tensor:
    """The value, without a first axis of length 1, which would broadcast to all selected places."""
    shape, strides = value._layout.shape, value._layout.strides
    extra = len(shape) - len(rest)
    if extra > 1 or any(n not in (1, m) for n, m in zip(reversed(shape), reversed(rest), strict=False)):
        raise ValueError(f"__setitem__: value has shape {shape}; accepted: what broadcasts to {('count', *rest)}")
    return view_with_axes(value, shape[1:], strides[1:]) if extra == 1 and shape[0] == 1 else value


def _write_rows(x: Tensor, mask: Tensor, value: Tensor, rest: tuple[int, ...]) -> None:
    """Write the rows of `value`, one for each True in `mask`."""
    layout, engine = x._layout, engine_of(x._layout.device)
    shape = (value._layout.shape[0], *rest)
    fits = (value._layout.dtype, value._layout.shape) == (layout.dtype, shape)
    if not fits or ranges_overlap(x, value):
        value = copy_to_layout(value, layout_of(layout.dtype, shape, None, layout.device))
    if ranges_overlap(x, mask):
        mask = copy_to_layout(mask, layout_of(dt.bool, mask._layout.shape, None, layout.device))
    mask, value = (to_contiguous(each) for each in (mask, value))
    key = (layout, mask._layout, value._layout)
    measure = _places.get(key)
    if measure is None:
        measure = _places[key] = engine.place(*key)
    data, stream = (x._data, mask._data, value._data), engine.current_stream()
    measure(stream, *data).kernel(stream, *data)
