"""The rows of the standard's elementwise operators, and of ``identity``, which casts, copies and fills use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xpops.ops import circular, functions
from xpops.ops.operator import Operator


def _row(
    name: str,
    arity: int,
    accepts: str,
    result: str = "promoted",
    *,
    header: str,
    cpu: Callable[..., Any] | None = None,
    **options: Any,
) -> Operator:
    """A row whose function on the CPU is by default NumPy's of the same name."""
    return Operator(name, arity, accepts, result, header, cpu or getattr(np, name), **options)  # type: ignore[arg-type]


# Rows whose functor neither begins nor ends with a product or sum that the compiler could contract.
_plain = partial(_row, contracts=False)
_transcendental = partial(_row, cost="transcendental")
_narrow = partial(_transcendental, narrow=True)


_ARITHMETIC, _COMPARISON, _BITWISE = "arithmetic", "comparison", "bitwise"
_EXPONENTIAL, _TRIGONOMETRIC, _ROUNDING = "exponential", "trigonometric", "rounding"

# Every result is the number of its dtype that is nearest to the exact one.
_ROUNDED = (0.5, 0.5, 0.5, 0.5)

_ROWS = (
    _plain("abs", 1, "numeric", "real", header=_ARITHMETIC, long="complex", ulps=(0, 0, 2, 2)),
    _plain("add", 2, "numeric", header=_ARITHMETIC, rounded="add_rn({}, {})", ulps=_ROUNDED),
    _plain("clip", 3, "real-valued", header=_ARITHMETIC, cpu=functions.clip, arguments=("x", "min", "max")),
    _plain("conj", 1, "numeric", header=_ARITHMETIC),
    _plain("copysign", 2, "real floating-point", header=_ARITHMETIC, cpu_halves=True, domain="finite finite"),
    _plain(
        "divide",
        2,
        "floating-point",
        header=_ARITHMETIC,
        narrow=True,
        cost="divisions",
        long="complex",
        ulps=(0.5, 0.5, 2, 2),
        domain="any nonzero",
    ),
    _plain(
        "floor_divide",
        2,
        "real-valued",
        header=_ARITHMETIC,
        cpu=functions.floor_divide,
        long="always",
        ulps=(1, 1),
        domain="any nonzero",
    ),
    _row(
        "hypot",
        2,
        "real floating-point",
        header=_ARITHMETIC,
        narrow=True,
        cost="divisions",
        ulps=(1, 2),
        domain="finite finite",
    ),
    _plain(
        "identity",
        1,
        "any",
        "given",
        header=_ARITHMETIC,
        cpu=np.positive,
        own_halves=True,
        arguments=("value",),
        public="assignment",
        ulps=_ROUNDED,
    ),
    _plain("imag", 1, "numeric", "real", header=_ARITHMETIC),
    _plain("maximum", 2, "real-valued", header=_ARITHMETIC),
    _plain("minimum", 2, "real-valued", header=_ARITHMETIC),
    _plain("multiply", 2, "numeric", header=_ARITHMETIC, rounded="mul_rn({}, {})", ulps=(0.5, 0.5, 1, 1)),
    _plain("negative", 1, "numeric", header=_ARITHMETIC),
    _plain("nextafter", 2, "real floating-point", header=_ARITHMETIC, cpu=functions.nextafter, own_halves=True),
    _plain("positive", 1, "numeric", header=_ARITHMETIC),
    _transcendental(
        "pow",
        2,
        "numeric",
        header=_ARITHMETIC,
        cpu=functions.power,
        long="always",
        squares=True,
        ulps=(1.5, 1.5, 1, 30),
        domain="positive unit",
    ),
    _plain("real", 1, "numeric", "real", header=_ARITHMETIC),
    _plain(
        "reciprocal",
        1,
        "floating-point",
        header=_ARITHMETIC,
        cpu=functions.reciprocal,
        long="complex",
        ulps=(0.5, 0.5, 1, 1),
        domain="nonzero",
    ),
    _plain(
        "remainder",
        2,
        "real-valued",
        header=_ARITHMETIC,
        cpu=functions.remainder,
        long="always",
        ulps=(0.5, 0.5),
        domain="any nonzero",
    ),
    _plain("sign", 1, "numeric", header=_ARITHMETIC, cpu=functions.sign, long="complex", ulps=(0, 0, 3, 3)),
    _plain("square", 1, "numeric", header=_ARITHMETIC, rounded="square_rn({})", ulps=(0.5, 0.5, 1, 1)),
    _plain("subtract", 2, "numeric", header=_ARITHMETIC, rounded="add_rn({}, -{})", ulps=_ROUNDED),
    _plain("equal", 2, "arithmetic", "bool", header=_COMPARISON),
    _plain("greater", 2, "real-valued", "bool", header=_COMPARISON),
    _plain("greater_equal", 2, "real-valued", "bool", header=_COMPARISON),
    _plain("isfinite", 1, "numeric", "bool", header=_COMPARISON, cpu=functions.isfinite),
    _plain("isinf", 1, "numeric", "bool", header=_COMPARISON, cpu=functions.isinf),
    _plain("isnan", 1, "numeric", "bool", header=_COMPARISON, cpu=functions.isnan),
    _plain("less", 2, "real-valued", "bool", header=_COMPARISON),
    _plain("less_equal", 2, "real-valued", "bool", header=_COMPARISON),
    _plain("not_equal", 2, "arithmetic", "bool", header=_COMPARISON),
    _plain("signbit", 1, "real floating-point", "bool", header=_COMPARISON, cpu=functions.signbit, domain="finite"),
    _plain(
        "where",
        3,
        "arithmetic",
        header=_COMPARISON,
        cpu=functions.where,
        cpu_halves=True,
        condition=True,
        arguments=("condition", "x1", "x2"),
    ),
    _plain("bitwise_and", 2, "integer or boolean", header=_BITWISE),
    _plain("bitwise_invert", 1, "integer or boolean", header=_BITWISE),
    _plain("bitwise_left_shift", 2, "integer", header=_BITWISE, cpu=np.left_shift, domain="any shift"),
    _plain("bitwise_or", 2, "integer or boolean", header=_BITWISE),
    _plain("bitwise_right_shift", 2, "integer", header=_BITWISE, cpu=np.right_shift, domain="any shift"),
    _plain("bitwise_xor", 2, "integer or boolean", header=_BITWISE),
    _plain("logical_and", 2, "arithmetic", "bool", header=_BITWISE, logical=True),
    _plain("logical_not", 1, "arithmetic", "bool", header=_BITWISE, logical=True),
    _plain("logical_or", 2, "arithmetic", "bool", header=_BITWISE, logical=True),
    _plain("logical_xor", 2, "arithmetic", "bool", header=_BITWISE, logical=True),
    _narrow("exp", 1, "floating-point", header=_EXPONENTIAL, ulps=(2, 1, 2, 1.5)),
    _narrow("expm1", 1, "floating-point", header=_EXPONENTIAL, cpu=functions.expm1, ulps=(1.5, 1.5, 3, 2.5)),
    _narrow("log", 1, "floating-point", header=_EXPONENTIAL, ulps=(1, 1, 1.5, 1.5), domain="positive"),
    _narrow("log10", 1, "floating-point", header=_EXPONENTIAL, ulps=(2.5, 1.5, 2, 2), domain="positive"),
    _narrow(
        "log1p", 1, "floating-point", header=_EXPONENTIAL, cpu=functions.log1p, ulps=(1, 2, 1.5, 2), domain="positive"
    ),
    _narrow("log2", 1, "floating-point", header=_EXPONENTIAL, ulps=(1, 1.5, 1.5, 2), domain="positive"),
    # No narrow functor: where the operands cancel, the hardware's exponential is not accurate enough.
    _transcendental(
        "logaddexp",
        2,
        "real floating-point",
        header=_EXPONENTIAL,
        cpu=functions.logaddexp,
        ulps=(4.5, 5),
        domain="positive positive",
    ),
    _transcendental("sqrt", 1, "floating-point", header=_EXPONENTIAL, ulps=(0.5, 0.5, 1.5, 1.5)),
    _narrow(
        "acos", 1, "floating-point", header=_TRIGONOMETRIC, cpu=np.arccos, ulps=(1.5, 1.5, 1.5, 1.5), domain="unit"
    ),
    _narrow("acosh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=np.arccosh, ulps=(2, 2.5, 1.5, 1.5)),
    _narrow(
        "asin", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.arcsin, ulps=(1.5, 2, 2.5, 2.5), domain="unit"
    ),
    _narrow("asinh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=np.arcsinh, ulps=(2, 2.5, 2.5, 2.5)),
    _narrow("atan", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.arctan, ulps=(1.5, 2, 2.5, 2.5)),
    _narrow(
        "atan2", 2, "real floating-point", header=_TRIGONOMETRIC, cpu=np.arctan2, ulps=(2, 2), domain="finite finite"
    ),
    _narrow("atanh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=np.arctanh, ulps=(3, 2.5, 2, 2), domain="unit"),
    _narrow("cos", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.cos, long="always", ulps=(1.5, 1.5, 2, 2)),
    _narrow("cosh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.cosh, ulps=(2.5, 1.5, 2, 2)),
    _narrow("sin", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.sin, long="always", ulps=(1.5, 1.5, 2, 2)),
    _narrow("sinh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.sinh, ulps=(3, 1.5, 2, 2)),
    _narrow("tan", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.tan, long="always", ulps=(3, 2, 3, 3)),
    _narrow("tanh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.tanh, ulps=(2, 1.5, 3, 3)),
    _plain("ceil", 1, "real-valued", header=_ROUNDING),
    _plain("floor", 1, "real-valued", header=_ROUNDING),
    _plain("round", 1, "numeric", header=_ROUNDING, cpu=functions.round),
    _plain("trunc", 1, "real-valued", header=_ROUNDING),
)

OPERATORS: dict[str, Operator] = {row.name: row for row in _ROWS}

# The operator of casts, copies and fills. It is not a public function.
IDENTITY = OPERATORS["identity"]
INTERNAL = frozenset((IDENTITY,))
