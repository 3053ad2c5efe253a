"""What tests derive from the rows of operators: public functions, references, operands, allowed errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import xpops as xp
from tests.helpers import activations
from tests.helpers.values import HALVES, binary_values, computed, unary_values
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.dtypes import DType
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import INTERNAL, OPERATORS
from xpops.ops.operator import Operator
from xpops.ops.reduction import Reduction, reduction_dtypes

NDArray = np.ndarray[Any, Any]

STANDARD = tuple(op for op in OPERATORS.values() if op not in INTERNAL)
PUBLIC = (*STANDARD, *ACTIVATIONS.values())
# The error allowed for NumPy's own functions on the CPU. Its complex power is less accurate.
ON_CPU, POWER_ON_CPU = 4.0, 60.0


def floor_divide(x: NDArray, y: NDArray) -> NDArray:
    """The standard's floor_divide: ``x / y`` if an operand is infinite or the divisor is 0; else its floor."""
    if x.dtype.kind != "f":
        return np.asarray(np.floor_divide(x, y))
    return np.where(np.isinf(x) | np.isinf(y) | (y == 0), x / y, np.floor_divide(x, y))


def log1p(x: NDArray) -> NDArray:
    """log1p without the complex sum ``1 + x``, in which NumPy loses all digits of a small `x`."""
    if x.dtype.kind != "c":
        return np.asarray(np.log1p(x))
    return np.asarray(np.log1p(x.real * (2 + x.real) + x.imag**2) / 2 + 1j * np.arctan2(x.imag, 1 + x.real))


def power(x: NDArray, y: NDArray) -> NDArray:
    """Powers. Those of integers wrap; negative powers of integers are rounded toward zero."""
    if x.dtype.kind != "i":
        return np.asarray(np.power(x, y))
    x, y = np.broadcast_arrays(x, y)
    powers = [
        pow(a, b, 2**64) if b >= 0 else {1: 1, -1: -1 if b % 2 else 1}.get(a, 0) % 2**64
        for a, b in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    ]
    return np.array(powers, np.uint64).astype(x.dtype).reshape(x.shape)


def sign(x: NDArray) -> NDArray:
    """The sign: +0 for -0, and ``x / abs(x)`` for complex numbers."""
    if x.dtype.kind == "c":
        return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))
    return np.asarray(np.where(x == 0, 0, np.sign(x)).astype(x.dtype))


# References for operators where neither NumPy's function nor the row's is one.
REFERENCES: dict[str, Callable[..., Any]] = {
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "floor_divide": floor_divide,
    "log1p": log1p,
    "pow": power,
    "reciprocal": lambda x: x.dtype.type(1) / x,
    "round": lambda x: x if x.dtype.kind in "iu" else np.round(x),
    "sign": sign,
    **activations.REFERENCES,
}


def reference_of(op: Operator) -> Callable[..., Any]:
    """The reference of an operator: NumPy's function, even if the CPU engine uses another one; else the row's."""
    found: Callable[..., Any] = REFERENCES.get(op.name) or getattr(np, op.cpu.__name__, op.cpu)
    return found


def function_of(op: Operator) -> Callable[..., Any]:
    """The public function of an operator, which takes the parameters as further arguments."""
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


def reduced(op: Reduction, x: NDArray, axis: Any = None, keepdims: bool = False, correction: float = 0.0) -> NDArray:
    """A reduction of an array by the NumPy function of its row."""
    along = {"axis": axis, "keepdims": keepdims}
    if x.dtype.kind in "biu":
        x = x.astype(reduction_dtypes(op, x.dtype)[0])
    if not isinstance(op.cpu, np.ufunc):
        return np.asarray(op.cpu(x, **along))
    if op.dispersion:
        variance = np.asarray(np.var(x, **along, ddof=correction))
        return np.sqrt(variance) if op.root else variance
    total = np.asarray(op.cpu.reduce(terms(op, x), **along))
    return total / np.float64(x.size / max(total.size, 1)) if op.averages else total


def terms(op: Reduction, x: NDArray) -> NDArray:
    """The term of each element that a reduction combines."""
    return x if op.term is None else np.asarray(op.term(x))
