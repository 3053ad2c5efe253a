"""The short functors of the standard's functions for float16 and bfloat16, without a GPU: on all their numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.references import reference_of
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.rows import function_of
from tests.helpers.values import HALVES, equal_bits, report
from xpops.api import fusion
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.kernels.glue import functor_of
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator
from xpops.plan.signature import signature_of
from xpops.testing import generator, random_bits, special_values, ulp_error

NDArray = np.ndarray[Any, Any]

# The promise is 0.51. The rest is for the errors of the hardware's approximations, which are exact here.
BOUND = 0.505
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
    error = np.where((wanted == 0) & (np.signbit(found) != np.signbit(wanted)), np.inf, error)
    report(error <= BOUND, found, wanted, *operands)


@halves
@pytest.mark.parametrize("op", UNARY, ids=str)
def test_every_number(op: Operator, dtype: Any) -> None:
    check(op, emulated(op, every(dtype)), every(dtype))


def pairs(dtype: Any) -> tuple[NDArray, NDArray]:
    """All numbers with random ones: random bits, equal and near exponents, and numbers around 1; and special values."""
    x, random = every(dtype), generator(dtype, "narrow")
    special = np.meshgrid(special_values(dtype), special_values(dtype))
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


@pytest.mark.parametrize("dtypes", [HALVES, HALVES[::-1]], ids=str)
@pytest.mark.parametrize("op", NARROW, ids=str)
def test_the_other_dtype(op: Operator, dtypes: Any) -> None:
    """Results are rounded once, to the dtype of `out`."""
    dtype, out = dtypes
    operands = (every(dtype),) if op.arity == 1 else pairs(dtype)
    found = emulated(op, *operands, out=out)
    assert found.dtype == out
    check(op, found, *operands)


@pytest.mark.parametrize("op", NARROW, ids=str)
def test_other_loops(op: Operator) -> None:
    """Wider operands, and results, have the functor of float32 and float64."""
    for loop, out in ((dt.float32, dt.float16), (dt.float64, dt.bfloat16), (dt.float16, dt.float32)):
        assert functor_of(op, (loop,) * op.arity, out) == (op.functor, False)
    x = np.linspace(-3e5, 3e5, 1001).astype(np.float32)
    check(op, emulated(op, *(x,) * op.arity, out=dt.bfloat16), *(x,) * op.arity)


@halves
@pytest.mark.parametrize("op", NARROW, ids=str)
def test_fused_it_has_the_same_bits(op: Operator, dtype: Any) -> None:
    operands = (every(dtype),) if op.arity == 1 else tuple(x[::7] for x in pairs(dtype))
    specs = tuple(layout_on_gpu(x) for x in operands)
    program = fusion._plan(fusion.fuse(function_of(op)), EmulatedEngine(), specs)
    (found,) = run(EmulatedEngine(), *program, *operands)
    wanted = emulated(op, *operands)
    report(equal_bits(found, wanted), found, wanted, *operands)


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("op", NARROW, ids=str)
def test_it_compiles_without_calls(op: Operator, capability: int) -> None:
    for dtype in HALVES:
        x = layout_of(dtype, (4096,), None, Device("cuda"))
        signature = signature_of(op, (x,) * op.arity)
        plan, glue = planned(op, signature, (x,) * op.arity, x, capability)
        assert not plan.outlined
        assert compile_cubin(op.name, glue.source, capability)


@pytest.mark.parametrize("op", OPERATORS.values(), ids=str)
def test_rows_tell_of_the_functors(op: Operator) -> None:
    math = Path(__file__).parents[2] / "native/xpops/math"
    headers = "".join(path.read_text() for path in (math / f"{op.header}.cuh", *math.glob("narrow/*.cuh")))
    assert op.narrow == bool(re.search(rf"\bstruct Narrow{op.functor}\b", headers))
