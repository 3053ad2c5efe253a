"""Tables of all special cases that the standard lists for real operands: `x result`, `x1 x2 result`.

An operand is a word that `words` maps to a set of numbers; a row applies to all their combinations. A result is a
number (a multiple of π is approximate), an operand, ``|x1|``, a truth value, ``+`` or ``-`` (any value of that sign),
or ``nan+`` or ``nan-`` (a NaN of that sign).
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

NDArray = np.ndarray[Any, Any]

_ROUNDING = "int x; inf inf; -inf -inf; 0 0; -0 -0; nan nan"
_ODD = "nan nan; 0 0; -0 -0"
_LOGARITHM = "nan nan; <0 nan; z -inf; 1 0; inf inf"
_QUOTIENT = (
    "nan any nan; any nan nan; ±inf ±inf nan; z z nan; 0 >0 0; -0 >0 -0; 0 <0 -0; -0 <0 0; >0 0 inf; >0 -0 -inf; "
    "<0 0 -inf; <0 -0 inf; inf pf inf; inf nf -inf; -inf pf -inf; -inf nf inf; pf inf 0; pf -inf -0; nf inf -0; "
    "nf -inf 0; pf pf +; nf nf +; pf nf -; nf pf -"
)
_NAN_WINS = "nan any nan; any nan nan"

UNARY = {
    "abs": "nan nan; -0 0; -inf inf",
    "acos": "nan nan; >1 nan; <-1 nan; 1 0",
    "acosh": "nan nan; <1 nan; 1 0; inf inf",
    "asin": f"{_ODD}; >1 nan; <-1 nan",
    "asinh": f"{_ODD}; inf inf; -inf -inf",
    "atan": f"{_ODD}; inf π/2; -inf -π/2",
    "atanh": f"{_ODD}; <-1 nan; >1 nan; -1 -inf; 1 inf",
    "ceil": _ROUNDING,
    "cos": "nan nan; 0 1; -0 1; inf nan; -inf nan",
    "cosh": "nan nan; 0 1; -0 1; inf inf; -inf inf",
    "exp": "nan nan; 0 1; -0 1; inf inf; -inf 0",
    "expm1": f"{_ODD}; inf inf; -inf -1",
    "floor": _ROUNDING,
    "isfinite": "±inf F; nan F; finite T",
    "isinf": "±inf T; nan F; finite F",
    "isnan": "nan T; finite F; ±inf F",
    "log": _LOGARITHM,
    "log10": _LOGARITHM,
    "log1p": f"{_ODD}; <-1 nan; -1 -inf; inf inf",
    "log2": _LOGARITHM,
    "reciprocal": "nan nan; 0 inf; -0 -inf; inf 0; -inf -0; pf +; nf -",
    "round": f"{_ROUNDING}; 0.5 0; -0.5 -0; 1.5 2; -1.5 -2; 2.5 2; -2.5 -2; 3.5 4",
    "sign": "<0 -1; z 0; >0 1; nan nan",
    "signbit": "0 F; -0 T; inf F; -inf T; pf F; nf T; nan+ F; nan- T",
    "sin": f"{_ODD}; ±inf nan",
    "sinh": f"{_ODD}; inf inf; -inf -inf",
    "sqrt": f"{_ODD}; <0 nan; inf inf",
    "square": "nan nan; z 0; ±inf inf",
    "tan": f"{_ODD}; ±inf nan",
    "tanh": f"{_ODD}; inf 1; -inf -1",
    "trunc": _ROUNDING,
}
BINARY = {
    "add": "nan any nan; any nan nan; inf -inf nan; -inf inf nan; inf inf inf; -inf -inf -inf; inf finite inf; "
    "-inf finite -inf; finite inf inf; finite -inf -inf; -0 -0 -0; -0 0 0; 0 -0 0; 0 0 0; z nonzero x2; nonzero z x1; "
    "nonzero -x1 0",
    "atan2": "nan any nan; any nan nan; >0 0 π/2; >0 -0 π/2; 0 >0 0; 0 0 0; 0 -0 π; 0 <0 π; -0 >0 -0; -0 0 -0; "
    "-0 -0 -π; -0 <0 -π; <0 0 -π/2; <0 -0 -π/2; pf inf 0; pf -inf π; nf inf -0; nf -inf -π; inf finite π/2; "
    "-inf finite -π/2; inf inf π/4; inf -inf 3π/4; -inf inf -π/4; -inf -inf -3π/4",
    "copysign": "!nan <0 -|x1|; !nan -0 -|x1|; !nan 0 |x1|; !nan >0 |x1|; !nan nan- -|x1|; !nan nan+ |x1|; "
    "nan <0 nan-; nan -0 nan-; nan 0 nan+; nan >0 nan+; nan nan- nan-; nan nan+ nan+",
    "divide": _QUOTIENT,
    "equal": "nan any F; any nan F; inf inf T; -inf -inf T; -0 z T; 0 z T; finite x1 T; inf finite F; finite -inf F; "
    "inf -inf F; pf nf F; z nonzero F",
    "floor_divide": _QUOTIENT,
    "hypot": "±inf any inf; any ±inf inf; z finite |x2|; finite z |x1|; finite nan nan; nan nan nan; nan finite nan",
    "logaddexp": "nan any nan; any nan nan; inf !nan inf; !nan inf inf",
    "maximum": _NAN_WINS,
    "minimum": _NAN_WINS,
    "multiply": "nan any nan; any nan nan; ±inf z nan; z ±inf nan; >=0 pf +; pf >=0 +; <=0 nf +; nf <=0 +; >=0 nf -; "
    "nf >=0 -; <=0 pf -; pf <=0 -; inf inf inf; inf -inf -inf; -inf inf -inf; -inf -inf inf; inf pf inf; inf nf -inf; "
    "-inf pf -inf; -inf nf inf; pf inf inf; nf inf -inf; pf -inf -inf; nf -inf inf",
    "nextafter": "nan any nan; any nan nan; -0 0 0; 0 -0 -0",
    "not_equal": "nan any T; any nan T; inf -inf T; -inf inf T; pf nf T; z nonzero T; inf finite T; finite x1 F; "
    "z z F; inf inf F; -inf -inf F",
    "pow": "!1 nan nan; any 0 1; any -0 1; nan !0 nan; >|1| inf inf; >|1| -inf 0; ±1 inf 1; ±1 -inf 1; 1 !nan 1; "
    "<|1| inf 0; <|1| -inf inf; inf >0 inf; inf <0 0; -inf odd -inf; -inf even inf; -inf -odd -0; -inf -even 0; "
    "0 >0 0; 0 <0 inf; -0 odd -0; -0 even 0; -0 -odd -inf; -0 -even inf; nf fraction nan",
    "remainder": "nan any nan; any nan nan; ±inf ±inf nan; z z nan; 0 >0 0; -0 >0 0; 0 <0 -0; -0 <0 -0; >0 0 nan; "
    ">0 -0 nan; <0 0 nan; <0 -0 nan; inf pf nan; inf nf nan; -inf pf nan; -inf nf nan; pf inf x1; pf -inf x2; "
    "nf inf x2; nf -inf x1",
}
CLIP = "nan any any nan; any nan any nan; any any nan nan"

# The elementwise functions for which the text of the standard (2025.12) lists special cases. It defines `subtract` by
# `add`, and says nothing more of it.
SPECIAL = frozenset(
    (
        *("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clip", "copysign", "cos"),
        *("cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "hypot", "isfinite", "isinf", "isnan"),
        *("log", "log10", "log1p", "log2", "logaddexp", "maximum", "minimum", "multiply", "nextafter", "not_equal"),
        *("pow", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh"),
        "trunc",
    )
)


def rows(table: dict[str, str]) -> list[tuple[str, str]]:
    """The rows of a table, by function."""
    return [(name, row) for name, text in table.items() for row in text.split("; ")]


def words(dtype: Any) -> dict[str, list[float]]:
    """The set of numbers of a dtype for each word of the tables."""
    f: Any = ml_dtypes.finfo(dtype)
    eps, inf = float(f.eps), math.inf
    positive = [float(f.smallest_subnormal), float(f.smallest_normal), 0.25, 0.5, 1 - eps, 1.0, 1 + eps, 1.5, 2.0, 2.5]
    positive += [3.0, 1 / eps - 1, 1 / eps, float(f.max)]
    negative = [-x for x in positive]
    nonzero, zeros = positive + negative, [0.0, -0.0]
    finite, infinite, nans = zeros + nonzero, [inf, -inf], [math.nan, -math.nan]
    odd = [1.0, 3.0, 1 / eps - 1]
    even = [x for x in [*positive, inf] if x not in odd]  # not odd, so fractions and infinity are included
    numbers = finite + infinite
    return {
        **{str(x): [x] for x in (inf, -inf, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5)},
        "0": [0.0],
        "-0": [-0.0],
        "1": [1.0],
        "-1": [-1.0],
        "±1": [1.0, -1.0],
        "z": zeros,
        "±inf": infinite,
        "nan": nans,
        "nan+": [math.nan],
        "nan-": [-math.nan],
        "pf": positive,
        "nf": negative,
        "nonzero": nonzero,
        "finite": finite,
        "any": numbers + nans,
        "!nan": numbers,
        "int": [1.0, -2.0, 3.0, 1 / eps, -float(f.max)],
        ">0": [*positive, inf],
        "<0": [*negative, -inf],
        ">=0": [0.0, *positive],
        "<=0": [-0.0, *negative],
        ">1": [x for x in numbers if x > 1],
        "<1": [x for x in numbers if x < 1],
        "<-1": [x for x in numbers if x < -1],
        ">|1|": [x for x in numbers if abs(x) > 1],
        "<|1|": [x for x in numbers if abs(x) < 1],
        "!1": [x for x in numbers + nans if x != 1],
        "!0": [x for x in numbers + nans if x != 0],
        "odd": odd,
        "-odd": [-x for x in odd],
        "even": even,
        "-even": [-x for x in even],
        "fraction": [x for x in nonzero if x % 1 != 0],
    }


def operands(row: str, dtype: Any) -> list[NDArray]:
    """All combinations of the operands of a row, as one array for each operand."""
    *given, _ = row.split()
    sets = words(dtype)
    first = np.array(sets[given[0]], np.float64)
    if len(given) == 2 and given[1] in ("x1", "-x1"):
        hosts = [first, -first if given[1] == "-x1" else first]
    else:
        hosts = [each.reshape(-1) for each in np.meshgrid(*(np.array(sets[word]) for word in given))]
    return [_as(each, dtype) for each in hosts]


def _as(x: NDArray, dtype: Any) -> NDArray:
    """Convert `x`, but keep the signs of NaNs, which conversions lose."""
    signs = np.signbit(x)
    return np.copysign(x.astype(dtype), np.where(signs, -1, 1).astype(dtype))


def right(row: str, got: NDArray, hosts: list[NDArray]) -> NDArray:
    """A mask: where `got` is what a row requires."""
    word = row.split()[-1]
    if word in "TF":
        return np.asarray(got == (word == "T"))
    if word in "+-":
        return np.asarray(~np.isnan(got) & (np.signbit(got) == (word == "-")))
    if word.startswith("nan"):
        signs = np.signbit(got)
        return np.asarray(np.isnan(got) & (word == "nan" or signs if word != "nan+" else ~signs))
    if "x" in word:
        x = hosts[1 if "2" in word else 0]
        wanted = np.abs(x) if "|" in word else x
        wanted = -wanted if word.startswith("-") else wanted
    elif "π" in word:
        number = float(eval(word.replace("3π", "3*π"), {"π": math.pi}))
        close = np.abs(got.astype(np.float64) - number) <= 2 * float(ml_dtypes.finfo(got.dtype).eps) * abs(number)
        return np.asarray(close)
    else:
        wanted = np.array(float(word)).astype(got.dtype)
    return np.asarray((got == wanted) & (np.signbit(got) == np.signbit(wanted)))
