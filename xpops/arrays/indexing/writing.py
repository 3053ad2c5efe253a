"""``x[key] = value``."""

from __future__ import annotations

from typing import Any

from xpops.arrays.indexing.keys import NDArray, require_mask, resolve, sole_mask
from xpops.arrays.indexing.selection import Target, select_view
from xpops.arrays.indexing.values import convert, detach, drop_leading_axes, fit, holds, resolve_value
from xpops.arrays.tensors import view_as
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor, steady, write_first
from xpops.dispatch.keys import Fixed, way_of
from xpops.dispatch.primitives import write
from xpops.dispatch.steady import known_write
from xpops.engine import engine_of
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.keys import Indexed, Part
from xpops.plan.signature import Operand, signature_of
from xpops.plan.strides import views
from xpops.plan.strides.overlap import overlaps_itself


def assign(target: Tensor, value: Any) -> None:
    """Write a value to all elements of an array, which is writable.

    Raises
    ------
    TypeError, OverflowError
        As `values.resolve_value`.
    ValueError
        If the value does not broadcast, or is on another device.
    """
    layout = target._layout
    if value.__class__ is target.__class__ and value._layout is layout and _address(value) == _address(target):
        return  # the last step of ``x[key] += y``, which wrote the view in place
    if holds(layout.dtype, value) and known_write(_ASSIGN, (value,), target):
        return
    value = resolve_value(value, layout.dtype)
    if isinstance(value, Tensor):
        value = view_as(value, drop_leading_axes(value._layout, layout.ndim))
    write_first(IDENTITY, _ASSIGN, (value,), target, layout.dtype)


def set_known(x: Tensor, key: Any, value: Any) -> bool:
    """``x[key] = value`` by the steady state, if the key consists of own arrays only and the call is known."""
    arrays = key if key.__class__ is tuple else (key,)
    for each in arrays:
        if each.__class__ is not steady.array_class:
            return False
    if len(arrays) >= len(_INDEXED) or not holds(x._layout.dtype, value):
        return False
    is_mask = len(arrays) == 1 and arrays[0]._layout.dtype == dt.bool
    return known_write(_MASKED if is_mask else _INDEXED[len(arrays)], (value, *arrays), x)


def set(x: Tensor, parts: tuple[Part, ...], arrays: list[Tensor | NDArray], value: Any) -> None:
    """``x[key] = value``.

    If an element gets several values, on the CPU the last one wins; on CUDA an unspecified one does.

    Parameters
    ----------
    x : Tensor
        Writable.
    value : array or scalar
        Promotes to the dtype of `x`, and broadcasts to the shape of ``x[key]``.

    Raises
    ------
    IndexError
        As `reading.get`.
    TypeError, OverflowError
        As `values.resolve_value`.
    ValueError
        If the value does not fit, or the value or an array of the key is on another device. Nothing is written then.
    """
    value = resolve_value(value, x._layout.dtype)
    if isinstance(value, Tensor):
        value = detach(value, x)
    mask = sole_mask(parts, arrays)
    if mask is not None:
        write(_plan_masked, "__setitem__", ("x", "value", "mask"), (value, detach(mask, x)), x)
        return
    view, indexed = select_view(x, parts)
    indices = [detach(each, view) for each in resolve(view._layout, indexed, arrays)]
    names = ("x", "value", *(f"key[{number}]" for number in range(len(indices))))
    write(_plan_scatter, "__setitem__", names, (value, *indices), view, *indexed)


def _plan_scatter(
    engine: Engine, specs: tuple[Any, ...], axes: tuple[int, ...], names: tuple[str, ...], position: int
) -> Program:
    x, value, *indices = specs
    _require_distinct_addresses(x)
    target = Target(x, Indexed(axes, names, position), tuple(indices))
    given = fit(value, target.shape) if isinstance(value, Layout) else value
    shape = given.shape if isinstance(given, Layout) else ()
    values, prepare = convert(engine, given, layout_of(x.dtype, shape, None, x.device), False)
    strides = views.broadcast_to(values, target.shape, "__setitem__").strides
    wide = layout_of(x.dtype, target.shape, strides, x.device, values.align)
    scatter = engine.scatter(x, axes, target.indices, position, wide, names)

    def kernel(stream: int, x: Data, value: Any, *indices: Data) -> None:
        data, owner = prepare(stream, value)
        data = data if wide is specs[1] else engine.view(data, 0, wide)
        scatter(stream, x, data, *target.broadcast(indices))
        del owner  # kept until the kernels were launched

    return Program((), kernel)


def _plan_masked(engine: Engine, specs: tuple[Layout, Operand, Layout]) -> Program:
    x, value, mask = specs
    require_mask(mask.shape, x.shape)
    _require_distinct_addresses(x)
    rest = x.shape[mask.ndim :]
    if isinstance(value, Layout):
        value = drop_leading_axes(fit(value, (None, *rest)), len(rest))
        if value.ndim > len(rest):
            return _plan_rows(engine, specs, value)
    if mask.size == 0:
        return Program((), lambda stream, *data: None)
    shape, strides = (*mask.shape, *(1 for _ in rest)), (*mask.strides, *(0 for _ in rest))
    wide = layout_of(mask.dtype, shape, strides, mask.device, mask.align)
    assign_chosen = engine.assign(signature_of(OPERATORS["where"], (wide, value, x)), wide, value, x)

    def kernel(stream: int, x: Data, given: Any, mask: Data) -> None:
        given = engine.view(given, 0, value) if isinstance(value, Layout) else given
        assign_chosen(stream, x, engine.view(mask, 0, wide), given)

    return Program((), kernel)


def _plan_rows(engine: Engine, specs: tuple[Layout, Operand, Layout], value: Layout) -> Program:
    """The program that writes the rows of `value`, one for each True in the mask."""
    x, given, mask = specs
    shape = (value.shape[0], *x.shape[mask.ndim :])
    rows, prepare_rows = convert(engine, value, layout_of(x.dtype, shape, None, x.device), True)
    dense, prepare_mask = convert(engine, mask, layout_of(mask.dtype, mask.shape, None, mask.device), True)
    measure = engine.masked_scatter(x, dense, rows)

    def kernel(stream: int, x: Data, value: Data, mask: Data) -> None:
        (mask, mask_owner), (value, value_owner) = prepare_mask(stream, mask), prepare_rows(stream, value)
        data = x, mask, value if rows is given else engine.view(value, 0, rows)
        measure(stream, *data).kernel(stream, *data)
        del mask_owner, value_owner  # kept until the kernels were launched

    return Program((), kernel)


def _require_distinct_addresses(layout: Layout) -> None:
    """Refuse to assign to an array whose elements may share memory.

    Raises
    ------
    ValueError
    """
    if overlaps_itself(layout):
        raise ValueError("__setitem__: the array may have several elements at one address; assign to a copy of it")


def _address(x: Tensor) -> int:
    return engine_of(x._layout.device).address(x._data)


# The ways of assignments: to a whole array or view, to what a mask selects, and to what a key of n integer arrays and
# nothing else selects (_INDEXED[n]).
_ASSIGN = "__setitem__"
_MASKED = way_of(_plan_masked, ())
_INDEXED = [
    way_of(_plan_scatter, (Fixed(range(n)), Fixed(f"index: the array for axis {axis}" for axis in range(n)), 0))
    for n in range(65)
]
