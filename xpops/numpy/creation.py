"""New arrays."""

from __future__ import annotations

from typing import Any

import numpy

from xpops.api.creation import filling, matrices, ranges
from xpops.api.creation.conversion import asarray as _asarray
from xpops.api.data_types import astype
from xpops.api.elementwise.arithmetic import add, divide, multiply, subtract
from xpops.api.elementwise.powers import pow
from xpops.api.linalg.products import diagonal
from xpops.api.manipulation.axes import moveaxis
from xpops.api.manipulation.padding import pad
from xpops.api.manipulation.shapes import broadcast_to, reshape
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.frameworks.registry import adapter_of
from xpops.numpy.arguments import arrays_of, compute_on_arrays, dtype_of, floating, given, is_scalar, on_arrays
from xpops.numpy.shapes import broadcast_arrays

__all__ = [
    "arange", "array", "asarray", "ascontiguousarray", "copy", "diag", "diagflat", "empty", "empty_like", "eye",
    "fromfunction", "full", "full_like", "geomspace", "identity", "indices", "linspace", "logspace", "meshgrid",
    "mgrid", "ogrid", "ones", "ones_like", "tri", "tril", "tril_indices", "triu", "triu_indices", "vander",
    "zeros", "zeros_like",
]  # fmt: skip


def array(object: Any, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0, device: Any = None) -> Array:
    """As `numpy.array`: an array of ours. Nested lists that contain arrays on a GPU copy them to the host."""
    found = _asarray(object, dtype=dtype, device=device, copy=copy)
    return found if found.ndim >= ndmin else found[(None,) * (ndmin - found.ndim)]


