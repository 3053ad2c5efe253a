"""Products of matrices: a plan over contraction, for `matmul` and for ``@``."""

from __future__ import annotations

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.promotion import promote
from xpops.dispatch.contraction import contract
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import products as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides.broadcast import broadcast_shapes

NAMES = ("x1", "x2")


def require_factors(specs: tuple[Operand, ...], function: str) -> tuple[Layout, Layout, DType]:
    """The layouts of both operands, and the dtype of their product.

    Raises
    ------
    TypeError
        If an operand is no array, a dtype is not accepted, or the dtypes do not promote to a common dtype.
    """
    x1, x2 = (require_array(spec, function, name) for spec, name in zip(specs, NAMES, strict=True))
    for name, x in zip(NAMES, (x1, x2), strict=True):
        if x.dtype not in dt.CATEGORIES["arithmetic"]:
            raise TypeError(f"{function}: {name} has dtype {x.dtype}; accepted: any dtype but float8")
    return x1, x2, promote((x1.dtype, x2.dtype), function)


@differentiable(derivative.matmul_first, derivative.matmul_second)
def product(engine: Engine, specs: tuple[Operand, ...], tf32: bool) -> Program:
    """The program of `matmul`. The public function documents the errors."""
    x1, x2, dtype = require_factors(specs, "matmul")
    for name, x in zip(NAMES, (x1, x2), strict=True):
        if x.ndim == 0:
            raise ValueError(f"matmul: {name} has shape (); accepted: at least one axis")
    if x1.shape[-1] != x2.shape[-2 if x2.ndim > 1 else -1]:
        raise ValueError(
            f"matmul: x1 has shape {x1.shape} and x2 {x2.shape}; accepted: as many columns in x1 as rows in x2"
        )
    stack = broadcast_shapes(x1.shape[:-2], x2.shape[:-2], function="matmul")
    rows, columns = ["row"] * (x1.ndim > 1), ["column"] * (x2.ndim > 1)
    outer = list(range(-len(stack), 0))
    first = [*outer[len(stack) - max(x1.ndim - 2, 0) :], *rows, "inner"]
    second = [*outer[len(stack) - max(x2.ndim - 2, 0) :], "inner", *columns]
    return contract(engine, (x1, x2), (first, second), (*outer, *rows, *columns), dtype, tf32)
