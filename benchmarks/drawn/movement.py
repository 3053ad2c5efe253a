"""Drawn calls that move elements."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch

import xpops as xp
from benchmarks.drawn.call import Call, draw_layout, draw_layouts
from benchmarks.drawn.operands import DTYPES, Operand, draw_dtype, draw_operand, draw_shape, draw_size

_NAMES = tuple(name for name in DTYPES if name != "complex64")


def draw_move(random: Random, cap: int) -> Call:
    """A call of one of the functions that move elements."""
    return random.choice(_MOVES)(random, cap)


def _input(random: Random, cap: int, axes: int | None = None, share: int = 1) -> Operand:
    shape = draw_shape(random, max(1, min(draw_size(random), cap) // share), axes)
    return draw_operand(random, draw_dtype(random, _NAMES), shape, draw_layout(random))


def _move(name: str, x: Operand, options: dict[str, Any], ours: Callable[..., Any], theirs: Callable[..., Any]) -> Call:
    return Call("move", name, (x,), options, ours, theirs, moved=theirs)


def _copy(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    dtype = getattr(xp, x.dtype)
    return _move("copy", x, {}, lambda x: xp.astype(x, dtype), lambda x: x.clone(memory_format=torch.contiguous_format))


def _pad(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    widths = [(random.randint(0, 3), random.randint(0, 3)) for _ in x.shape]
    flat = [width for pair in reversed(widths) for width in pair]
    return _move(
        "pad", x, {"pad_width": widths}, lambda x: xp.pad(x, widths), lambda x: torch.nn.functional.pad(x, flat)
    )


def _repeat(random: Random, cap: int) -> Call:
    count = random.randint(2, 5)
    x = _input(random, cap, share=count)
    axis = random.randrange(len(x.shape))
    return _move(
        "repeat",
        x,
        {"repeats": count, "axis": axis},
        lambda x: xp.repeat(x, count, axis=axis),
        lambda x: torch.repeat_interleave(x, count, dim=axis),
    )


def _tile(random: Random, cap: int) -> Call:
    x = _input(random, cap, share=4)
    counts = tuple(random.randint(1, 3) for _ in x.shape)
    return _move("tile", x, {"repetitions": counts}, lambda x: xp.tile(x, counts), lambda x: torch.tile(x, counts))


def _triangle(random: Random, cap: int) -> Call:
    x = _input(random, cap, axes=random.choice((2, 2, 3)))
    name, k = random.choice(("tril", "triu")), random.randint(-5, 5)
    return _move(name, x, {"k": k}, lambda x: getattr(xp, name)(x, k=k), lambda x: getattr(torch, name)(x, diagonal=k))


def _flip(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    axes = tuple(axis for axis in range(len(x.shape)) if random.random() < 0.5) or (0,)
    dtype = getattr(xp, x.dtype)
    return _move(
        "flip",
        x,
        {"axis": axes},
        lambda x: xp.astype(xp.flip(xp.asarray(x), axis=axes), dtype),
        lambda x: torch.flip(x, axes),
    )


def _roll(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    axes = tuple(axis for axis in range(len(x.shape)) if random.random() < 0.5) or (0,)
    shifts = tuple(random.randint(-9, 9) for _ in axes)
    return _move(
        "roll",
        x,
        {"shift": shifts, "axis": axes},
        lambda x: xp.roll(x, shifts, axis=axes),
        lambda x: torch.roll(x, shifts, axes),
    )


def _join(random: Random, cap: int) -> Call:
    name, count = random.choice(("concat", "stack")), random.randint(2, 8)
    shape = draw_shape(random, max(1, min(draw_size(random), cap) // count))
    dtype, layouts = draw_dtype(random, _NAMES), draw_layouts(random, count)
    axis = random.randrange(len(shape) + (name == "stack"))
    shapes = [shape] * count
    if name == "concat":
        shapes = [
            tuple(max(1, n - random.randint(0, 3)) if each == axis else n for each, n in enumerate(shape))
            for _ in range(count)
        ]
    operands = tuple(draw_operand(random, dtype, *each) for each in zip(shapes, layouts, strict=True))

    def theirs(*arrays: Any) -> Any:
        return getattr(torch, name)(arrays, dim=axis)

    def ours(*arrays: Any) -> Any:
        return getattr(xp, name)(arrays, axis=axis)

    return Call("move", name, operands, {"axis": axis}, ours, theirs, moved=theirs)


def _take(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    axis = random.randrange(len(x.shape))
    length = max(1, int(x.shape[axis] * random.choice((0.1, 0.5, 1.0))))
    index = draw_operand(random, random.choice(("int64", "int32")), (length,), "contiguous", f"index {x.shape[axis]}")

    def theirs(x: Any, y: Any) -> Any:
        return torch.index_select(x, axis, y)

    return Call("move", "take", (x, index), {"axis": axis}, lambda x, y: xp.take(x, y, axis=axis), theirs, moved=theirs)


def _take_along(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    axis = random.randrange(len(x.shape))
    index = draw_operand(random, "int64", x.shape, draw_layout(random), f"index {x.shape[axis]}")

    def theirs(x: Any, y: Any) -> Any:
        return torch.take_along_dim(x, y, axis)

    return Call(
        "move",
        "take_along_axis",
        (x, index),
        {"axis": axis},
        lambda x, y: xp.take_along_axis(x, y, axis=axis),
        theirs,
        moved=theirs,
    )


def _eye(random: Random, cap: int) -> Call:
    rows, columns = draw_shape(random, min(draw_size(random), cap), 2)
    dtype = draw_dtype(random, _NAMES)
    ours, theirs = getattr(xp, dtype), getattr(torch, dtype)
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    return Call(
        "move",
        "eye",
        (),
        {"n_rows": rows, "n_cols": columns, "dtype": dtype},
        lambda: xp.eye(rows, columns, dtype=ours, device=device),
        lambda: torch.eye(rows, columns, dtype=theirs, device=device),
    )


def _mask(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    shape = x.shape[: random.choice((len(x.shape), 1))]
    mask = draw_operand(random, "bool", shape, draw_layout(random), f"mask {random.choice((0.01, 0.1, 0.5, 0.9))}")

    def chosen(x: Any, y: Any) -> Any:
        return x[y]

    return Call(
        "move",
        "x[mask]",
        (x, mask),
        {},
        lambda x, y: xp.asarray(x)[xp.asarray(y)],
        chosen,
        moved=chosen,
        waits=True,
    )


def _set_mask(random: Random, cap: int) -> Call:
    x = _input(random, cap)
    while x.layout in ("broadcast", "windows", "reversed"):  # several elements in one place; no view in torch
        x = _input(random, cap)
    mask = draw_operand(random, "bool", x.shape, draw_layout(random), f"mask {random.choice((0.01, 0.1, 0.5, 0.9))}")

    zero = False if x.dtype == "bool" else 0

    def ours(x: Any, y: Any) -> Any:
        xp.asarray(x)[xp.asarray(y)] = zero
        return x

    def theirs(x: Any, y: Any) -> Any:
        x.masked_fill_(y, 0)
        return x

    return Call("move", "x[mask] = 0", (x, mask), {}, ours, theirs, moved=lambda x, y: x[y])


_MOVES = (
    _copy,
    _eye,
    _pad,
    _repeat,
    _tile,
    _triangle,
    _flip,
    _roll,
    _join,
    _join,
    _take,
    _take_along,
    _mask,
    _set_mask,
)
