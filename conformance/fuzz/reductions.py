"""Reductions, scans, and what sorts or counts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Literal

import numpy as np

import xpops as xp
from conformance.fuzz import errors
from conformance.fuzz.forms import (
    Drawn,
    Function,
    Spec,
    boolean,
    common,
    draw_shape,
    index,
    of_parts,
    of_sums,
)
from conformance.fuzz.values import BOOL, COMPLEX, FLOATS, HALVES, INTEGERS, DType
from conformance.references import reduced, sizes
from xpops.core import dtypes as dt
from xpops.ops.reduction import REDUCTIONS, Reduction
from xpops.ops.scan import SCANS
from xpops.testing.layouts import Shape

REAL = (*INTEGERS, *FLOATS)
NUMBERS = (*REAL, *COMPLEX)
WIDE_FLOATS = tuple(map(np.dtype, ("float32", "float64")))


def _axes(random: Random, shape: Shape) -> int | tuple[int, ...] | None:
    kind = random.random()
    if kind < 0.25 or not shape:
        return None
    if kind < 0.75:
        return random.randrange(-len(shape), len(shape))
    return tuple(sorted(random.sample(range(len(shape)), random.randint(1, len(shape)))))


def reduction(domain: str = "any", empty: bool = True) -> Callable[[Random, DType], Drawn]:
    """One operand, some of its axes, ``keepdims``. Without `empty`, there are elements."""

    def draw(random: Random, dtype: DType) -> Drawn:
        shape = draw_shape(random)
        while not empty and 0 in shape:
            shape = draw_shape(random)
        named: dict[str, Any] = {"axis": _axes(random, shape)}
        if random.random() < 0.3:
            named["keepdims"] = True
        return (Spec(dtype, shape, domain=domain),), named

    return draw


def positions(random: Random, dtype: DType) -> Drawn:
    """A reduction along one axis or all."""
    operands, named = reduction("any", empty=False)(random, dtype)
    if isinstance(named["axis"], tuple):
        named["axis"] = named["axis"][0]
    return operands, named


def along_axis(domain: str = "any", empty: bool = True) -> Callable[[Random, DType], Drawn]:
    """One operand of at least one axis, and one of these."""

    def draw(random: Random, dtype: DType) -> Drawn:
        shape = draw_shape(random, 1)
        while not empty and 0 in shape:
            shape = draw_shape(random, 1)
        return (Spec(dtype, shape, domain=domain),), {"axis": random.randrange(-len(shape), len(shape))}

    return draw


def _sorting(random: Random, dtype: DType) -> Drawn:
    operands, named = along_axis()(random, dtype)
    return operands, {**named, "descending": random.random() < 0.4}


def _sort(x: Any, axis: int, descending: bool) -> Any:
    """NaNs come last in either order."""
    if not descending:
        return np.sort(x, axis=axis)
    return -np.sort(-x, axis=axis) if x.dtype.kind == "f" else np.flip(np.sort(x, axis=axis), axis)


def _argsort(x: Any, axis: int, descending: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    # Equal elements keep their order: sort the mirrored array, mirror the result.
    mirrored = np.argsort(np.flip(x, axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - np.flip(mirrored, axis)


def _searching(random: Random, dtype: DType) -> Drawn:
    length = random.choice([1, 7, 255, 4097])
    values = Spec(dtype, draw_shape(random), domain="finite")
    return (Spec(dtype, (length,), domain="finite"), values), {"side": random.choice(["left", "right"])}


def _search(x: Any, values: Any, side: Literal["left", "right"]) -> Any:
    return np.asarray(np.searchsorted(np.sort(x), values, side=side), np.int64)


def _sorted_first(x: Any, values: Any, side: str) -> Any:
    return xp.searchsorted(xp.sort(x), values, side=side)


def _softmax(x: Any, axis: int) -> Any:
    weights = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def _choosing(random: Random, dtype: DType) -> Drawn:
    (x,), named = along_axis("finite", empty=False)(random, dtype)
    assert isinstance(x, Spec)
    return (x,), {"k": random.randint(1, min(x.shape[named["axis"]], 40)), **named}


def _largest(x: Any, k: int, axis: int) -> Any:
    return np.take(np.flip(np.sort(x, axis=axis), axis), range(k), axis)


def _counting(random: Random, dtype: DType) -> Drawn:
    return (Spec(dtype, (random.choice([1, 33, 4097]),), domain="<9"),), {}


def _count(x: Any) -> Any:
    return np.bincount(x.astype(np.int64), minlength=9)


def _adding(random: Random, dtype: DType) -> Drawn:
    count = random.choice([1, 9, 300])
    return (
        Spec(dtype, (7, 5), domain="finite"),
        Spec(np.dtype("int64"), (count,), domain="<7"),
        Spec(dtype, (count, 5), domain="finite"),
    ), {}


def _index_add(x: Any, index: Any, source: Any) -> Any:
    result = x.copy()
    np.add.at(result, index, source)
    return result


def _added_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, index, source = operands
    return 300 * errors.eps(dtype) * _index_add(np.abs(x), index, np.abs(source))


def _cumulate(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's scan, in the dtype of the standard."""

    def scan(x: Any, axis: int, include_initial: bool = False) -> Any:
        wide = x.astype(of_sums([x.dtype])) if x.dtype.kind in "iub" else x
        return function(wide, axis=axis, include_initial=include_initial)

    return scan


