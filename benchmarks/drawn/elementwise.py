"""Drawn calls of the elementwise family: operators, casts, where and clip."""

from __future__ import annotations

from random import Random

import torch

import xpops as xp
from benchmarks.drawn.call import Call, cupy_function, draw_operands
from benchmarks.drawn.operands import DTYPES, draw_dtype, draw_shape, draw_size
from benchmarks.names import NUMPY, TORCH
from xpops.core import dtypes as dt
from xpops.ops.elementwise import INTERNAL, OPERATORS
from xpops.ops.operator import Operator

# Views or nothing in torch; where and clip are drawn with dtypes and layouts of their own.
_LEFT_OUT = ("real", "imag", "conj", "positive", "where", "clip", *(row.name for row in INTERNAL))
# Errors of both libraries, in units of the result's epsilon.
TOLERANCE = 16


def operators(arity: int) -> list[Operator]:
    """The rows of a number of operands for which torch has a function."""
    rows = [row for row in OPERATORS.values() if row.arity - row.parameters == arity and row.name not in _LEFT_OUT]
    return [row for row in rows if hasattr(torch, TORCH.get(row.name, row.name))]


def draw_operator(random: Random, arity: int, cap: int) -> Call:
    """A call of an operator."""
    row = random.choice(operators(arity))
    accepted = {str(dtype) for dtype in dt.CATEGORIES[row.accepts]}
    dtype = draw_dtype(random, [name for name in DTYPES if name in accepted])
    shape = draw_shape(random, min(draw_size(random), cap))
    operands = draw_operands(random, shape, (dtype,) * arity, tuple(row.domain.split()))
    return Call(
        "binary" if arity == 2 else "unary",
        row.name,
        operands,
        {},
        getattr(xp, row.name),
        getattr(torch, TORCH.get(row.name, row.name)),
        cupy_function(NUMPY.get(row.name, row.name)),
        row=row,
        tolerance=TOLERANCE,
    )


def draw_cast(random: Random, cap: int) -> Call:
    """A call of `astype`."""
    names = [name for name in DTYPES if name != "complex64"]
    source = draw_dtype(random, names)
    target = draw_dtype(random, [name for name in names if name != source])
    domain = "unit" if source.startswith(("float", "bfloat")) else "any"
    operands = draw_operands(random, draw_shape(random, min(draw_size(random), cap)), (source,), (domain,))
    ours, theirs = getattr(xp, target), getattr(torch, target)
    return Call(
        "cast",
        f"astype {target}",
        operands,
        {"dtype": target},
        lambda x: xp.astype(x, ours),
        lambda x: x.to(theirs),
        None if target == "bfloat16" else lambda x: x.astype(target),
    )


def draw_where(random: Random, cap: int) -> Call:
    """A call of `where` or of `clip` between arrays."""
    shape = draw_shape(random, min(draw_size(random), cap))
    names = [name for name in DTYPES if name not in ("bool", "complex64")]
    first, second = (draw_dtype(random, names) for _ in range(2))
    if random.random() < 0.5:
        operands = draw_operands(random, shape, (first,) * 3, ("any",) * 3)
        return Call("where", "clip", operands, {}, xp.clip, torch.clip, cupy_function("clip"), row=OPERATORS["clip"])
    second = first if random.random() < 0.5 or not _promote(first, second) else second
    share = random.choice((0.01, 0.1, 0.5, 0.9))
    operands = draw_operands(random, shape, ("bool", first, second), (f"mask {share}", "any", "any"))
    return Call("where", "where", operands, {}, xp.where, torch.where, cupy_function("where"))


def _promote(first: str, second: str) -> bool:
    """Whether xpops and torch promote these dtypes to the same one."""
    ours = xp.result_type(getattr(xp, first), getattr(xp, second)) if _mixes(first, second) else None
    return str(ours) == str(torch.promote_types(getattr(torch, first), getattr(torch, second))).removeprefix("torch.")


def _mixes(first: str, second: str) -> bool:
    return ("float" in first) == ("float" in second)
