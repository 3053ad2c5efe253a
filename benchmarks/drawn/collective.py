"""Drawn calls that reduce, scan or sort along axes, and activations."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random
from typing import Any

import torch

import xpops as xp
from benchmarks.drawn.call import Call, cupy_function, draw_layout
from benchmarks.drawn.elementwise import TOLERANCE
from benchmarks.drawn.operands import DTYPES, Operand, Shape, draw_dtype, draw_operand, draw_shape, draw_size

_REAL = tuple(name for name in DTYPES if name not in ("bool", "complex64"))
_FLOATS = ("float32", "float16", "bfloat16", "float64")
_REDUCTIONS = {
    "sum": _REAL,
    "prod": _FLOATS,
    "max": _REAL,
    "min": _REAL,
    "mean": _FLOATS,
    "var": _FLOATS,
    "std": _FLOATS,
    "any": tuple(DTYPES),
    "all": tuple(DTYPES),
    "argmax": _REAL,
    "argmin": _REAL,
    "count_nonzero": tuple(DTYPES),
    "vector_norm": _FLOATS,
}
_TORCH = {"max": "amax", "min": "amin"}


def draw_reduction(random: Random, cap: int) -> Call:
    """A reduction along one axis, several or all."""
    name = random.choice(tuple(_REDUCTIONS))
    x = _draw_input(random, _REDUCTIONS[name], cap, "near one" if name == "prod" else "any")
    axes = _draw_axes(random, len(x.shape))
    axis: Any = axes
    if name in ("argmax", "argmin", "prod"):  # torch takes one axis, or none for all
        axis = axes[0] if len(axes) < len(x.shape) else None
    options: dict[str, Any] = {"axis": axis}
    theirs: Callable[..., Any] = getattr(torch, _TORCH.get(name, name), torch.linalg.vector_norm)
    if name == "vector_norm":
        order = random.choice((1, 2, 3, float("inf")))
        call = _call("reduction", name, x, {"axis": axis, "ord": order}, xp.linalg.vector_norm, theirs, None)
        return call._replace(parameters={"axis": axis, "ord": str(order)})  # JSON has no infinity
    more = {"correction": 0} if name in ("var", "std") else {}
    return _call("reduction", name, x, options, getattr(xp, name), theirs, cupy_function(name), more)


def draw_scan(random: Random, cap: int) -> Call:
    """A cumulative sum or product along an axis."""
    name = random.choice(("cumulative_sum", "cumulative_prod"))
    x = _draw_input(
        random, _REAL if name == "cumulative_sum" else _FLOATS, cap, "near one" if "prod" in name else "any"
    )
    axis = random.randrange(len(x.shape))
    short = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}[name]
    return _call("scan", name, x, {"axis": axis}, getattr(xp, name), getattr(torch, short), cupy_function(short))


def draw_sort(random: Random, cap: int) -> Call:
    """A sort, the order of a sort, the largest elements, a search, or the distinct values."""
    name = random.choice(("sort", "argsort", "topk", "searchsorted", "unique_values"))
    if name == "searchsorted":
        return _draw_search(random, cap)
    x = _draw_input(random, _REAL, cap)
    axis = random.randrange(len(x.shape))
    if name == "unique_values":
        return Call("sort", name, (x,), {}, xp.unique_values, torch.unique, cupy_function("unique"), waits=True)
    if name == "topk":
        k = min(x.shape[axis], int(2 ** random.uniform(0, 12)))
        options = {"k": k, "axis": axis}
        return Call(
            "sort",
            name,
            (x,),
            options,
            lambda x: xp.nn.topk(x, k, axis=axis)[0],
            lambda x: torch.topk(x, k, dim=axis)[0],
        )
    down = random.random() < 0.5
    part, cupys = int(name == "argsort"), cupy_function(name)
    return Call(
        "sort",
        name,
        (x,),
        {"axis": axis, "descending": down},
        lambda x: getattr(xp, name)(x, axis=axis, descending=down),
        lambda x: torch.sort(x, dim=axis, descending=down, stable=bool(part))[part],
        None if down or cupys is None else lambda x: cupys(x, axis=axis),
    )


def draw_activation(random: Random, cap: int) -> Call:
    """An activation, or a softmax along an axis."""
    name = random.choice(("softmax", "log_softmax", "gelu", "silu"))
    x = _draw_input(random, _FLOATS, cap)
    ours, theirs = getattr(xp.nn, name), getattr(torch.nn.functional, name)
    if "softmax" not in name:
        return Call("nn", name, (x,), {}, ours, theirs, tolerance=TOLERANCE)
    return _call("nn", name, x, {"axis": random.randrange(len(x.shape))}, ours, theirs, None)


def _draw_search(random: Random, cap: int) -> Call:
    dtype = draw_dtype(random, _REAL)
    size = min(draw_size(random), cap)
    table = draw_operand(random, dtype, (int(2 ** random.uniform(4, 20)),), "contiguous")._replace(values="sorted")
    wanted = draw_operand(random, dtype, draw_shape(random, size), draw_layout(random))
    side, cupys = random.choice(("left", "right")), cupy_function("searchsorted")
    return Call(
        "sort",
        "searchsorted",
        (table, wanted),
        {"side": side},
        lambda x, y: xp.searchsorted(x, y, side=side),
        lambda x, y: torch.searchsorted(x, y, side=side),
        None if cupys is None else lambda x, y: cupys(x, y, side=side),
    )


def _draw_input(random: Random, dtypes: tuple[str, ...], cap: int, domain: str = "any") -> Operand:
    shape = draw_shape(random, min(draw_size(random), cap))
    return draw_operand(random, draw_dtype(random, dtypes), shape, draw_layout(random), domain)


def _draw_axes(random: Random, count: int) -> Shape:
    """All axes, one, or some."""
    kind = random.random()
    if kind < 0.2:
        return tuple(range(count))
    if kind < 0.8:
        return (random.randrange(count),)
    return tuple(sorted(random.sample(range(count), random.randint(1, count))))


def _call(
    family: str,
    name: str,
    x: Operand,
    options: dict[str, Any],
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    cupys: Callable[..., Any] | None,
    more: dict[str, Any] | None = None,
) -> Call:
    """A call with an axis, or axes, and options that all libraries name alike, but for the axis."""
    given = dict(options)
    axis = given.pop("axis")
    named = {**given, **(more or {})}
    count = prod(x.shape[each] for each in ((axis,) if isinstance(axis, int) else axis or range(len(x.shape))))
    return Call(
        family,
        name,
        (x,),
        options,
        lambda x: ours(x, axis=axis, **named),
        lambda x: theirs(x, **named) if axis is None else theirs(x, dim=axis, **named),
        None if cupys is None else lambda x: cupys(x, axis=axis, **given),
        tolerance=0 if name in ("max", "min", "any", "all", "argmax", "argmin") else TOLERANCE * max(1, count**0.5),
    )
