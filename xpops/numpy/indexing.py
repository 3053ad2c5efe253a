"""Taking and writing elements by indices and masks. Functions that NumPy lets write write arrays of any framework."""

from __future__ import annotations

from math import prod
from typing import Any

from xpops.api import indexing
from xpops.api.creation.conversion import asarray
from xpops.api.creation.ranges import arange
from xpops.api.data_types import astype, result_type
from xpops.api.flat import put as _put
from xpops.api.flat import resolve_mode
from xpops.api.fusion import fuse
from xpops.api.linalg.products import diagonal as _diagonal
from xpops.api.manipulation.axes import moveaxis
from xpops.api.manipulation.shapes import reshape
from xpops.api.searching import nonzero
from xpops.api.searching import where as _where
from xpops.api.statistics.sums import cumulative_sum
from xpops.arrays import Array, adopt_foreign
from xpops.arrays.indexing.values import holds
from xpops.core import dtypes as dt
from xpops.core.promotion import SCALAR_TYPES, scalar_dtype
from xpops.numpy.arguments import arrays_of, compute_on_arrays, given, is_scalar, on_arrays, on_device_of, store
from xpops.numpy.elementwise import truth
from xpops.numpy.reductions import line

__all__ = [
    "choose", "compress", "copyto", "diag_indices", "diagonal", "fill_diagonal", "ix_", "piecewise", "place",
    "put", "put_along_axis", "putmask", "ravel_multi_index", "select", "take", "take_along_axis",
    "unravel_index",
]  # fmt: skip


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """As `numpy.take`."""
    x, along = line(a, axis)
    places = resolve_mode(on_device_of(x, indices), x.shape[along], mode, "take")
    return store(indexing.take(x, places, axis=along), out, "take")


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """As `numpy.take_along_axis`."""
    x, along = line(arr, axis)
    return indexing.take_along_axis(x, on_device_of(x, indices), axis=along)


def _on(x: Array, values: Any) -> Array:
    """`values` as an array on the device of `x`, in its dtype."""
    found = asarray(values, device=x.device)
    return astype(found, x.dtype, copy=False)


def _write_back(x: Array, flat: Array) -> None:
    x[...] = reshape(flat, x.shape)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """As `numpy.put`: writes `v`, repeated, to places in C order."""
    _put(adopt_foreign(a, "put", "a"), ind, v, mode)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """As `numpy.put_along_axis`."""
    x = adopt_foreign(arr, "put_along_axis", "arr")
    y, along = (reshape(x, (-1,)), 0) if axis is None else (x, axis % x.ndim)
    places = asarray(indices, device=x.device)
    key = [
        places if place == along else reshape(arange(length, device=x.device), _line(place, y.ndim))
        for place, length in enumerate(y.shape)
    ]
    y[tuple(key)] = _on(x, values)
    if axis is None:
        _write_back(x, y)


def _line(place: int, ndim: int) -> list[int]:
    return [-1 if axis == place else 1 for axis in range(ndim)]


def place(arr: Any, mask: Any, vals: Any) -> None:
    """As `numpy.place`: writes `vals`, repeated, where the mask is true."""
    x = adopt_foreign(arr, "place", "arr")
    chosen = reshape(truth(asarray(mask, device=x.device)), x.shape)
    values = reshape(_on(x, vals), (-1,))
    if values.size > 1:
        counts = cumulative_sum(reshape(chosen, (-1,)), dtype=dt.int32 if x.size < 1 << 31 else dt.int64)
        values = reshape(indexing.take(values, _number(counts, values.size)), x.shape)
    _where(chosen, values, x, out=x)


@fuse
def _number(counts: Any, size: Any) -> Any:
    """The number of the value for the last element that is counted."""
    return (counts - 1) % size


