"""Types of functions whose results are arrays of their operands' framework, for type checkers.

A decorator of this package returns its function unchanged. Only type checkers see a difference: the function has one
overload for each framework. Operands of one framework give an array of this framework, operands of several frameworks
an `Array`. With `out`, the type of the result is that of `out`.
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
from xpops.api.signatures.operators import (
    binary_operator,
    choice_operator,
    clip_operator,
    ternary_operator,
    unary_operator,
)

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
    "ternary_operator",
    "tuple_function",
    "unary_operator",
]
