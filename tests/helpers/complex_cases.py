"""Tables of all special cases that the standard lists for complex functions: `a b -> re im`, with signs of zeros.

`f` is any positive finite number, `n` a nonzero one, `z` +0 or -0, `any` anything; `~` before a part of the result
means that its sign is not specified; `cis` means infinity or 0 times (cos b, sin b). Where a part of an operand is not
0 or NaN, the conjugate operand has the conjugate result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]

SETS = {
    "inf": [math.inf],
    "-inf": [-math.inf],
    "nan": [math.nan],
    "0": [0.0],
    "-0": [-0.0],
    "1": [1.0],
    "-1": [-1.0],
    "z": [0.0, -0.0],
    "f": [1e-30, 0.5, 1.0, 2.5, 1e30],
    "n": [1e-30, 0.5, 2.5, 1e30, -1e-30, -0.5, -2.5, -1e30],
    "finite": [0.0, -0.0, 1e-30, 0.5, 2.5, 1e30, -0.5, -1e30],
    "±inf": [math.inf, -math.inf],
    "any": [0.0, -0.0, 2.5, -2.5, math.inf, -math.inf, math.nan],
    "non0": [1e-30, 2.5, -2.5, math.inf, -math.inf, math.nan],
}
VALUES = {"pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4}
TABLES = {
    "acos": "z 0 pi/2 -0; z nan pi/2 nan; finite inf pi/2 -inf; n nan nan nan; -inf f pi -inf; inf f 0 -inf; "
    "-inf inf 3pi/4 -inf; inf inf pi/4 -inf; ±inf nan nan ~inf; nan finite nan nan; nan inf nan -inf; nan nan nan nan",
    "acosh": "z 0 0 pi/2; finite inf inf pi/2; n nan nan nan; 0 nan nan ~pi/2; -inf f inf pi; inf f inf 0; "
    "-inf inf inf 3pi/4; inf inf inf pi/4; ±inf nan inf nan; nan finite nan nan; nan inf inf nan; nan nan nan nan",
    "asinh": "0 0 0 0; f inf inf pi/2; finite nan nan nan; inf f inf 0; inf inf inf pi/4; nan 0 nan 0; nan n nan nan; "
    "nan inf ~inf nan; nan nan nan nan",
    "atanh": "0 0 0 0; 0 nan 0 nan; 1 0 inf 0; f inf 0 pi/2; n nan nan nan; inf f 0 pi/2; inf inf 0 pi/2; "
    "inf nan 0 nan; nan finite nan nan; nan inf ~0 pi/2; nan nan nan nan",
    "cosh": "0 0 1 0; 0 inf nan ~0; 0 nan nan ~0; n inf nan nan; n nan nan nan; inf 0 inf 0; inf n cis inf; "
    "inf inf ~inf nan; inf nan inf nan; nan z nan ~0; nan n nan nan; nan nan nan nan",
    "sinh": "0 0 0 0; 0 inf ~0 nan; 0 nan ~0 nan; f inf nan nan; f nan nan nan; inf 0 inf 0; inf f cis inf; "
    "inf inf ~inf nan; inf nan ~inf nan; nan 0 nan 0; nan n nan nan; nan nan nan nan",
    "tanh": "0 0 0 0; n inf nan nan; 0 inf 0 nan; n nan nan nan; 0 nan 0 nan; inf f 1 0; inf inf 1 ~0; inf nan 1 ~0; "
    "nan 0 nan 0; nan non0 nan nan; nan nan nan nan",
    "exp": "z 0 1 0; finite inf nan nan; finite nan nan nan; inf 0 inf 0; -inf finite cis 0; inf n cis inf; "
    "-inf inf ~0 ~0; inf inf ~inf nan; -inf nan ~0 ~0; inf nan ~inf nan; nan 0 nan 0; "
    "nan non0 nan nan; nan nan nan nan",
    "expm1": "z 0 0 0; finite inf nan nan; finite nan nan nan; inf 0 inf 0; -inf finite cis-1 0; inf n cis-1 inf; "
    "-inf inf -1 ~0; inf inf ~inf nan; -inf nan -1 ~0; inf nan ~inf nan; nan 0 nan 0; "
    "nan non0 nan nan; nan nan nan nan",
    "log": "-0 0 -inf pi; 0 0 -inf 0; finite inf inf pi/2; finite nan nan nan; -inf f inf pi; inf f inf 0; "
    "-inf inf inf 3pi/4; inf inf inf pi/4; ±inf nan inf nan; nan finite nan nan; nan inf inf nan; nan nan nan nan",
    "log1p": "-1 0 -inf 0; finite inf inf pi/2; finite nan nan nan; -inf f inf pi; inf f inf 0; -inf inf inf 3pi/4; "
    "inf inf inf pi/4; ±inf nan inf nan; nan finite nan nan; nan inf inf nan; nan nan nan nan",
    "sqrt": "z 0 0 0; any inf inf inf; finite nan nan nan; -inf f 0 inf; inf f inf 0; -inf nan nan ~inf; "
    "inf nan inf nan; nan finite nan nan; nan nan nan nan",
    "abs": "±inf any inf; any ±inf inf; nan finite nan; finite nan nan; nan nan nan",
    "sign": "z z 0 0; nan any nan nan; any nan nan nan",
}
# The functions for which the text of the standard (2025.12) lists special cases of complex operands.
SPECIAL = frozenset(
    (
        *("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atanh", "cos", "cosh", "divide", "equal", "exp"),
        *("expm1", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "multiply", "not_equal", "pow"),
        *("round", "sign", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
)
ROWS = [(name, row) for name, table in TABLES.items() for row in table.split("; ")]


def arguments(row: str, dtype: Any) -> NDArray:
    """The operands of a row."""
    a, b = row.split()[:2]
    return np.array([complex(x, y) for x in SETS[a] for y in SETS[b]], dtype)


def mistake(row: str, x: Any, got: Any) -> bool:
    """Whether `got`, a NumPy scalar, differs from what a row requires for the operand `x`."""
    wanted = row.split()[2:]
    if len(wanted) == 1:
        return not _part_matches(got, wanted[0])
    if wanted[0].startswith("cis"):
        magnitude, offset = float(wanted[1]), -1 if wanted[0] == "cis-1" else 0
        b = np.float64(x.imag)
        real = magnitude * np.cos(b) + offset if offset else magnitude * np.cos(b)
        return not all(
            part == want and (want != 0 or np.signbit(part) == np.signbit(want))
            for part, want in ((got.real, real), (got.imag, magnitude * np.sin(b)))
        )
    return not (_part_matches(got.real, wanted[0]) and _part_matches(got.imag, wanted[1]))


def _part_matches(got: Any, wanted: str) -> bool:
    word = wanted.lstrip("~-")
    number = VALUES[word] if word in VALUES else float(word)
    if math.isnan(number):
        return bool(np.isnan(got))
    expected = got.dtype.type(-number if wanted.startswith("-") else number)
    if wanted.startswith("~"):
        expected = np.copysign(expected, got)
    if np.signbit(got) != np.signbit(expected):
        return False
    return bool(got == expected if np.isinf(expected) else abs(got - expected) <= np.spacing(abs(expected)))
