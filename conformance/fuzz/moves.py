"""What moves elements: indexing, joining, padding; and products, transforms and fused functions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz import errors
from conformance.fuzz.forms import Drawn, Function, Spec, common, draw_shape
from conformance.fuzz.reductions import along_axis
from conformance.fuzz.values import BOOL, COMPLEX, FLOATS, INT64, INTEGERS, DType

EVERY = (BOOL, *INTEGERS, *FLOATS, *COMPLEX)
WIDE_FLOATS = tuple(map(np.dtype, ("float32", "float64")))


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


def _multiplying(random: Random, dtype: DType) -> Drawn:
    rows, inner, columns = (random.choice([1, 3, 16, 37]) for _ in range(3))
    batch = random.choice([(), (3,)])
    return (
        Spec(dtype, (*batch, rows, inner), domain="finite"),
        Spec(dtype, (inner, columns), domain="finite"),
    ), {}


def _summing_products(random: Random, dtype: DType) -> Drawn:
    x = Spec(dtype, draw_shape(random, 1), domain="finite")
    return (x, x), {}


def _permuting(random: Random, dtype: DType) -> Drawn:
    shape = draw_shape(random, 1)
    axes = list(range(len(shape)))
    random.shuffle(axes)
    return (Spec(dtype, shape),), {"axes": tuple(axes)}


def _fusing(count: int, domain: str = "finite") -> Callable[[Random, DType], Drawn]:
    def draw(random: Random, dtype: DType) -> Drawn:
        shape = draw_shape(random, 1)
        while 0 in shape:
            shape = draw_shape(random, 1)
        return tuple(Spec(dtype, shape, domain=domain) for _ in range(count)), {}

    return draw


def _transforming(random: Random, dtype: DType) -> Drawn:
    length = random.choice([1, 8, 37, 64, 130])
    return (Spec(dtype, (3, length), domain="finite"),), {"axis": random.choice([-1, 0, 1])}


# Expressions, for xpops and for NumPy.


def _swish(ns: Any, x: Any) -> Any:
    return x / (1 + ns.exp(-x))


def _scaled(ns: Any, x: Any, y: Any) -> Any:
    return ns.maximum(x * 2 + y, y - 1)


def _squares(ns: Any, x: Any, y: Any) -> Any:
    difference = x - y
    return ns.sum(difference * difference, axis=-1)


def _normalised(ns: Any, x: Any) -> Any:
    weights = ns.exp(x - ns.max(x, axis=-1, keepdims=True))
    return weights / ns.sum(weights, axis=-1, keepdims=True)


def _conjugates(ns: Any, x: Any, y: Any) -> Any:
    return x * y + x


def _fused(expression: Any, count: int, dtypes: Any, bound: Any) -> Function:
    # One fused function for all calls: it remembers what it made.
    functions = {1: lambda x: expression(xp, x), 2: lambda x, y: expression(xp, x, y)}
    return Function(
        f"fuse({expression.__name__})",
        _fusing(count),
        dtypes,
        lambda *operands: expression(np, *operands),
        common,
        bound,
        call=xp.fuse(functions[count]),
    )


def _products_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, y = (np.abs(each) for each in operands)
    return errors.share(dtype) * np.asarray(x @ y)


def _of_dot(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, y = (np.abs(each) for each in operands)
    return errors.share(dtype) * np.sum(x * y, axis=-1)


def _rounded_terms(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """Some roundings of the terms, which may cancel."""
    sizes = sum(np.abs(each) for each in operands)
    return 16 * errors.eps(dtype) * (1 + sizes + sizes**2)


def _of_exponents(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """The error of an exponent is a relative one of the result; a large power overflows."""
    (x,) = operands
    return (16 + 2 * np.max(np.abs(x), initial=0.0)) * (
        errors.eps(dtype) * np.abs(exact) + float(np.finfo(np.float32).tiny)
    )


def _squares_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, y = (np.abs(each) for each in operands)
    return (errors.share(dtype) + 8 * errors.eps(dtype)) * np.sum((x + y) ** 2, axis=-1)


def _all_of(join: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a list, as a function of its elements."""
    return lambda *arrays, axis: join(arrays, axis=axis)


def _moving(name: str, draw: Any, oracle: Any, **rest: Any) -> Function:
    """A function whose result has the dtype of its first operand."""
    return Function(name, draw, EVERY, oracle, lambda dtypes, _: dtypes[0], **rest)


FUNCTIONS = [
    _moving("roll", _rolling, lambda x, shift, axis: np.roll(x, shift, axis), positional=("shift",)),
    _moving("repeat", _repeating, lambda x, repeats, axis: np.repeat(x, repeats, axis), positional=("repeats",)),
    _moving("take", _taking, np.take),
    _moving("x[index]", _keyed, lambda x, i: x[i], call=lambda x, i: xp.asarray(x)[xp.asarray(i)]),
    _moving("x[mask]", _masked, lambda x, m: x[m], call=lambda x, m: xp.asarray(x)[xp.asarray(m)]),
    _moving("concat", _joining, _all_of(np.concat), call=_all_of(xp.concat)),
    _moving("stack", _joining, _all_of(np.stack), call=_all_of(xp.stack)),
    _moving("pad", _padding, np.pad, positional=("pad_width",)),
    _moving("flip", along_axis(), np.flip, may_view=True),
    _moving("tril", _matrix, np.tril),
    _moving("triu", _matrix, np.triu),
    _moving("permute_dims", _permuting, np.transpose, positional=("axes",), may_view=True),
    Function("diff", along_axis("finite"), (*INTEGERS, *FLOATS), np.diff, common, errors.ulps(1)),
    Function("matmul", _multiplying, (*WIDE_FLOATS, *COMPLEX), np.matmul, common, _products_bound),
    Function("vecdot", _summing_products, WIDE_FLOATS, lambda x, y: np.sum(x * y, -1), common, _of_dot),
    Function("fft.fft", _transforming, COMPLEX, np.fft.fft, common, errors.of_largest(64)),
    _fused(_swish, 1, FLOATS[2:], _of_exponents),
    _fused(_scaled, 2, FLOATS[2:], _rounded_terms),
    _fused(_conjugates, 2, COMPLEX, _rounded_terms),
    _fused(_squares, 2, WIDE_FLOATS, _squares_bound),
    _fused(_normalised, 1, FLOATS[2:], _of_exponents),
]
