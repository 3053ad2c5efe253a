"""What tests derive from the rows of operators: public functions, operands, allowed errors.

The references are in `conformance/references.py`, because the fuzzer uses them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import xpops as xp
from tests.helpers.values import HALVES, binary_values, computed, unary_values
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.dtypes import DType
from xpops.dispatch import elementwise
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import INTERNAL, OF_NUMPY, OPERATORS
from xpops.ops.operator import Operator

NDArray = np.ndarray[Any, Any]

STANDARD = tuple(op for op in OPERATORS.values() if op not in INTERNAL)
PUBLIC = (*STANDARD, *ACTIVATIONS.values())
COMPUTED = (*PUBLIC, *OF_NUMPY)
# The error allowed for NumPy's own functions on the CPU. Its complex power is less accurate.
ON_CPU, POWER_ON_CPU = 4.0, 60.0


def function_of(op: Operator) -> Callable[..., Any]:
    """The public function of an operator, which takes the parameters as further arguments; else the row's call."""
    if op in OF_NUMPY:
        return lambda *operands, out=None: elementwise(op, operands, out)
    function = getattr(xp, op.public, None) or getattr(xp.nn, op.public)
    names = op.arguments[op.arity - op.parameters :]

    def call(*arguments: Any, **options: Any) -> Any:
        operands = arguments[: op.arity - op.parameters]
        return function(*operands, **dict(zip(names, arguments[len(operands) :], strict=False)), **options)

    return partial(call, **op.options)


def accepts(op: Operator, dtype: DType) -> bool:
    """Whether an operator accepts a dtype, with or without conversion."""
    return dtype in dt.CATEGORIES[op.accepts] or (op.floating and dtype in dt.CATEGORIES["integer or boolean"])


def values(op: Operator, dtype: DType, size: int = 2000) -> list[NDArray]:
    """Special and random operands. If the operator takes a condition, it is the first."""
    x, y = (unary_values(dtype, size),) * 2 if op.arity - op.parameters == 1 else binary_values(dtype, size)
    operands = [x, y, np.roll(y, 37)]
    if op.condition:
        operands.insert(0, np.arange(x.size) % 3 == 0)
    return operands[: op.arity - op.parameters]


def ordinary_values(op: Operator, dtype: DType, shape: tuple[int, ...]) -> list[NDArray]:
    """Small operands in the row's domain, for which most results are finite and not special."""
    count = np.arange(int(np.prod(shape))).reshape(shape)
    if dtype.kind in "biu":
        each = {word: (count % 7 + 1).astype(dtype) for word in op.domain.split()}
    else:
        each = {
            word: ((count % 13 - 6) / 4 if word in ("any", "finite") else (count % 13 + 1) / 16).astype(dtype)
            for word in op.domain.split()
        }
    operands = [each[word] for word in op.domain.split()]
    return [operands[0] > 1, *operands[1:]] if op.condition else operands


def parameters(op: Operator, dtype: DType) -> list[tuple[Any, ...]]:
    """The parameters' defaults, and other values, rounded as in a computation of that dtype."""
    wide = computed(dtype) if dtype in dt.REAL_FLOATS else dt.float32
    usual = tuple(wide.type(default) for default in op.defaults)
    others = tuple(wide.type(0.3 + 0.25 * place) * default for place, default in enumerate(usual))
    return [usual, others] if usual else [()]


def allowed_error(op: Operator, dtype: DType, device: Any) -> float:
    """The allowed error, in units in the last place, of a result of a dtype on a device."""
    promised = op.error(dtype)
    if device != CPU or dtype in HALVES:
        return promised
    return max(promised, POWER_ON_CPU if op.name == "pow" and dtype in dt.COMPLEX_FLOATS else ON_CPU)
