"""Joining and splitting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from xpops.api.creation.conversion import asarray
from xpops.api.creation.ranges import arange
from xpops.api.data_types import astype
from xpops.api.indexing import take
from xpops.api.manipulation import joining
from xpops.api.manipulation.axes import moveaxis
from xpops.api.manipulation.joining import concat_named
from xpops.api.manipulation.shapes import broadcast_to, reshape
from xpops.api.searching import searchsorted, where
from xpops.arrays import Array, adopt_foreign
from xpops.frameworks.registry import adapter_of
from xpops.numpy.arguments import NDArray, arrays_of, given, on_arrays, store
from xpops.numpy.shapes import atleast_1d, atleast_2d, atleast_3d

__all__ = [
    "append", "array_split", "block", "column_stack", "concat", "concatenate", "delete", "dsplit", "dstack",
    "hsplit", "hstack", "insert", "split", "stack", "vsplit", "vstack",
]  # fmt: skip


def _parts(arrays: Any) -> list[Any]:
    """The arrays of a sequence, or of the first axis of an array."""
    return arrays_of(arrays, scalars=True)


def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None) -> Any:
    """As `numpy.concatenate`."""
    found = joining.concat(_parts(arrays), axis=axis)
    return store(found if dtype is None else astype(found, dtype), out, "concatenate")


concat = concatenate


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Any:
    """As `numpy.stack`."""
    found = joining.stack(_parts(arrays), axis=axis)
    return store(found if dtype is None else astype(found, dtype), out, "stack")


def vstack(tup: Any, *, dtype: Any = None) -> Any:
    """As `numpy.vstack`."""
    return concatenate([atleast_2d(each) for each in _parts(tup)], 0, dtype=dtype)


def hstack(tup: Any, *, dtype: Any = None) -> Any:
    """As `numpy.hstack`."""
    parts = [atleast_1d(each) for each in _parts(tup)]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype)


def dstack(tup: Any) -> Any:
    """As `numpy.dstack`."""
    return concatenate([atleast_3d(each) for each in _parts(tup)], 2)


def column_stack(tup: Any) -> Any:
    """As `numpy.column_stack`."""
    parts = _parts(tup)
    return concatenate([reshape(each, (-1, 1)) if each.ndim < 2 else each for each in parts], 1)


def block(arrays: Any) -> Any:
    """As `numpy.block`: nested lists of arrays."""
    depth, leaves = _depth(arrays), _parts(_leaves(arrays))
    ndim = max(depth, *(each.ndim for each in leaves))
    return _block(arrays, iter(leaves), depth, ndim)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _leaves(arrays: Any) -> list[Any]:
    return [leaf for each in arrays for leaf in _leaves(each)] if isinstance(arrays, list) else [arrays]


def _block(arrays: Any, leaves: Iterator[Any], depth: int, ndim: int) -> Any:
    if not isinstance(arrays, list):
        a = next(leaves)
        return reshape(a, (*[1] * (ndim - a.ndim), *a.shape))
    return joining.concat([_block(each, leaves, depth - 1, ndim) for each in arrays], axis=-depth)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """As `numpy.array_split`: views. Places of cuts that are an array are read on the host."""
    ary = given(ary)
    length = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        share, more = divmod(length, indices_or_sections)
        sizes = [share + 1] * more + [share] * (indices_or_sections - more)
        cuts = [sum(sizes[:place]) for place in range(1, len(sizes))]
    else:
        cuts = [int(each) for each in indices_or_sections]
    before = (slice(None),) * (axis % ary.ndim)
    ends = zip([0, *cuts], [*cuts, length], strict=True)
    return [ary[(*before, slice(*_span(start, stop, length)))] for start, stop in ends]


def _span(start: int, stop: int, length: int) -> tuple[int, int]:
    first, last, _ = slice(start, stop).indices(length)
    return first, max(first, last)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """As `numpy.split`: views of equal parts, or between places of cuts."""
    ary = given(ary)
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError(
            f"split: axis {axis} has length {ary.shape[axis]}; accepted: a multiple of {indices_or_sections}"
        )
    return array_split(ary, indices_or_sections, axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """As `numpy.vsplit`."""
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """As `numpy.hsplit`."""
    ary = given(ary)
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """As `numpy.dsplit`."""
    return split(ary, indices_or_sections, 2)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """As `numpy.append`."""
    return joining.concat(arrays_of((arr, values), scalars=True), axis=axis)


# The most elements that are deleted or inserted by joining pieces. More take an index for each element of the result.
_MOST_PIECES = 16


def _on_host(obj: Any) -> Any:
    """A slice, an index, or an array of indices or a mask, as NumPy takes it."""
    if isinstance(obj, Array) or adapter_of(type(obj)) is not None:
        return adopt_foreign(obj, "delete", "obj").to_numpy()
    return obj


def _interval(obj: Any, length: int) -> tuple[int, int] | None:
    """The first and the last place + 1 of an index or a slice of adjacent elements; None for all else."""
    if isinstance(obj, (int, numpy.integer)) and type(obj) is not bool:
        place = int(obj) + length if obj < 0 else int(obj)
        return (place, place + 1) if 0 <= place < length else None
    if isinstance(obj, slice) and obj.step in (None, 1):
        start, stop, _ = obj.indices(length)
        return start, max(start, stop)
    return None


def _places(obj: Any, length: int) -> NDArray | None:
    """The places of a slice or of indices, from the front; None for all else, which NumPy accepts or refuses."""
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(length))
    places = numpy.asarray(obj)
    if places.size == 0 and isinstance(obj, (list, tuple)):
        return numpy.zeros(0, numpy.int64)
    if places.ndim > 1 or places.dtype.kind not in "iu":
        return None
    places = places.reshape(-1).astype(numpy.int64)
    places = numpy.where(places < 0, places + length, places)
    return None if places.size and (places.min() < 0 or places.max() > length) else places


def _part(arr: Array, axis: int, start: int, stop: int) -> Array:
    found: Array = arr[(*[slice(None)] * axis, slice(start, stop))]
    return found


def _join_pieces(function: str, pieces: list[Array], axis: int) -> Array:
    """A new array of the pieces that are not empty."""
    kept = [piece for piece in pieces if piece.shape[axis]] or pieces[:1]
    found: Array = concat_named(function, {f"pieces[{number}]": piece for number, piece in enumerate(kept)}, axis)
    return found


def _taken(arr: Array, order: Any, axis: int) -> Array:
    found: Array = take(arr, asarray(order, device=arr.device), axis=axis)
    return found


@on_arrays()
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """As `numpy.delete`. Indices or a mask are read on the host, which has to know the length of the result."""
    arr, axis = (reshape(arr, (-1,)), 0) if axis is None else (arr, axis % arr.ndim)
    length = arr.shape[axis]
    interval = _interval(obj, length)
    if interval is not None:
        start, stop = interval
        return _join_pieces("delete", [_part(arr, axis, 0, start), _part(arr, axis, stop, length)], axis)
    obj = _on_host(obj)
    if isinstance(obj, numpy.ndarray) and obj.dtype == bool and obj.shape == (length,):
        obj = numpy.flatnonzero(obj)
    places = _places(obj, length)
    if places is None or length in places:  # NumPy refuses it
        return _taken(arr, numpy.delete(numpy.arange(length), obj), axis)
    places = numpy.unique(places)
    jumps = numpy.flatnonzero(numpy.diff(places) != 1)  # between runs of adjacent places
    if len(jumps) < _MOST_PIECES:
        starts = [0, *(places[jumps] + 1).tolist(), *(places[-1:] + 1).tolist()]
        stops = [*places[:1].tolist(), *places[jumps + 1].tolist(), length]
        return _join_pieces("delete", [_part(arr, axis, *ends) for ends in zip(starts, stops, strict=True)], axis)
    kept = arange(length - places.size, device=arr.device)
    before = asarray(places - numpy.arange(places.size), device=arr.device)
    return take(arr, kept + searchsorted(before, kept, side="right"), axis=axis)


@on_arrays()
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """As `numpy.insert`. Indices are read on the host, which has to know where the elements go."""
    arr, axis = (reshape(arr, (-1,)), 0) if axis is None else (arr, axis % arr.ndim)
    obj, length = _on_host(obj), arr.shape[axis]
    if isinstance(obj, numpy.ndarray) and obj.dtype == bool and obj.ndim == 1:
        obj = numpy.flatnonzero(obj)
    places = _places(obj, length)
    known = isinstance(values, Array) or adapter_of(type(values)) is not None
    new = astype(values if known else asarray(values, device=arr.device), arr.dtype)
    new = reshape(new, (*[1] * (arr.ndim - new.ndim), *new.shape))
    if not isinstance(obj, slice) and numpy.ndim(obj) == 0:
        new = moveaxis(new, 0, axis)
    count = new.shape[axis] if places is None or places.size == 1 else max(places.size, new.shape[axis])
    new = broadcast_to(new, (*arr.shape[:axis], count, *arr.shape[axis + 1 :]))
    if places is None or places.size not in (1, count):  # NumPy refuses it
        whole = _join_pieces("insert", [arr, new], axis)
        return _taken(whole, numpy.insert(numpy.arange(length), obj, numpy.arange(length, length + count)), axis)
    if places.size > _MOST_PIECES:
        return _insert_many(arr, places, new, axis)
    order = numpy.argsort(places, kind="stable")
    pieces, start = [], 0
    for number, stop in zip(order.tolist(), places[order].tolist(), strict=True):
        inserted = new if places.size == 1 else _part(new, axis, number, number + 1)
        pieces += [_part(arr, axis, start, stop), inserted]
        start = stop
    return _join_pieces("insert", [*pieces, _part(arr, axis, start, length)], axis)


def _insert_many(arr: Array, places: NDArray, new: Array, axis: int) -> Array:
    """Insert one slice of `new` before each of many places; the device computes where each element comes from."""
    order = numpy.argsort(places, kind="stable")
    after = asarray(places[order] + numpy.arange(places.size), device=arr.device)  # where they are in the result
    at = arange(arr.shape[axis] + places.size, device=arr.device)
    count = searchsorted(after, at, side="right")
    last = (count - 1).clip(0, None)
    inserted = take(asarray(order + arr.shape[axis], device=arr.device), last)
    sources = where(take(after, last) == at, inserted, at - count)
    found: Array = take(_join_pieces("insert", [arr, new], axis), sources, axis=axis)
    return found
