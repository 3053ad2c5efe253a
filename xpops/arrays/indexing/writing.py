"""``x[key] = value`` for keys with arrays."""

from __future__ import annotations

from typing import Any

from xpops.arrays.indexing.keys import NDArray, require_mask, resolve, sole_mask
from xpops.arrays.indexing.selection import Target, select_view
from xpops.arrays.indexing.values import convert, detach, drop_leading_axes, fit, resolve_value
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor
from xpops.dispatch.primitives import call
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import OPERATORS
from xpops.plan.keys import Indexed, Part
from xpops.plan.signature import Operand, signature_of
from xpops.plan.strides import views
from xpops.plan.strides.overlap import overlaps_itself


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
        call(_plan_masked, "__setitem__", ("x", "value", "mask"), (x, value, detach(mask, x)))
        return
    view, indexed = select_view(x, parts)
    indices = [detach(each, view) for each in resolve(view._layout, indexed, arrays)]
    names = ("x", "value", *(f"key[{number}]" for number in range(len(indices))))
    call(_plan_scatter, "__setitem__", names, (view, value, *indices), *indexed)


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
    write = engine.scatter(x, axes, target.indices, position, wide, names)

    def kernel(stream: int, x: Data, value: Any, *indices: Data) -> None:
        data, owner = prepare(stream, value)
        data = data if wide is specs[1] else engine.view(data, 0, wide)
        write(stream, x, data, *target.broadcast(indices))
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
    write = engine.assign(signature_of(OPERATORS["where"], (wide, value, x)), (wide, value, x), x)

    def kernel(stream: int, x: Data, given: Any, mask: Data) -> None:
        given = engine.view(given, 0, value) if isinstance(value, Layout) else given
        write(stream, x, engine.view(mask, 0, wide), given, x)

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
