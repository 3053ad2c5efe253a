"""The rows of every elementwise operator of the standard, and the ones that creation and casts are made of."""

from __future__ import annotations

from xpops.ops.operator import Operator


def _row(
    name: str, arity: int, accepts: str, result: str = "promoted", *, header: str, numpy: str = "", **options: bool
) -> Operator:
    return Operator(name, arity, accepts, result, header, numpy or name, **options)  # type: ignore[arg-type]


_ARITHMETIC, _COMPARISON, _BITWISE = "arithmetic", "comparison", "bitwise"
_EXPONENTIAL, _TRIGONOMETRIC, _ROUNDING = "exponential", "trigonometric", "rounding"

_ROWS = (
    _row("abs", 1, "numeric", "real", header=_ARITHMETIC),
    _row("add", 2, "numeric", header=_ARITHMETIC),
    _row("clip", 3, "real-valued", header=_ARITHMETIC),
    _row("conj", 1, "numeric", header=_ARITHMETIC),
    _row("copysign", 2, "real floating-point", header=_ARITHMETIC),
    _row("divide", 2, "floating-point", header=_ARITHMETIC),
    _row("floor_divide", 2, "real-valued", header=_ARITHMETIC),
    _row("hypot", 2, "real floating-point", header=_ARITHMETIC),
    _row("identity", 1, "any", "given", header=_ARITHMETIC, numpy="positive", own_halves=True),
    _row("imag", 1, "numeric", "real", header=_ARITHMETIC),
    _row("maximum", 2, "real-valued", header=_ARITHMETIC),
    _row("minimum", 2, "real-valued", header=_ARITHMETIC),
    _row("multiply", 2, "numeric", header=_ARITHMETIC),
    _row("negative", 1, "numeric", header=_ARITHMETIC),
    _row("nextafter", 2, "real floating-point", header=_ARITHMETIC, own_halves=True),
    _row("positive", 1, "numeric", header=_ARITHMETIC),
    _row("pow", 2, "numeric", header=_ARITHMETIC, numpy="power"),
    _row("real", 1, "numeric", "real", header=_ARITHMETIC),
    _row("reciprocal", 1, "floating-point", header=_ARITHMETIC),
    _row("remainder", 2, "real-valued", header=_ARITHMETIC),
    _row("sign", 1, "numeric", header=_ARITHMETIC),
    _row("square", 1, "numeric", header=_ARITHMETIC),
    _row("subtract", 2, "numeric", header=_ARITHMETIC),
    _row("equal", 2, "arithmetic", "bool", header=_COMPARISON),
    _row("greater", 2, "real-valued", "bool", header=_COMPARISON),
    _row("greater_equal", 2, "real-valued", "bool", header=_COMPARISON),
    _row("isfinite", 1, "numeric", "bool", header=_COMPARISON),
    _row("isinf", 1, "numeric", "bool", header=_COMPARISON),
    _row("isnan", 1, "numeric", "bool", header=_COMPARISON),
    _row("less", 2, "real-valued", "bool", header=_COMPARISON),
    _row("less_equal", 2, "real-valued", "bool", header=_COMPARISON),
    _row("not_equal", 2, "arithmetic", "bool", header=_COMPARISON),
    _row("signbit", 1, "real floating-point", "bool", header=_COMPARISON),
    _row("where", 3, "arithmetic", header=_COMPARISON, condition=True),
    _row("bitwise_and", 2, "integer or boolean", header=_BITWISE),
    _row("bitwise_invert", 1, "integer or boolean", header=_BITWISE),
    _row("bitwise_left_shift", 2, "integer", header=_BITWISE, numpy="left_shift"),
    _row("bitwise_or", 2, "integer or boolean", header=_BITWISE),
    _row("bitwise_right_shift", 2, "integer", header=_BITWISE, numpy="right_shift"),
    _row("bitwise_xor", 2, "integer or boolean", header=_BITWISE),
    _row("logical_and", 2, "arithmetic", "bool", header=_BITWISE, logical=True),
    _row("logical_not", 1, "arithmetic", "bool", header=_BITWISE, logical=True),
    _row("logical_or", 2, "arithmetic", "bool", header=_BITWISE, logical=True),
    _row("logical_xor", 2, "arithmetic", "bool", header=_BITWISE, logical=True),
    _row("exp", 1, "floating-point", header=_EXPONENTIAL),
    _row("expm1", 1, "floating-point", header=_EXPONENTIAL),
    _row("log", 1, "floating-point", header=_EXPONENTIAL),
    _row("log10", 1, "floating-point", header=_EXPONENTIAL),
    _row("log1p", 1, "floating-point", header=_EXPONENTIAL),
    _row("log2", 1, "floating-point", header=_EXPONENTIAL),
    _row("logaddexp", 2, "real floating-point", header=_EXPONENTIAL),
    _row("sqrt", 1, "floating-point", header=_EXPONENTIAL),
    _row("acos", 1, "floating-point", header=_TRIGONOMETRIC, numpy="arccos"),
    _row("acosh", 1, "floating-point", header=_TRIGONOMETRIC, numpy="arccosh"),
    _row("asin", 1, "floating-point", header=_TRIGONOMETRIC, numpy="arcsin"),
    _row("asinh", 1, "floating-point", header=_TRIGONOMETRIC, numpy="arcsinh"),
    _row("atan", 1, "floating-point", header=_TRIGONOMETRIC, numpy="arctan"),
    _row("atan2", 2, "real floating-point", header=_TRIGONOMETRIC, numpy="arctan2"),
    _row("atanh", 1, "floating-point", header=_TRIGONOMETRIC, numpy="arctanh"),
    _row("cos", 1, "floating-point", header=_TRIGONOMETRIC),
    _row("cosh", 1, "floating-point", header=_TRIGONOMETRIC),
    _row("sin", 1, "floating-point", header=_TRIGONOMETRIC),
    _row("sinh", 1, "floating-point", header=_TRIGONOMETRIC),
    _row("tan", 1, "floating-point", header=_TRIGONOMETRIC),
    _row("tanh", 1, "floating-point", header=_TRIGONOMETRIC),
    _row("ceil", 1, "real-valued", header=_ROUNDING),
    _row("floor", 1, "real-valued", header=_ROUNDING),
    _row("round", 1, "numeric", header=_ROUNDING),
    _row("trunc", 1, "real-valued", header=_ROUNDING),
)

OPERATORS: dict[str, Operator] = {row.name: row for row in _ROWS}

# What casts, copies and fills are made of, and not public functions themselves.
IDENTITY = OPERATORS["identity"]
INTERNAL = frozenset((IDENTITY,))
