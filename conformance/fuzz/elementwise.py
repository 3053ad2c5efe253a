"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from conformance.fuzz import errors
from conformance.fuzz.forms import Drawn, Function, Operand, Spec, boolean, common, draw_shape, of_parts
from conformance.fuzz.layouts import Shape
from conformance.fuzz.values import BOOL, COMPLEX, FLOATS, INTEGERS, SIGNED, DType

NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)
REAL = (*INTEGERS, *FLOATS)
# The wider partner of a dtype, for operands that differ.
_PARTNERS = {"int8": "int16", "uint8": "int32", "int32": "int64", "float32": "float64", "float16": "float32"}


def unary(domain: str) -> Callable[[Random, DType], Drawn]:
    """One operand."""
    return lambda random, dtype: ((Spec(dtype, draw_shape(random), domain=domain),), {})


def binary(first: str, second: str = "", scalars: bool = True) -> Callable[[Random, DType], Drawn]:
    """Two operands that broadcast, or one and a Python scalar."""

    def draw(random: Random, dtype: DType) -> Drawn:
        shape = draw_shape(random)
        one = Spec(dtype, shape, domain=first)
        if scalars and random.random() < 0.25:
            return (one, _scalar(random, dtype)), {}
        partner = np.dtype(_PARTNERS.get(str(dtype), dtype)) if random.random() < 0.2 else dtype
        other = Spec(partner, _broadcast(random, shape), domain=second or first)
        return (one, other), {}

    return draw


def _scalar(random: Random, dtype: DType) -> bool | int | float:
    """1, 1.0 and True are equal, and of other types."""
    number = random.choice([1, 2, 3])
    if dtype == BOOL:
        return number == 1
    if dtype in INTEGERS:
        return random.choice([number, True])
    return random.choice([number, float(number), True])


def _broadcast(random: Random, shape: Shape) -> Shape:
    """The shape, or one that broadcasts to it."""
    kind = random.random()
    if kind < 0.7 or not shape:
        return shape
    if kind < 0.85:
        return shape[random.randrange(len(shape)) :]
    axis = random.randrange(len(shape))
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _where(random: Random, dtype: DType) -> Drawn:
    (x, y), _ = binary("any", scalars=False)(random, dtype)
    assert isinstance(x, Spec)
    return (Spec(BOOL, _broadcast(random, x.shape)), x, y), {}


def _clip(random: Random, dtype: DType) -> Drawn:
    x = Spec(dtype, draw_shape(random), domain="any")
    low, high = sorted(random.sample([0, 1, 2, 3, 5], 2))
    if random.random() < 0.5:
        return (x,), {"min": low, "max": high}
    limits: tuple[Operand, ...] = (Spec(dtype, (), domain="positive"), Spec(dtype, x.shape, domain="positive"))
    return (x, *limits), {}


def _cast(random: Random, dtype: DType) -> Drawn:
    # int8 and uint8 hold all values of "small" that are not negative.
    targets = (BOOL, *NUMBERS) if dtype not in COMPLEX else COMPLEX
    return (Spec(dtype, draw_shape(random), domain="shift" if dtype in INTEGERS else "small"),), {
        "dtype": random.choice(targets)
    }


def _cast_oracle(x: Any, dtype: DType) -> Any:
    # Negative numbers become unsigned ones by way of int64, modulo 2^n.
    signed = x.astype(np.int64) if dtype.kind == "u" and x.dtype.kind == "f" else x
    return signed.astype(dtype)


def _unary(names: str, dtypes: Any, domain: str = "any", bound: Any = None, result: Any = common) -> list[Function]:
    return [
        Function(name, unary(domain), dtypes, getattr(np, name), result, bound, has_out=True) for name in names.split()
    ]


def _binary(
    names: str, dtypes: Any, domains: tuple[str, str] = ("any", "any"), bound: Any = None, result: Any = common
) -> list[Function]:
    return [
        Function(name, binary(*domains), dtypes, getattr(np, name), result, bound, has_out=True)
        for name in names.split()
    ]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


FUNCTIONS = [
    *_unary("negative square positive", NUMBERS, bound=errors.ulps()),
    *_unary("abs", REAL),
    *_unary("floor ceil trunc round", FLOATS),
    *_unary("sign", REAL),
    *_unary("isnan isinf isfinite", (*REAL, *COMPLEX), result=boolean),
    *_unary("signbit", FLOATS, "finite", result=boolean),
    *_unary("sqrt", FLOATS, bound=errors.ulps(1)),
    *_unary("exp expm1 sin cos tanh atan asinh", FLOATS, bound=errors.ulps()),
    *_unary("log log2 log10 log1p", FLOATS, "positive", errors.ulps()),
    *_unary("asin acos atanh", FLOATS, "unit", errors.ulps()),
    *_unary("reciprocal", FLOATS, "nonzero", errors.ulps(1)),
    *_unary("conj", COMPLEX),
    *_unary("real imag", COMPLEX, result=of_parts),
    *_unary("abs", COMPLEX, bound=errors.ulps(), result=of_parts),
    *_unary("exp sqrt", COMPLEX, "finite", errors.ulps()),
    *_unary("logical_not", (BOOL,), result=boolean),
    *_unary("bitwise_invert", (BOOL, *INTEGERS)),
    *_binary("add subtract multiply", NUMBERS, bound=errors.ulps()),
    *_binary("divide", (*FLOATS, *COMPLEX), ("any", "nonzero"), errors.ulps()),
    *_binary("floor_divide remainder", (*INTEGERS,), ("any", "nonzero")),
    *_binary("maximum minimum", REAL),
    *_binary("equal not_equal", (BOOL, *NUMBERS), ("small", "small"), result=boolean),
    *_binary("less less_equal greater greater_equal", REAL, ("small", "small"), result=boolean),
    *_binary("logical_and logical_or logical_xor", (BOOL,), result=boolean),
    *_binary("bitwise_and bitwise_or bitwise_xor", (BOOL, *INTEGERS)),
    *_binary("bitwise_left_shift bitwise_right_shift", SIGNED, ("any", "shift")),
    *_binary("hypot atan2", FLOATS, ("finite", "finite"), errors.ulps()),
    *_binary("copysign", FLOATS, ("finite", "finite")),
    *_binary("pow", FLOATS, ("positive", "unit"), errors.ulps()),
    Function("where", _where, (BOOL, *NUMBERS), np.where, lambda dtypes, _: common(dtypes[1:]), has_out=True),
    Function(
        "astype",
        _cast,
        (BOOL, *NUMBERS),
        _cast_oracle,
        lambda _, named: named["dtype"],
        positional=("dtype",),
    ),
    Function("clip", _clip, REAL, np.clip, common, has_out=True),
    Function("nn.relu", unary("finite"), FLOATS, lambda x: np.maximum(x, 0), common, has_out=True),
    Function("nn.sigmoid", unary("finite"), FLOATS, _sigmoid, common, errors.ulps(), has_out=True),
    Function("nn.silu", unary("finite"), FLOATS, lambda x: x * _sigmoid(x), common, errors.ulps(), has_out=True),
]