def asarray(a: Any, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> Array:
    """As `numpy.asarray`: an array of ours, on the same memory where that is possible."""
    return _asarray(a, dtype=dtype, device=device, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None) -> Array:
    """As `numpy.ascontiguousarray`: in C order, with one axis or more."""
    found = _asarray(a, dtype=dtype)
    found = found if found._layout.contiguous else found.copy()
    whole = found if found._layout.contiguous else reshape(found, (-1,), copy=True)
    line: Array = reshape(whole, found.shape or (1,))
    return line


def copy(a: Any) -> Any:
    """As `numpy.copy`."""
    a = given(a)
    return astype(a, dtype_of(a))


_copy = copy


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """As `numpy.zeros`."""
    return filling.zeros(shape, dtype=dtype, device=device)


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """As `numpy.ones`."""
    return filling.ones(shape, dtype=dtype, device=device)


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """As `numpy.empty`."""
    return filling.empty(shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """As `numpy.full`: `fill_value` broadcasts."""
    if is_scalar(fill_value):
        return filling.full(shape, fill_value, dtype=dtype, device=device)
    return array(broadcast_to(_asarray(fill_value, dtype=dtype, device=device), shape))


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """As `numpy.zeros_like`."""
    return full_like(a, 0, dtype, shape=shape, device=device)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """As `numpy.ones_like`."""
    return full_like(a, 1, dtype, shape=shape, device=device)


def empty_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """As `numpy.empty_like`."""
    return _like(lambda a: filling.empty(a.shape if shape is None else shape, **_facts(a, dtype, device)), a)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """As `numpy.full_like`."""
    return _like(lambda a: full(a.shape if shape is None else shape, fill_value, **_facts(a, dtype, device)), a)


def _facts(a: Array, dtype: Any, device: Any) -> dict[str, Any]:
    return {"dtype": a.dtype if dtype is None else dtype, "device": a.device if device is None else device}


def _like(make: Any, a: Any) -> Any:
    adapter = adapter_of(type(a))
    return compute_on_arrays("full_like", make, {"a": a if adapter is None else adapter.without_gradient(a)})


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> Array:
    """As `numpy.arange`."""
    first, last, step = (each.item() if hasattr(each, "item") else each for each in (start, stop, step))
    return ranges.arange(first, last, step, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """As `numpy.linspace`: `start` and `stop` may be arrays."""
    parts = num - 1 if endpoint else num
    if is_scalar(start) and is_scalar(stop):
        step: Any = (stop - start) / parts if parts else numpy.nan
        found: Any = ranges.linspace(start, stop, num, dtype=dtype, device=device, endpoint=endpoint)
        return (found, step) if retstep else found

    def compute(start: Array, stop: Array) -> Any:
        first, last = floating(start), floating(stop)
        span = subtract(last, first)
        step = divide(span, parts) if parts else multiply(span, numpy.nan)
        places = reshape(ranges.arange(num, dtype=dt.float64, device=span.device), (num, *[1] * span.ndim))
        found = add(multiply(places, divide(span, max(parts, 1))), first)
        if endpoint and num > 1:
            found[-1, ...] = last
        found = moveaxis(found if dtype is None else astype(found, dtype), 0, axis)
        return (found, step) if retstep else found

    return compute_on_arrays("linspace", compute, {"start": start, "stop": stop})


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """As `numpy.logspace`."""
    found = pow(base, linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else astype(found, dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """As `numpy.geomspace`, of real numbers of one sign; ValueError for an end that is 0, which reads the ends."""
    ends: list[Any] = [numpy.asarray(each if is_scalar(each) else _asarray(each).to_numpy()) for each in (start, stop)]
    made = numpy.geomspace(ends[0], ends[1], num, endpoint, axis=axis)
    return _asarray(made, dtype=dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, device: Any = None) -> Array:
    """As `numpy.eye`."""
    return matrices.eye(N, M, k=k, dtype=dtype, device=device)


def identity(n: int, dtype: Any = None, *, device: Any = None) -> Array:
    """As `numpy.identity`."""
    return matrices.eye(n, dtype=dtype, device=device)


def diag(v: Any, k: int = 0) -> Any:
    """As `numpy.diag`: a matrix with a vector as its diagonal, or the diagonal of a matrix."""
    v = given(v)
    if v.ndim == 2:
        return diagonal(v, offset=k)
    if v.ndim != 1:
        raise ValueError(f"diag: v has {v.ndim} axes; accepted: 1 or 2")
    count = v.shape[0] + abs(k)
    below, right = max(-k, 0), max(k, 0)
    # Rows of one element more than those of the result: in memory the elements are as far apart as on its diagonal.
    wide = pad(reshape(v, (v.shape[0], 1)), ((below, right), (right, count - right)))
    return reshape(reshape(wide, (-1,))[below : below + count * count], (count, count))


def diagflat(v: Any, k: int = 0) -> Any:
    """As `numpy.diagflat`: a matrix with all elements as its diagonal."""
    return diag(reshape(given(v), (-1,)), k)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, device: Any = None) -> Array:
    """As `numpy.tri`: ones at and below a diagonal."""
    made: Array = matrices.tril(filling.ones((N, N if M is None else M), dtype=dtype, device=device), k=k)
    return made


def tril(m: Any, k: int = 0) -> Any:
    """As `numpy.tril`."""
    return matrices.tril(given(m), k=k)


def triu(m: Any, k: int = 0) -> Any:
    """As `numpy.triu`."""
    return matrices.triu(given(m), k=k)


def tril_indices(n: int, k: int = 0, m: int | None = None, *, device: Any = None) -> tuple[Array, ...]:
    """As `numpy.tril_indices`. The host computes them."""
    return tuple(_asarray(each, device=device) for each in numpy.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None, *, device: Any = None) -> tuple[Array, ...]:
    """As `numpy.triu_indices`. The host computes them."""
    return tuple(_asarray(each, device=device) for each in numpy.triu_indices(n, k, m))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """As `numpy.meshgrid`."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; accepted: 'xy', 'ij'")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = 1, 0
    lines = [
        reshape(x, [-1 if place == axis else 1 for axis in range(len(xi))])
        for x, place in zip(arrays_of(xi, scalars=True), order, strict=True)
    ]
    if sparse:
        return tuple(lines)
    return tuple([_copy(each) if copy else each for each in broadcast_arrays(*lines)])


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False, *, device: Any = None) -> Any:
    """As `numpy.indices`."""
    lines = [ranges.arange(length, dtype=dtype, device=device) for length in dimensions]
    if sparse:
        return meshgrid(*lines, sparse=True, indexing="ij")
    found = filling.empty((len(lines), *dimensions), dtype=dtype, device=device)
    for place, line in enumerate(meshgrid(*lines, sparse=True, indexing="ij")):
        found[place, ...] = line
    return found


class _Grid:
    """An object that makes an open or a full grid of the slices of its key, as `numpy.ogrid` and `numpy.mgrid` do."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getitem__(self, key: Any) -> Any:
        found = self._grid[key]  # computed on the host: the ends of the slices are numbers
        return tuple(map(_asarray, found)) if isinstance(found, tuple) else _asarray(found)


ogrid, mgrid = _Grid(numpy.ogrid), _Grid(numpy.mgrid)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """As `numpy.fromfunction`: the function is called once, with the coordinates as arrays."""
    return function(*indices(shape, dtype), **kwargs)


@on_arrays()
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """As `numpy.vander`: the powers of a vector as columns."""
    count = x.size if N is None else N
    powers = ranges.arange(count, device=x.device) if increasing else ranges.arange(count - 1, -1, -1, device=x.device)
    base = x if x.dtype not in dt.CATEGORIES["integer or boolean"] else astype(x, dt.int64)
    return pow(reshape(base, (-1, 1)), astype(powers, base.dtype))
