"""Fused functions round where their operators do: no product of one operator is contracted with a sum of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.rows import COMPUTED, function_of
from tests.helpers.sass import arithmetic
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch import elementwise
from xpops.dispatch.fusion.recording import record
from xpops.engine.cuda.fused.elementwise import fused_source
from xpops.engine.cuda.kernels.glue import elementwise_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.operator import Operator
from xpops.plan.elementwise import plan_elementwise
from xpops.plan.signature import signature_of

# Functors written as docs/architecture.md describes, in the header of operators that contract nothing.
FUNCTORS = """
namespace xpops {
struct Product { template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x * y; } };
struct Total { template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x + y; } };
struct Polynomial { template <class T> XPOPS_DEVICE T operator()(T x) const { return x * x + x; } };
struct Squares { template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x * x + y * y; } };
}
"""
PRODUCT, TOTAL, SQUARES = (
    Operator(name, 2, "numeric", "promoted", "arithmetic", np.add) for name in ("product", "total", "squares")
)
POLYNOMIAL = Operator("polynomial", 1, "numeric", "promoted", "arithmetic", np.square)
# The compiler may contract these with their neighbours.
BARE = partial(Operator, accepts="numeric", result="promoted", header="arithmetic", cpu=np.add, contracts=False)
BARE_PRODUCT, BARE_TOTAL = BARE("product", 2), BARE("total", 2)


def call(op: Operator) -> Callable[..., Any]:
    return lambda *operands: elementwise(op, operands)


product, total, squares, polynomial = map(call, (PRODUCT, TOTAL, SQUARES, POLYNOMIAL))


def one(dtype: Any) -> Any:
    """A layout of one element, so that the kernel computes nothing else."""
    return layout_of(dtype, (1,), None, Device("cuda"), 256)


def compiled(source: str) -> Counter[str]:
    return arithmetic(compile_cubin("test", source.replace("using", FUNCTORS + "using", 1), 90))


def alone(op: Operator, dtype: Any) -> Counter[str]:
    """The arithmetic of an operator's own kernel."""
    operands = (one(dtype),) * op.arity
    plan = plan_elementwise(one(dtype), operands, tuning_of(90).elementwise)
    return compiled(elementwise_glue(op, signature_of(op, operands), one(dtype), operands, plan).source)


def together(function: Callable[..., Any], dtype: Any, count: int) -> Counter[str]:
    """The arithmetic of a fused function's kernel."""
    return compiled(source_of(function, dtype, count))


def source_of(function: Callable[..., Any], dtype: Any, count: int) -> str:
    (part,) = record("fused", function, (one(dtype),) * count).parts
    return fused_source(part.expression, part.outs, 90).source


REAL = [dt.float32, dt.float64]
CASES: dict[str, tuple[Callable[..., Any], int, tuple[Operator, ...]]] = {
    "a product, then a sum": (lambda x, y, z: product(x, y) + z, 3, (PRODUCT,)),
    "a product, then a functor's sum": (lambda x, y, z: total(x * y, z), 3, (TOTAL,)),
    "two functors": (lambda x, y, z: total(product(x, y), z), 3, (PRODUCT, TOTAL)),
    "a product to subtract": (lambda x, y, z: z - product(x, y), 3, (PRODUCT,)),
    "its own contraction stays": (lambda x, y: polynomial(x) * y + y, 2, (POLYNOMIAL,)),
    "twice": (lambda x: polynomial(polynomial(x)), 1, (POLYNOMIAL, POLYNOMIAL)),
}


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_no_contraction_that_is_not_there_unfused(name: str, dtype: Any) -> None:
    function, count, ops = CASES[name]
    assert together(function, dtype, count)["fma"] == sum(alone(op, dtype)["fma"] for op in ops)


@pytest.mark.parametrize(
    "op", [op for op in COMPUTED if op.result != "bool" and dt.float32 in dt.CATEGORIES[op.accepts]], ids=str
)
def test_no_operator_contracts_with_its_neighbours(op: Operator) -> None:
    """Fused with a neighbour that could be contracted, it has as many FMAs as with an intrinsic, which cannot."""

    def between(multiply: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
        def function(x: Any, y: Any) -> Any:
            operands = ((x > 0,) if op.condition else ()) + (multiply(x, y), x, y)
            return add(function_of(op)(*operands[: op.arity - op.parameters]), x)

        return function

    neighbours = ((xp.multiply, xp.add), (call(BARE_PRODUCT), xp.add), (xp.multiply, call(BARE_TOTAL)))
    assert len({together(between(*pair), dt.float32, 2)["fma"] for pair in neighbours}) == 1


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_a_product_that_functors_share_is_contracted_as_in_each_alone(dtype: Any) -> None:
    """``x * x + y * y`` is an FMA of the first square, the second one is rounded, even if functors share ``x * x``."""
    found = together(lambda w, x, y, z: (squares(x, w), squares(x, y), squares(x, z)), dtype, 4)
    for name in ("fma", "mul"):
        assert found[name] == 3 * alone(SQUARES, dtype)[name] > 0


def test_operators_that_contract_nothing_cost_nothing() -> None:
    text = source_of(lambda x, y: xp.maximum(xp.floor(x), -y), dt.float32, 2)
    assert "settled" not in text
    assert "loaded" not in text
