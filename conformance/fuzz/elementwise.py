"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from conformance.fuzz import errors
from conformance.fuzz.forms import Drawn, Function, Operand, Spec, boolean, common, draw_shape, of_parts
from conformance.fuzz.values import BOOL, COMPLEX, FLOATS, INTEGERS, DType
from conformance.references import reference_of
from xpops.core import dtypes as dt
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import INTERNAL, OPERATORS
from xpops.ops.operator import Operator
from xpops.testing.layouts import Shape

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


def _result(op: Operator) -> Callable[..., DType]:
    return {"bool": boolean, "real": of_parts}.get(op.result, common)


def _bound(op: Operator) -> errors.Bound | None:
    """None if no result needs rounding."""
    of_floats = op.ulps if op.result == "real" else op.ulps[:2]  # `abs` makes floats of complex numbers
    return errors.ulps(9 if max(of_floats) > 0.5 else 1) if any(op.ulps) else None


def _dtypes(op: Operator) -> tuple[DType, ...]:
    """The dtypes that the row accepts, without the complex ones of most transcendental functions.

    Near their poles in the complex plane rounding alone can make a result very different.
    """
    left_out = COMPLEX if op.transcendental and op.name not in ("exp", "sqrt") else ()
    return tuple(each for each in (BOOL, *NUMBERS) if each in dt.CATEGORIES[op.accepts] and each not in left_out)


def _promote(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Integers in their common dtype, in which references take them; all else as it is."""
    dtypes = [x.dtype for x in operands if isinstance(x, np.ndarray)]
    if any(dtype.kind not in "iu" for dtype in dtypes):
        return operands
    return tuple(np.asarray(x, np.result_type(*dtypes)) for x in operands)


def _function(op: Operator) -> Function:
    """A row's function. Its parameters have their default values, half or twice these."""
    domains = op.domain.split()
    if op.result == "bool" and len(domains) == 2:
        domains = ["small", "small"]  # so that some are equal
    draw = unary(*domains) if len(domains) == 1 else binary(*domains)
    name = f"nn.{op.public}" if op.name in ACTIVATIONS else op.public
    reference = reference_of(op)
    defaults = dict(zip(op.arguments[op.arity - op.parameters :], op.defaults, strict=True))

    def oracle(*operands: Any, **options: Any) -> Any:
        return reference(*_promote(operands), *(options.get(name, value) for name, value in defaults.items()))

    def drawn(random: Random, dtype: DType) -> Drawn:
        operands, named = draw(random, dtype)
        if random.random() < 0.5:
            named = {name: value * random.choice([0.5, 1.0, 2.0]) for name, value in defaults.items()}
        return operands, {**named, **op.options}

    gradient = "recorded" if op.derivatives or op.is_constant else "refused"
    return Function(name, drawn, _dtypes(op), oracle, _result(op), _bound(op), has_out=True, gradient=gradient)


# `nextafter` (`own_halves`) has no result in higher precision.
_ROWS = [
    op
    for op in (*OPERATORS.values(), *ACTIVATIONS.values())
    if op.arity - op.parameters < 3 and not op.own_halves and op not in INTERNAL
]

FUNCTIONS = [
    *map(_function, _ROWS),
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
]
