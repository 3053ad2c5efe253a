"""Joining arrays."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import sequence_function
from xpops.core.errors import describe
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import promote
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.keys import Fixed
from xpops.dispatch.pieces import join_along, join_flat
from xpops.dispatch.primitives import call
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides import views

__all__ = ["concat", "stack"]


@sequence_function
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join arrays along an axis.

    Parameters
    ----------
    arrays : tuple or list of array
        Only their lengths along `axis` may differ.
    axis : int or None
        If None, all arrays are flattened first, in C order.

    Returns
    -------
    array
        Has the dtype that those of all arrays promote to.

    Raises
    ------
    TypeError
        If `arrays` is not a tuple or list, contains anything but arrays, or the dtypes do not promote to a common one.
    ValueError
        If there is no array, or the shapes differ along another axis.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.concat([xp.asarray([[1], [2]]), xp.asarray([[3, 4], [5, 6]])], axis=1)
    Array([[1, 3, 4],
           [2, 5, 6]], dtype=int64, device='cpu')
    """
    return concat_named("concat", _name_arrays(arrays, "concat"), axis)


@sequence_function
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Join arrays along a new axis.

    Parameters
    ----------
    arrays : tuple or list of array
        Of the same shape.
    axis : int
        The position of the new axis in the result.

    Returns
    -------
    array
        Has the dtype that those of all arrays promote to, and one axis more.

    Raises
    ------
    TypeError
        If `arrays` is not a tuple or list, contains anything but arrays, or the dtypes do not promote to a common one.
    ValueError
        If there is no array, or the shapes differ.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=1)
    Array([[1, 3],
           [2, 4]], dtype=int64, device='cpu')
    """
    named = _name_arrays(arrays, "stack")
    return call(_plan_stack, "stack", tuple(named), tuple(named.values()), axis)


def concat_named(function: str, arrays: dict[str, Any], axis: int | None) -> Any:
    """`concat` for a public `function`. The keys of `arrays` are their names in errors."""
    return call(_plan_concat, function, tuple(arrays), tuple(arrays.values()), axis, function, Fixed(arrays))


def _name_arrays(arrays: Any, function: str) -> dict[str, Any]:
    if not isinstance(arrays, (tuple, list)):
        raise TypeError(f"{function}: arrays is {describe(arrays)}; accepted: a tuple or list of arrays")
    if not arrays:
        raise ValueError(f"{function}: arrays is empty; accepted: one array or more")
    return {f"arrays[{i}]": x for i, x in enumerate(arrays)}


@differentiable(whole=derivative.stack)
def _plan_stack(engine: Engine, specs: tuple[Operand, ...], axis: Any) -> Program:
    names = [f"arrays[{number}]" for number in range(len(specs))]
    parts = [require_array(spec, "stack", name) for spec, name in zip(specs, names, strict=True)]
    first = parts[0]
    place = views.axis_of(axis, first.ndim + 1, "stack")
    for part, name in zip(parts, names, strict=True):
        if part.shape != first.shape:
            raise ValueError(f"stack: {name} has shape {part.shape} and {names[0]} {first.shape}; accepted: the same")
    dtype = promote([part.dtype for part in parts], "stack")
    out = layout_of(dtype, (*first.shape[:place], len(parts), *first.shape[place:]), None, first.device)
    wide = [
        layout_of(part.dtype, (*part.shape[:place], 1, *part.shape[place:]), strides, part.device, part.align)
        for part in parts
        for strides in [(*part.strides[:place], 0, *part.strides[place:])]
    ]
    return Program((out,), join_along(engine, wide, place, out))


@differentiable(whole=derivative.concat)
def _plan_concat(
    engine: Engine, specs: tuple[Operand, ...], axis: Any, function: str, names: tuple[str, ...]
) -> Program:
    parts = [require_array(spec, function, name) for spec, name in zip(specs, names, strict=True)]
    dtype, device = promote([part.dtype for part in parts], function), parts[0].device
    if axis is None:
        out = layout_of(dtype, (sum(part.size for part in parts),), None, device)
        return Program((out,), join_flat(engine, parts, out))
    axis = views.axis_of(axis, parts[0].ndim, function)
    _require_alike(parts, axis, function, names)
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    out = layout_of(dtype, tuple(shape), None, device)
    return Program((out,), join_along(engine, parts, axis, out))


def _require_alike(parts: list[Layout], axis: int, function: str, names: tuple[str, ...]) -> None:
    first = parts[0]
    for part, name in zip(parts, names, strict=True):
        if part.ndim != first.ndim or _shape_without(part, axis) != _shape_without(first, axis):
            raise ValueError(
                f"{function}: {name} has shape {part.shape} and {names[0]} {first.shape}; "
                f"accepted: the same but along axis {axis}"
            )


def _shape_without(layout: Layout, axis: int) -> tuple[int, ...]:
    return layout.shape[:axis] + layout.shape[axis + 1 :]