def putmask(a: Any, mask: Any, values: Any) -> None:
    """As `numpy.putmask`: where the mask is true, writes the element of `values`, repeated, of the same number."""
    x = adopt_foreign(a, "putmask", "a")
    chosen = reshape(truth(asarray(mask, device=x.device)), x.shape)
    each = reshape(_on(x, values), (-1,))
    if 1 != each.size < x.size:
        each = indexing.take(each, arange(x.size, device=x.device) % each.size)
    _where(chosen, each if each.size == 1 else reshape(each[: x.size], x.shape), x, out=x)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """As `numpy.copyto`; `casting` is "same_kind" or "unsafe"."""
    x = adopt_foreign(dst, "copyto", "dst")
    values = asarray(src, device=x.device)
    values = _on(x, values) if casting == "unsafe" or is_scalar(src) else values
    x[...] = values if where is True else _where(truth(asarray(where, device=x.device)), values, x)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """As `numpy.fill_diagonal`."""
    x = adopt_foreign(a, "fill_diagonal", "a")
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: a has {x.ndim} axes; accepted: 2 and more")
    step = x.shape[1] + 1 if x.ndim == 2 else 1 + sum(prod(x.shape[place:]) for place in range(1, x.ndim))
    stop = None if wrap or x.ndim > 2 else x.shape[1] ** 2
    flat = reshape(x, (-1,))
    target = flat[:stop:step]
    if isinstance(val, SCALAR_TYPES) and scalar_dtype(type(val), x.dtype) == x.dtype and holds(x.dtype, val):
        target[...] = val
    else:
        values = reshape(_on(x, val), (-1,))
        if 1 < values.size < target.size:
            values = indexing.take(values, arange(target.size, device=x.device) % values.size)
        target[...] = values if values.size == 1 else values[: target.size]
    _write_back(x, flat)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """As `numpy.choose`, but an index out of range chooses the last array."""
    arrays = {"a": a, **{f"choices[{number}]": each for number, each in enumerate(choices)}}

    def compute(index: Array, *parts: Array) -> Array:
        index = resolve_mode(index, len(parts), mode, "choose")
        found = parts[-1]
        for number in range(len(parts) - 2, -1, -1):
            found = _where(index == number, parts[number], found)
        return found

    return store(compute_on_arrays("choose", compute, arrays), out, "choose")


@on_arrays(2)
def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """As `numpy.compress`. Waits for the device, which counts the elements."""
    x, along = line(a, axis)
    (places,) = nonzero(truth(condition))
    return store(indexing.take(x, places, axis=along), out, "compress")


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """As `numpy.select`: for each element the first choice whose condition is true."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select: there are {len(condlist)} conditions and {len(choicelist)} choices; accepted: as many"
        )
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        mask, value, found = arrays_of((condition, choice, found))
        found = _where(truth(mask), value, found)
    return found


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """As `numpy.piecewise`; functions are called with all of `x`, so that nothing waits for the device."""
    x = given(x)
    conditions = [on_device_of(x, each) for each in (condlist if isinstance(condlist, (list, tuple)) else [condlist])]
    pieces = list(funclist)
    if len(pieces) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: there are {len(pieces)} functions; accepted: {len(conditions)}, or one more")
    values = [piece(x, *args, **kw) if callable(piece) else piece for piece in pieces]
    found: Any = values.pop() if len(values) > len(conditions) else 0
    for condition, value in zip(conditions, values, strict=True):
        found = _where(condition, value, found)
    return astype(found, result_type(x), copy=False)


def diag_indices(n: int, ndim: int = 2, *, device: object = None) -> tuple[Array, ...]:
    """As `numpy.diag_indices`."""
    return (arange(n, device=device),) * ndim  # type: ignore[arg-type]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """As `numpy.diagonal`: a view."""
    return _diagonal(moveaxis(given(a), (axis1, axis2), (-2, -1)), offset=offset)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """As `numpy.ravel_multi_index`; with mode "raise" indices are not checked."""
    if order != "C":
        raise TypeError(f"ravel_multi_index: order is {order!r}; accepted: 'C'")
    arrays = {f"multi_index[{number}]": each for number, each in enumerate(multi_index)}

    def compute(*parts: Array) -> Any:
        found: Any = 0
        for part, length in zip(parts, dims, strict=True):
            found = found * length + resolve_mode(part, length, mode, "ravel_multi_index")
        return found

    return compute_on_arrays("ravel_multi_index", compute, arrays)


@on_arrays()
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """As `numpy.unravel_index`; indices are not checked."""
    if order != "C":
        raise TypeError(f"unravel_index: order is {order!r}; accepted: 'C'")
    found = []
    for length in reversed((shape,) if isinstance(shape, int) else tuple(shape)):
        found.append(indices % length)
        indices = indices // length
    return tuple(reversed(found))


def ix_(*args: Any) -> tuple[Any, ...]:
    """As `numpy.ix_`. A mask makes it wait for the device."""
    found = []
    for number, each in enumerate(map(given, args)):
        places = nonzero(each)[0] if result_type(each) == dt.bool else each
        found.append(reshape(places, _line(number, len(args))))
    return tuple(found)
