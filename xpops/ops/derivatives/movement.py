"""The derivatives of functions that move, copy, select and sort elements."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from xpops.core.symbols import scalar_type
from xpops.ops.derivatives.axes import Shape, reduced_axes, sliced


def concat(xp: Any, g: Any, shapes: tuple[Shape, ...], axis: int | None) -> tuple[Any, ...]:
    parts, start = [], 0
    for shape in shapes:
        length = prod(shape) if axis is None else shape[axis]
        part = g[sliced(g.ndim, axis or 0, slice(start, start + length))]
        parts.append(xp.reshape(part, shape) if axis is None else part)
        start += length
    return tuple(parts)


def stack(xp: Any, g: Any, axis: int) -> tuple[Any, ...]:
    return tuple(xp.unstack(g, axis=axis))


def repeat(xp: Any, g: Any, x_shape: Shape, axis: int | None, count: int) -> Any:
    if axis is None:
        return xp.reshape(xp.sum(xp.reshape(g, (prod(x_shape), count)), axis=1), x_shape)
    place = axis % len(x_shape)
    return xp.sum(xp.reshape(g, (*x_shape[: place + 1], count, *x_shape[place + 1 :])), axis=place + 1)


def tile(xp: Any, g: Any, x_shape: Shape, counts: Shape) -> Any:
    ndim = max(len(x_shape), len(counts))
    times, lengths = (1,) * (ndim - len(counts)) + counts, (1,) * (ndim - len(x_shape)) + x_shape
    pairs = xp.reshape(g, tuple(n for pair in zip(times, lengths, strict=True) for n in pair))
    return xp.reshape(xp.sum(pairs, axis=tuple(range(0, 2 * ndim, 2))), x_shape)


def roll(xp: Any, g: Any, shifts: Shape, axes: tuple[int, ...] | None) -> Any:
    back = tuple(-shift for shift in shifts)
    return xp.roll(g, back[0]) if axes is None else xp.roll(g, back, axis=axes)


def flip(xp: Any, g: Any, axes: tuple[int, ...]) -> Any:
    return xp.flip(g, axis=axes)


def pad(xp: Any, g: Any, x_shape: Shape, starts: Shape) -> Any:
    return g[tuple(slice(start, start + length) for start, length in zip(starts, x_shape, strict=True))]


def padded_places(length: int, width: tuple[int, int], mode: str) -> Any:
    """The place in an axis of each element of the padded axis."""
    return np.pad(np.arange(length), width, mode)  # type: ignore[call-overload]


def pad_by_indices(xp: Any, g: Any, x_shape: Shape, widths: list[tuple[int, int]], mode: str) -> Any:
    shape = xp.facts(g).shape
    for axis in reversed(range(len(x_shape))):
        if any(widths[axis]):
            places = xp.like(g, xp.asarray(padded_places(int(x_shape[axis]), widths[axis], mode)))
            g = take(xp, g, places, (*shape[:axis], x_shape[axis], *xp.facts(g).shape[axis + 1 :]), axis)
    return g


def pad_by_values(xp: Any, g: Any, x_shape: Shape, widths: list[tuple[int, int]]) -> Any:
    return pad(xp, g, x_shape, tuple(before for before, _ in widths))


def band(xp: Any, g: Any, low: int | None, high: int | None) -> Any:
    return xp.tril(g, k=high) if low is None else xp.triu(g, k=low)


def diff(xp: Any, g: Any, x_shape: Shape, axis: int, n: int) -> Any:
    if n > x_shape[axis]:
        return xp.like(g, xp.zeros(x_shape, dtype=xp.facts(g).dtype))
    found = xp.diff(xp.pad(g, {axis % len(x_shape): (n, n)}), axis=axis, n=n)
    return xp.negative(found) if n % 2 else found


def take(xp: Any, g: Any, indices: Any, x_shape: Shape, axis: int | None) -> Any:
    """The sums of the slices of `g` at equal indices."""
    place = (axis or 0) % len(x_shape)
    before, length, after = x_shape[:place], x_shape[place], x_shape[place + 1 :]
    if scalar_type(indices) is int:
        at = indices % length
        return xp.pad(xp.expand_dims(g, axis=place), {place: (at, length - 1 - at)})
    at = xp.reshape(_from_front(xp, indices, length), (-1,))
    count = prod(xp.facts(indices).shape)
    if before:
        g = xp.moveaxis(xp.reshape(g, (prod(before), count, prod(after))), 1, 0)
    rows = xp.reshape(g, (count, prod(before) * prod(after)))
    sums = xp.by_parts(lambda part: xp.nn.embedding_backward(part, at, length), rows)
    if before:
        sums = xp.moveaxis(xp.reshape(sums, (length, prod(before), prod(after))), 0, 1)
    return xp.reshape(sums, x_shape)


def take_along_axis(xp: Any, g: Any, indices: Any, x_shape: Shape, axis: int) -> Any:
    place, shape = axis % len(x_shape), xp.facts(g).shape
    at = _from_front(xp, indices, x_shape[place])
    if xp.facts(at).shape != shape:
        at = xp.broadcast_to(at, shape)
    return xp.by_parts(lambda part: xp.sums_at(part, at, place, x_shape[place]), g)


def _from_front(xp: Any, indices: Any, length: int) -> Any:
    """Valid indices of an axis as int64, of which negative ones are counted from the front."""
    return xp.remainder(xp.astype(indices, xp.int64, copy=False), length)


def sort(xp: Any, g: Any, x: Any, y: Any, parts: tuple[str, ...], axis: int, descending: bool, count: Any) -> Any:
    """The cotangents of sorted elements, at the places of the elements before."""
    values, indices = g, None
    if len(parts) == 2:
        (values, _), (_, indices) = g, y
    if count is None:
        if indices is None:
            indices = xp.argsort(x, axis=axis, descending=descending)
        return xp.take_along_axis(values, xp.argsort(indices, axis=axis), axis=axis)
    return take_along_axis(xp, values, indices, xp.facts(x).shape, axis)


def median(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any) -> Any:
    """The cotangents of the one or two middle elements of sorted lines."""
    lines = lines_of(xp, x, x_shape, axis)
    length = xp.facts(lines).shape[-1]
    middle = slice((length - 1) // 2, length // 2 + 1)
    indices = xp.argsort(lines)[(..., middle)]
    shape = xp.facts(indices).shape
    shares = xp.broadcast_to(xp.divide(xp.reshape(g, (*shape[:-1], 1)), shape[-1]), shape)
    return from_lines(xp, take_along_axis(xp, shares, indices, xp.facts(lines).shape, -1), x_shape, axis)


def lines_of(xp: Any, x: Any, shape: Shape, axis: Any) -> Any:
    """`x` of `shape` with the reduced axes merged into one, which is the last."""
    axes = reduced_axes(shape, axis)
    kept = tuple(each for each in range(len(shape)) if each not in axes)
    lengths = tuple(shape[each] for each in kept)
    return xp.reshape(xp.permute_dims(x, (*kept, *axes)), (*lengths, prod(shape[each] for each in axes)))


def from_lines(xp: Any, lines: Any, shape: Shape, axis: Any) -> Any:
    """The array of `shape` that has these lines."""
    axes = reduced_axes(shape, axis)
    order = (*(each for each in range(len(shape)) if each not in axes), *axes)
    turned = xp.reshape(lines, tuple(shape[each] for each in order))
    return xp.permute_dims(turned, tuple(order.index(each) for each in range(len(order))))
