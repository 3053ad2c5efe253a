"""The rows of the standard's elementwise operators, and of ``identity``, which casts, copies and fills use."""

from __future__ import annotations

import numpy as np

from xpops.ops import functions
from xpops.ops.operator import Operator
from xpops.ops.rows import narrow, plain, row, transcendental
from xpops.ops.torch import ARITHMETIC, BITS, BOOL, COMPLEX, FLOATS, INTEGERS, REAL, REAL_VALUED
from xpops.ops.torch import TorchFunction as Torch
from xpops.ops.transcendental import TRANSCENDENTAL

_ARITHMETIC, _COMPARISON, _BITWISE = "arithmetic", "comparison", "bitwise"
_ROUNDING = "rounding"
_EXTREMES, _PARTS = "numpy/extremes", "numpy/parts"

# Every result is the number of its dtype that is nearest to the exact one.
_ROUNDED = (0.5, 0.5, 0.5, 0.5)

_ROWS = (
    plain("abs", 1, "numeric", "real", header=_ARITHMETIC, long="complex", ulps=(0, 0, 2, 2), torch=REAL, core=True),
    plain("add", 2, "numeric", header=_ARITHMETIC, rounded="add_rn({}, {})", ulps=_ROUNDED, torch=REAL, core=True),
    plain(
        "clip",
        3,
        "real-valued",
        header=_ARITHMETIC,
        cpu=functions.clip,
        arguments=("x", "min", "max"),
        torch=Torch("clamp", REAL),
        core=True,
    ),
    plain(
        "conj",
        1,
        "numeric",
        header=_ARITHMETIC,
        cpu=functions.conj,
        cpu_halves=True,
        torch=Torch("conj", REAL | COMPLEX),
    ),
    plain(
        "copysign",
        2,
        "real floating-point",
        header=_ARITHMETIC,
        cpu_halves=True,
        domain="finite finite",
        torch=FLOATS,
        core=True,
    ),
    plain(
        "divide",
        2,
        "floating-point",
        header=_ARITHMETIC,
        narrow=True,
        cost="divisions",
        long="complex",
        ulps=(0.5, 0.5, 2, 2),
        domain="any nonzero",
        torch=FLOATS,
        prepared="Divisor",
        core=True,
    ),
    plain(
        "floor_divide",
        2,
        "real-valued",
        header=_ARITHMETIC,
        cpu=functions.floor_divide,
        long="always",
        ulps=(1, 1),
        domain="any nonzero",
        core=True,
    ),
    row(
        "hypot",
        2,
        "real floating-point",
        header=_ARITHMETIC,
        narrow=True,
        cost="divisions",
        ulps=(1, 2),
        domain="finite finite",
        torch=FLOATS,
        core=True,
    ),
    plain(
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
    plain("imag", 1, "numeric", "real", header=_ARITHMETIC),
    plain("maximum", 2, "real-valued", header=_ARITHMETIC, torch=REAL, core=True),
    plain("minimum", 2, "real-valued", header=_ARITHMETIC, torch=REAL, core=True),
    plain(
        "multiply",
        2,
        "numeric",
        header=_ARITHMETIC,
        rounded="mul_rn({}, {})",
        ulps=(0.5, 0.5, 1, 1),
        torch=REAL_VALUED,
        core=True,
    ),
    plain("negative", 1, "numeric", header=_ARITHMETIC, torch=REAL, core=True),
    plain(
        "nextafter",
        2,
        "real floating-point",
        header=_ARITHMETIC,
        cpu=functions.nextafter,
        own_halves=True,
        torch=FLOATS,
        core=True,
    ),
    plain(
        "positive",
        1,
        "numeric",
        header=_ARITHMETIC,
        cpu=functions.positive,
        cpu_halves=True,
        torch=Torch("copy", ARITHMETIC),
    ),
    narrow(
        "pow",
        2,
        "numeric",
        header=_ARITHMETIC,
        cpu=functions.power,
        long="always",
        squares=True,
        ulps=(1.5, 1.5, 1, 30),
        domain="positive unit",
        torch=REAL,
    ),
    plain("real", 1, "numeric", "real", header=_ARITHMETIC, torch=Torch("copy", REAL_VALUED)),
    plain(
        "reciprocal",
        1,
        "floating-point",
        header=_ARITHMETIC,
        cpu=functions.reciprocal,
        long="complex",
        ulps=(0.5, 0.5, 1, 1),
        domain="nonzero",
        torch=FLOATS,
        core=True,
    ),
    plain(
        "remainder",
        2,
        "real-valued",
        header=_ARITHMETIC,
        cpu=functions.remainder,
        narrow=True,
        long="always",
        ulps=(0.5, 0.5),
        domain="any nonzero",
        core=True,
    ),
    plain("sign", 1, "numeric", header=_ARITHMETIC, cpu=functions.sign, long="complex", ulps=(0, 0, 3, 3), core=True),
    plain(
        "square",
        1,
        "numeric",
        header=_ARITHMETIC,
        rounded="square_rn({})",
        ulps=(0.5, 0.5, 1, 1),
        torch=FLOATS,
        core=True,
    ),
    plain(
        "subtract", 2, "numeric", header=_ARITHMETIC, rounded="add_rn({}, -{})", ulps=_ROUNDED, torch=REAL, core=True
    ),
    plain("equal", 2, "arithmetic", "bool", header=_COMPARISON, torch=Torch("eq", ARITHMETIC)),
    plain("greater", 2, "real-valued", "bool", header=_COMPARISON, torch=Torch("gt", REAL)),
    plain("greater_equal", 2, "real-valued", "bool", header=_COMPARISON, torch=Torch("ge", REAL)),
    plain("isfinite", 1, "numeric", "bool", header=_COMPARISON, cpu=functions.isfinite, of_integers=True),
    plain("isinf", 1, "numeric", "bool", header=_COMPARISON, cpu=functions.isinf, of_integers=False),
    plain("isnan", 1, "numeric", "bool", header=_COMPARISON, cpu=functions.isnan, of_integers=False),
    plain("less", 2, "real-valued", "bool", header=_COMPARISON, torch=Torch("lt", REAL)),
    plain("less_equal", 2, "real-valued", "bool", header=_COMPARISON, torch=Torch("le", REAL)),
    plain("not_equal", 2, "arithmetic", "bool", header=_COMPARISON, torch=Torch("ne", ARITHMETIC)),
    plain(
        "signbit",
        1,
        "real floating-point",
        "bool",
        header=_COMPARISON,
        cpu=functions.signbit,
        domain="finite",
        torch=FLOATS,
    ),
    plain(
        "where",
        3,
        "arithmetic",
        header=_COMPARISON,
        cpu=functions.where,
        cpu_halves=True,
        condition=True,
        arguments=("condition", "x1", "x2"),
        torch=REAL | BOOL | COMPLEX,  # torch 2.11 has none of the other unsigned integers
    ),
    plain("bitwise_and", 2, "integer or boolean", header=_BITWISE, torch=BITS),
    plain("bitwise_invert", 1, "integer or boolean", header=_BITWISE, torch=Torch("bitwise_not", INTEGERS | BOOL)),
    plain("bitwise_left_shift", 2, "integer", header=_BITWISE, cpu=np.left_shift, domain="any shift", torch=INTEGERS),
    plain("bitwise_or", 2, "integer or boolean", header=_BITWISE, torch=BITS),
    plain("bitwise_right_shift", 2, "integer", header=_BITWISE, cpu=np.right_shift, domain="any shift", torch=INTEGERS),
    plain("bitwise_xor", 2, "integer or boolean", header=_BITWISE, torch=BITS),
    plain("logical_and", 2, "arithmetic", "bool", header=_BITWISE, logical=True, torch=BOOL),
    plain("logical_not", 1, "arithmetic", "bool", header=_BITWISE, logical=True, torch=BOOL),
    plain("logical_or", 2, "arithmetic", "bool", header=_BITWISE, logical=True, torch=BOOL),
    plain("logical_xor", 2, "arithmetic", "bool", header=_BITWISE, logical=True, torch=BOOL),
    *TRANSCENDENTAL,
    plain("ceil", 1, "real-valued", header=_ROUNDING, torch=REAL_VALUED, core=True),
    plain("floor", 1, "real-valued", header=_ROUNDING, torch=REAL_VALUED, core=True),
    plain("round", 1, "numeric", header=_ROUNDING, cpu=functions.round, torch=REAL_VALUED, core=True),
    plain("trunc", 1, "real-valued", header=_ROUNDING, torch=REAL_VALUED, core=True),
)

# The rows of functions that only `xpops.numpy` has. `exponent` is the second result of `frexp`, as a float.
OF_NUMPY = (
    plain("exponent", 1, "real floating-point", header=_PARTS, cpu=functions.exponent, public="frexp"),
    plain("fmax", 2, "real-valued", header=_EXTREMES),
    plain("fmin", 2, "real-valued", header=_EXTREMES),
    plain("fmod", 2, "real-valued", header="numpy/remainder", cost="divisions", domain="any nonzero"),
    plain("gcd", 2, "integer", header=_BITWISE),
    plain("heaviside", 2, "real floating-point", header=_EXTREMES),
    plain("lcm", 2, "integer", header=_BITWISE),
    plain("ldexp", 2, "real floating-point", header=_PARTS, cpu=functions.ldexp),
    transcendental(
        "logaddexp2",
        2,
        "real floating-point",
        header="exponential",
        cpu=functions.logaddexp2,
        ulps=(4.5, 5),
        domain="positive positive",
    ),
)

OPERATORS: dict[str, Operator] = {row.name: row for row in (*_ROWS, *OF_NUMPY)}

# The operator of casts, copies and fills.
IDENTITY = OPERATORS["identity"]
# These rows have no function in `xpops`.
INTERNAL = frozenset((IDENTITY, *OF_NUMPY))
