"""The short functors of the standard's functions for float16 and bfloat16, on all numbers, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.references import reference_of
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.values import HALVES, equal_bits, generator, grid, random_bits, report, ulp_error
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator
from xpops.plan.signature import signature_of

NDArray = np.ndarray[Any, Any]

# The hardware's approximations add at most 0.0025 units to this.
BOUND = 0.5065
NARROW = [op for op in OPERATORS.values() if op.narrow]
UNARY, BINARY = ([op for op in NARROW if op.arity == arity] for arity in (1, 2))
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
halves = pytest.mark.parametrize("dtype", HALVES, ids=str)


def emulated(op: Operator, *operands: NDArray, out: Any = None) -> NDArray:
    engine, layouts = EmulatedEngine(), tuple(layout_on_gpu(x) for x in operands)
    signature = signature_of(op, layouts)
    result = layout_of(out or signature.dtype, signature.shape, None, layouts[0].device)
    return run(engine, (result,), engine.elementwise(op, signature, layouts, result), *operands)[0]


def every(dtype: Any) -> NDArray:
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


def check(op: Operator, found: NDArray, *operands: NDArray) -> None:
    wanted = reference_of(op)(*(x.astype(np.longdouble) for x in operands))
    if op.name == "hypot":
        wanted = np.where(np.isinf(operands[0]) | np.isinf(operands[1]), np.inf, wanted)
    error = ulp_error(found, wanted)
    if op.name == "logaddexp":
        error = np.where(np.abs(wanted) < np.maximum(*(np.abs(x.astype(np.longdouble)) for x in operands)) / 2, 0, error)
    error = np.where((wanted == 0) & (np.signbit(found) != np.signbit(wanted)), np.inf, error)
    report(error <= BOUND, found, wanted, *operands)


@halves
@pytest.mark.parametrize("op", UNARY, ids=str)
def test_every_number(op: Operator, dtype: Any) -> None:
    check(op, emulated(op, every(dtype)), every(dtype))


def pairs(dtype: Any) -> tuple[NDArray, NDArray]:
    """All numbers with random ones: random bits, equal and near exponents, and numbers around 1; and special values."""
    x, random = every(dtype), generator(dtype, "narrow")
    special = np.meshgrid(grid(dtype), grid(dtype))
    parts = [(special[0].ravel(), special[1].ravel()), (x, random_bits(dtype, x.size, "y"))]
    for digits in (1, 4, 12):
        parts.append((x, (x.astype(np.float32) * 2.0 ** random.uniform(-digits, digits, x.size)).astype(dtype)))
    parts += [(x, -parts[2][1]), (x, x), (x, (3 * random.normal(size=x.size)).astype(dtype))]
    parts += [(random.normal(size=x.size).astype(dtype), random.normal(size=x.size).astype(dtype))]
    parts += [(np.zeros_like(x), x)]
    parts += [part[::-1] for part in parts]
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


@halves
@pytest.mark.parametrize("op", BINARY, ids=str)
def test_pairs(op: Operator, dtype: Any) -> None:
    x, y = pairs(dtype)
    check(op, emulated(op, x, y), x, y)
