"""What moves elements: indexing, joining, padding."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz import errors
from conformance.fuzz.elementwise import unary
from conformance.fuzz.forms import Drawn, Function, Spec, boolean, common, draw_shape, index
from conformance.fuzz.reductions import along_axis
from conformance.fuzz.values import BOOL, COMPLEX, FLOATS, INT64, INTEGERS, DType

EVERY = (BOOL, *INTEGERS, *FLOATS, *COMPLEX)


def _transposing(random: Random, dtype: DType) -> Drawn:
    return (Spec(dtype, draw_shape(random, 2)),), {}


def _rolling(random: Random, dtype: DType) -> Drawn:
    operands, named = along_axis()(random, dtype)
    return operands, {**named, "shift": random.choice([0, 1, -3, 50])}


def _repeating(random: Random, dtype: DType) -> Drawn:
    operands, named = along_axis()(random, dtype)
    return operands, {**named, "repeats": random.choice([1, 2, 3])}


def _taking(random: Random, dtype: DType) -> Drawn:
    (x,), named = along_axis(empty=False)(random, dtype)
    assert isinstance(x, Spec)
    count = random.choice([1, 5, 64])
    return (x, Spec(INT64, (count,), domain=f"<{x.shape[named['axis']]}")), named


def _keyed(random: Random, dtype: DType) -> Drawn:
    (x,), _ = along_axis(empty=False)(random, dtype)
    assert isinstance(x, Spec)
    return (x, Spec(INT64, (random.choice([1, 6, 33]),), domain=f"<{x.shape[0]}")), {}


def _masked(random: Random, dtype: DType) -> Drawn:
    shape = draw_shape(random, 1)
    return (Spec(dtype, shape), Spec(BOOL, shape[: random.randint(1, len(shape))])), {}


def _joining(random: Random, dtype: DType) -> Drawn:
    (x,), named = along_axis()(random, dtype)
    return (x, x) if random.random() < 0.5 else (x, x, x), named


def _padding(random: Random, dtype: DType) -> Drawn:
    return (Spec(dtype, draw_shape(random, 1)),), {"pad_width": random.choice([0, 1, (2, 0)])}


def _matrix(random: Random, dtype: DType) -> Drawn:
    return (Spec(dtype, draw_shape(random, 2)),), {"k": random.choice([-1, 0, 2])}


def _permuting(random: Random, dtype: DType) -> Drawn:
    shape = draw_shape(random, 1)
    axes = list(range(len(shape)))
    random.shuffle(axes)
    return (Spec(dtype, shape),), {"axes": tuple(axes)}


def _along(random: Random, dtype: DType) -> Drawn:
    (x,), named = along_axis(empty=False)(random, dtype)
    assert isinstance(x, Spec)
    return (x, Spec(INT64, x.shape, domain=f"<{x.shape[named['axis']]}")), named


def _tiling(random: Random, dtype: DType) -> Drawn:
    shape = draw_shape(random)
    return (Spec(dtype, shape),), {"repetitions": tuple(random.choice([1, 2]) for _ in range(len(shape) or 1))}


def _reshaping(random: Random, dtype: DType) -> Drawn:
    shape = draw_shape(random, 1)
    return (Spec(dtype, shape),), {"shape": random.choice([(-1,), (*shape, 1), (1, *shape), shape[::-1]])}


def _reshape(x: Any, shape: Any) -> Any:
    return np.reshape(x, shape)


def _assigning(random: Random, dtype: DType) -> Drawn:
    """A mask of the first axes, and one value for all: no element is written twice."""
    (x, mask), _ = _masked(random, dtype)
    return (x, mask, Spec(dtype, (), domain="small")), {}


def _assign(ns: Any) -> Callable[..., Any]:
    """Of a copy."""

    def assign(x: Any, mask: Any, value: Any) -> Any:
        result = ns.asarray(x, copy=True)
        # ndarrays would go to the default device.
        result[ns.asarray(mask, device=result.device)] = ns.asarray(value, device=result.device)
        return result

    return assign


def _elements(x: Any, key: Any) -> Any:
    own = xp.asarray(x)
    return own[xp.asarray(key, device=own.device)]


def _searching_nonzero(random: Random, dtype: DType) -> Drawn:
    return (Spec(dtype, draw_shape(random, 1), domain="small"),), {}


def _searching_set(random: Random, dtype: DType) -> Drawn:
    values = Spec(dtype, (random.choice([1, 7, 40]),), domain="small")
    return (Spec(dtype, draw_shape(random), domain="small"), values), {}


def _all_of(join: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a list, as a function of its elements."""
    return lambda *arrays, axis: join(arrays, axis=axis)


def _moving(name: str, draw: Any, oracle: Any, **rest: Any) -> Function:
    """A function whose result has the dtype of its first operand."""
    return Function(name, draw, EVERY, oracle, lambda dtypes, _: dtypes[0], **rest)


FUNCTIONS = [
    _moving("roll", _rolling, lambda x, shift, axis: np.roll(x, shift, axis), positional=("shift",)),
    _moving("repeat", _repeating, lambda x, repeats, axis: np.repeat(x, repeats, axis), positional=("repeats",)),
    _moving("tile", _tiling, lambda x, repetitions: np.tile(x, repetitions), positional=("repetitions",)),
    _moving("take", _taking, np.take),
    _moving("take_along_axis", _along, np.take_along_axis),
    _moving("x[index]", _keyed, lambda x, i: x[i], call=_elements, gradient="refused"),
    _moving("x[mask]", _masked, lambda x, m: x[m], call=_elements, gradient="refused"),
    _moving("x[mask] = value", _assigning, _assign(np), call=_assign(xp), gradient="refused"),
    _moving("concat", _joining, _all_of(np.concat), call=_all_of(xp.concat)),
    _moving("stack", _joining, _all_of(np.stack), call=_all_of(xp.stack)),
    _moving("pad", _padding, np.pad, positional=("pad_width",)),
    _moving("flip", along_axis(), np.flip, may_view=True),
    _moving("reshape", _reshaping, _reshape, positional=("shape",), may_view=True),
    _moving("permute_dims", _permuting, np.transpose, positional=("axes",), may_view=True),
    _moving("matrix_transpose", _transposing, lambda x: np.swapaxes(x, -1, -2), may_view=True),
    _moving("tril", _matrix, np.tril),
    _moving("triu", _matrix, np.triu),
    _moving("zeros_like", unary("any"), np.zeros_like, gradient="none"),
    _moving("ones_like", unary("any"), np.ones_like, gradient="none"),
    Function("diff", along_axis("finite"), (*INTEGERS, *FLOATS), np.diff, common, errors.ulps(1)),
    Function("isin", _searching_set, (*INTEGERS, *FLOATS), np.isin, boolean),
    Function("nonzero", _searching_nonzero, EVERY, lambda x: np.nonzero(x)[0], index, call=lambda x: xp.nonzero(x)[0]),
]