def _scan(domain: str) -> Callable[[Random, DType], Drawn]:
    def draw(random: Random, dtype: DType) -> Drawn:
        operands, named = along_axis(domain)(random, dtype)
        return operands, {**named, "include_initial": True} if random.random() < 0.2 else named

    return draw


def _norm(x: Any, axis: Any, keepdims: bool = False) -> Any:
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims))


_RESULTS: dict[str, Callable[..., DType]] = {"bool": boolean, "index": index, "real": of_parts, "sum": of_sums}


def _draw(op: Reduction) -> Callable[[Random, DType], Drawn]:
    if op.positional:
        return positions
    plain = reduction(op.domain, op.empty is not None)

    def draw(random: Random, dtype: DType) -> Drawn:
        operands, named = plain(random, dtype)
        return operands, {**named, "correction": random.choice([0, 1, 0.0, 1.0, True])}

    return draw if op.dispersion else plain


def _running_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """As for sums. In float64 one rounding for each element is added up besides: equal elements round alike."""
    allowed = errors.of_sums(np.cumulative_sum)(operands, exact, dtype, parameters)
    if dtype != np.float64:  # narrower dtypes are added in float64
        return allowed
    (x,) = operands
    return allowed + SCANS["cumulative_sum"].share(dtype, x.size) * np.cumulative_sum(np.abs(x), **parameters)


def _row(op: Reduction) -> Function:
    """A row's function, and the error that the row allows."""
    result = _RESULTS.get(op.result, common)

    def oracle(x: Any, **named: Any) -> Any:
        return reduced(op, x, **named)

    def bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
        (x,) = operands
        assert op.share is not None
        size = np.abs(exact if op.dispersion else sizes(op, x, **parameters))
        count = x.size // max(exact.size, 1)
        computed = np.dtype(np.float32) if dtype in HALVES else dtype
        # Each operation may lose the smallest number.
        allowed = errors.eps(dtype) * np.abs(exact) + op.share(dtype, count) * size + count * errors.smallest(dtype)
        if op.dispersion:  # of equal numbers, which differ from their rounded mean
            lost = 8 * errors.eps(computed) * np.max(np.abs(x), initial=0.0)
            return allowed + (lost if op.root else lost**2)
        # Where the sum of a mean overflows, so does the mean, as NumPy's.
        return np.where(size * count >= float(np.finfo(computed).max), np.inf, allowed) if op.averages else allowed

    accepted = tuple(each for each in (BOOL, *NUMBERS) if each in dt.CATEGORIES[op.accepts])
    return Function(op.name, _draw(op), accepted, oracle, result, bound if op.share else None)


FUNCTIONS = [
    *map(_row, REDUCTIONS.values()),
    Function("nansum", reduction(), FLOATS, np.nansum, of_sums, errors.of_sums(np.nansum)),
    Function("nanmax", reduction("finite", empty=False), FLOATS, np.nanmax, common),
    Function("median", reduction("finite", empty=False), WIDE_FLOATS, np.median, common, errors.ulps()),
    Function("nn.topk", _choosing, REAL, _largest, common, call=lambda x, k, axis: xp.nn.topk(x, k, axis=axis).values),
    Function(
        "nn.bincount",
        _counting,
        INTEGERS,
        lambda x: np.bincount(x.astype(np.int64), minlength=9),
        index,
        call=lambda x: xp.nn.bincount(x, minlength=9),
    ),
    Function("nn.index_add", _adding, WIDE_FLOATS, _index_add, lambda dtypes, _: dtypes[0], _added_bound),
    Function("linalg.vector_norm", reduction("finite"), (*WIDE_FLOATS, *COMPLEX), _norm, of_parts, errors.ulps(64, 64)),
    Function(
        "cumulative_sum",
        _scan("finite"),
        (*INTEGERS, *FLOATS),
        _cumulate(np.cumulative_sum),
        of_sums,
        _running_bound,
    ),
    Function("cumulative_prod", _scan("small"), INTEGERS, _cumulate(np.cumulative_prod), of_sums),
    Function("sort", _sorting, (BOOL, *REAL), _sort, common),
    Function("argsort", _sorting, (BOOL, *INTEGERS), _argsort, index),
    Function("searchsorted", _searching, REAL, _search, index, call=_sorted_first),
    Function(
        "unique_values",
        lambda random, dtype: ((Spec(dtype, draw_shape(random), domain="small"),), {}),
        REAL,
        np.unique,
        common,
        gradient="refused",
    ),
    Function(
        "nn.softmax",
        along_axis("finite", empty=False),
        FLOATS,
        _softmax,
        common,
        errors.ulps(12),
    ),
]
