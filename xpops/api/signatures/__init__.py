"""Types of functions whose results are arrays of their operands' framework, for type checkers.

A decorator here returns its function as it is. What it changes is the type that mypy and pyright see: overloads by
framework. Operands of one framework give an array of that framework; operands of several give an `Array`; a result
written to `out` is `out`.
"""

from xpops.api.signatures.functions import (
    Function,
    FusedFunction,
    TupleFunction,
    array_function,
    binary_function,
    contraction,
    scalar_function,
    sequence_function,
    ternary_function,
    tuple_function,
)
from xpops.api.signatures.operators import binary_operator, choice_operator, clip_operator, unary_operator

__all__ = [
    "Function",
    "FusedFunction",
    "TupleFunction",
    "array_function",
    "binary_function",
    "binary_operator",
    "choice_operator",
    "clip_operator",
    "contraction",
    "scalar_function",
    "sequence_function",
    "ternary_function",
    "tuple_function",
    "unary_operator",
]
