"""Padding, beyond the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xpops.api.creation.filling import empty, full, require_integer
from xpops.api.foreign import keeps_framework
from xpops.api.signatures import array_function
from xpops.arrays import Array
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core import symbols
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import SCALAR_TYPES, scalar_dtype
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.plan.cache import BoundedDict

__all__ = ["pad"]

# The modes whose padding is elements of the array.
_REPEATING = ("edge", "reflect", "symmetric", "wrap")
_MODES = ("constant", "empty", *_REPEATING)


@array_function
def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """An array with elements added before and after each axis.

    Parameters
    ----------
    x : array
    pad_width : int or (int, int) or sequence of (int, int) or dict
        The numbers of elements before and after: for all axes, for each axis, or for the axes that are keys of a dict.
    mode : {"constant", "edge", "empty", "reflect", "symmetric", "wrap"}
        The new elements: `constant_values`; the element at the edge; uninitialised; the array reflected, without or
        with a second copy of the element at the edge; the array repeated.
    constant_values : scalar or (scalar, scalar) or sequence of (scalar, scalar)
        The same forms as `pad_width`.

    Returns
    -------
    array
        The dtype of `x`.

    Raises
    ------
    TypeError
        If `pad_width` does not consist of integers, or `constant_values` do not promote to the dtype of `x`.
    OverflowError
        If the dtype of `x` cannot hold an integer of `constant_values`.
    ValueError
        If a width is negative, the number of widths does not fit the axes, the mode is unknown, or it repeats elements
        of an empty axis.
    IndexError
        If a key of `pad_width` is not an axis.

    Examples
    --------
    >>> xp.pad(xp.asarray([1, 2, 3]), (1, 2))
    Array([0, 1, 2, 3, 0, 0], dtype=int64, device='cpu')
    >>> xp.pad(xp.asarray([1, 2, 3]), 2, "reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int64, device='cpu')
    """
    if mode not in _MODES:
        raise ValueError(f"pad: mode is {mode!r}; accepted: {', '.join(map(repr, _MODES))}")
    given = array_layout(x, "pad", "x")
    widths = _widths(pad_width, given.ndim)
    if mode in _REPEATING:
        return call(_plan_repeating, "pad", ("x",), (x,), tuple(widths), mode)
    values = _pairs(constant_values, given.ndim, "constant_values") if mode == "constant" else None
    if values is None or len({repr(value) for pair in values for value in pair}) != 1:
        return _pad_by_values(x, widths, values)
    starts, ends = zip(*widths, strict=True) if widths else ((), ())
    fill = _fill_bytes(_fill_value(values[0][0], given.dtype), given.dtype)
    return call(_plan_constant, "pad", ("x",), (x,), starts, ends, fill)


# (type and text of a scalar, which tell 0.0 from -0.0; dtype) -> the bytes of an element.
_fills: BoundedDict[tuple[type, str, DType], bytes] = BoundedDict(256)


def _fill_bytes(value: Any, dtype: DType) -> bytes:
    """A scalar as an element of a dtype."""
    key = type(value), repr(value), dtype
    found = _fills.get(key)
    if found is None:
        found = _fills[key] = full((), value, dtype=dtype, device="cpu").to_numpy().tobytes()
    return found


def _pairs(given: Any, ndim: int, argument: str) -> list[tuple[Any, Any]]:
    """A pair for each axis."""
    if ndim == 0:
        return []
    if isinstance(given, SCALAR_TYPES) or type(given) in symbols.kinds:
        return [(given, given)] * ndim
    if isinstance(given, Array):
        given = given.to_numpy()
    try:
        array = np.broadcast_to(np.asarray(given, None if isinstance(given, np.ndarray) else object), (ndim, 2))
    except ValueError:
        raise ValueError(
            f"pad: {argument} is {given!r}; accepted: one for all, a pair for all, or a pair for each of {ndim} axes"
        ) from None
    return [(before, after) for before, after in array.tolist()]


def _widths(given: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(given, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in given.items():
            if not isinstance(axis, int) or not -ndim <= axis < ndim:
                raise IndexError(f"pad: pad_width has the axis {axis!r}; accepted: {-ndim} to {ndim - 1}")
            pairs[axis] = _pairs(width, 1, "pad_width")[0]
    else:
        pairs = _pairs(given, ndim, "pad_width")
    for width in (width for pair in pairs for width in pair):
        if type(width) is not int and symbols.scalar_type(width) is not int:
            raise TypeError(f"pad: pad_width is {given!r}; accepted: integers")
        if width < 0:
            raise ValueError(f"pad: pad_width is {given!r}; accepted: 0 and more")
    return [(int(before), int(after)) for before, after in pairs] if symbols.kinds else pairs


@differentiable(derivative.pad_by_indices)
def _plan_repeating(engine: Engine, specs: tuple[Layout], widths: tuple[tuple[int, int], ...], mode: str) -> Program:
    x = specs[0]
    for axis, width in enumerate(widths):
        if any(width) and x.shape[axis] == 0:
            raise ValueError(f"pad: axis {axis} of x is empty; accepted with mode={mode!r}: at least one element")
    out = layout_of(x.dtype, _padded_shape(x.shape, widths), None, x.device)
    starts = tuple(before for before, _ in widths)
    return Program((out,), engine.window(x, starts, out, mode) if out.size else lambda stream, *data: None)


@keeps_framework
@differentiable(derivative.pad_by_values)
def _pad_by_values(x: Array, widths: list[tuple[int, int]], values: list[tuple[Any, Any]] | None) -> Array:
    """`x` with `values` around it. In the corners, values of later axes replace those of earlier axes."""
    shape = _padded_shape(x.shape, widths)
    padded = empty(shape, dtype=x.dtype, device=x.device)
    if values is not None:
        for axis, ((before, after), pair) in enumerate(zip(widths, values, strict=True)):
            everything = (slice(None),) * axis
            padded[(*everything, slice(before))] = _fill_value(pair[0], x.dtype)
            padded[(*everything, slice(shape[axis] - after, None))] = _fill_value(pair[1], x.dtype)
    padded[tuple(slice(before, before + length) for length, (before, _) in zip(x.shape, widths, strict=True))] = x
    return padded


def _padded_shape(shape: tuple[int, ...], widths: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(length + before + after for length, (before, after) in zip(shape, widths, strict=True))


@differentiable(derivative.pad)
def _plan_constant(
    engine: Engine, specs: tuple[Layout], starts: tuple[int, ...], ends: tuple[int, ...], fill: bytes
) -> Program:
    x = specs[0]
    shape = _padded_shape(x.shape, tuple(zip(starts, ends, strict=True)))
    out = layout_of(x.dtype, shape, None, x.device)
    return Program((out,), engine.window(x, starts, out, fill) if out.size else lambda stream, *data: None)


def _fill_value(value: Any, dtype: DType) -> Any:
    """`value`, after a check that it promotes to the dtype of `x`. 0 and 1 become bool for a boolean `x`."""
    if dtype == dt.bool and value in (0, 1):
        return bool(value)
    if not isinstance(value, SCALAR_TYPES) or scalar_dtype(type(value), dtype) != dtype:
        raise TypeError(f"pad: constant_values has {value!r}; accepted for {dtype}: a scalar that promotes to it")
    if dtype in dt.CATEGORIES["integer"]:
        require_integer(value, dtype, "constant_values", "pad")
    return value
