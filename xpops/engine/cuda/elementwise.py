"""Elementwise calls on CUDA: plan, glue, kernel, launcher."""

from __future__ import annotations

from typing import Any

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.glue import Glue, elementwise_glue
from xpops.engine.cuda.tuning import elementwise_policy
from xpops.engine.protocol import Kernel
from xpops.ops.operator import Operator
from xpops.plan.elementwise import ElementwisePlan, plan_elementwise
from xpops.plan.signature import Operand, Signature
from xpops.plan.tiled import plan_tiled


def planned(
    op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout, capability: int
) -> tuple[ElementwisePlan, Glue]:
    """The plan and the glue of one call. Needs no GPU. `out` is not empty."""
    policy = elementwise_policy(op, signature.loop[-1], capability)
    plan = plan_tiled(out, operands, policy) or plan_elementwise(out, operands, policy)
    return plan, elementwise_glue(op, signature, out, operands, plan)


def with_python_scalars(kernel: Kernel, operands: tuple[Operand, ...], signature: Signature) -> Kernel:
    """`kernel` for calls whose scalars are not of the type that travels: complex values go as two doubles."""
    complexes = [
        not isinstance(operand, Layout) and loop in dt.CATEGORIES["complex floating-point"]
        for operand, loop in zip(operands, signature.loop, strict=True)
    ]
    if not any(complexes):
        return kernel

    def split(stream: int, out: int, *values: Any) -> None:
        flat: list[Any] = []
        for value, is_complex in zip(values, complexes, strict=True):
            flat += [complex(value).real, complex(value).imag] if is_complex else [value]
        kernel(stream, out, *flat)

    return split


def empty_kernel(stream: int, out: int, *values: Any) -> None:
    """What computes a result without elements."""
