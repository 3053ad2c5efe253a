"""Elementwise calls on CUDA: plan, glue, kernel, launcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.glue import Glue, assign_glue, elementwise_glue
from xpops.engine.cuda.tuning import elementwise_policy, tuning_of
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.operator import Operator
from xpops.plan.elementwise import ElementwisePlan, plan_elementwise
from xpops.plan.selection import plan_assign
from xpops.plan.signature import Operand, Signature, signature_of
from xpops.plan.transpose import plan_transpose

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.blocks import Block
    from xpops.engine.cuda.runtime.runtime import Runtime


def elementwise(
    runtime: Runtime, op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout
) -> Kernel:
    """See `xpops.engine.protocol.Engine.elementwise`."""
    if out.size == 0:
        return empty_kernel
    constant = op.of_integers
    if constant is not None and signature.loop[0].kind in "iu":
        fill = unary(runtime, IDENTITY, bool, out)
        return lambda stream, out, x: fill(stream, out, constant)
    plan, glue = planned(op, signature, operands, out, runtime.context.capability)
    launch = runtime.launcher(op.name, glue.source, plan.blocks, plan.block, glue.slots, plan.tail)
    return with_python_scalars(launch, operands, signature.loop)


def unary(runtime: Runtime, op: Operator, x: Operand, out: Layout) -> Kernel:
    """The kernel ``(stream, out, x)`` that writes `op` of `x`, converted to the dtype of `out`."""
    return elementwise(runtime, op, signature_of(op, (x,), out.dtype), (x,), out)


def dense_copier(runtime: Runtime, x: Layout) -> tuple[Layout, Callable[[int, int], tuple[int, Block]]]:
    """A C-contiguous layout of the elements of `x`, and a function that copies them for a kernel.

    It takes the stream and the address of `x`, and returns the address of the copy and its block. Keep the block until
    the kernel was launched: the pool is ordered on the stream.
    """
    dense = layout_of(x.dtype, x.shape, None, x.device)
    copy, allocate = unary(runtime, IDENTITY, x, dense), runtime.pool.allocator(dense.nbytes)

    def copied(stream: int, x: int) -> tuple[int, Block]:
        address, block = allocate(stream)
        copy(stream, address, x)
        return address, block

    return dense, copied


def assign(runtime: Runtime, signature: Signature, mask: Layout, value: Operand, out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.assign`."""
    if out.size == 0:
        return empty_kernel
    policy = tuning_of(runtime.context.capability).elementwise
    if plan_transpose(out, (mask, value, out), policy):
        choose = elementwise(runtime, OPERATORS["where"], signature, (mask, value, out), out)
        return lambda stream, out, mask, value: choose(stream, out, mask, value, out)
    found = plan_assign(out, mask, value, policy)
    plan, glue = found.elementwise, assign_glue(out, mask, value, found)
    launch = runtime.launcher("assign", glue.source, plan.blocks, plan.block, glue.slots, plan.tail)
    return with_python_scalars(launch, (mask, value), signature.loop[:2])


def planned(
    op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout, capability: int
) -> tuple[ElementwisePlan, Glue]:
    """The plan and the glue of one call. Needs no GPU. `out` is not empty."""
    policy = elementwise_policy(op, signature.loop[-1], capability)
    plan = plan_transpose(out, operands, policy) or plan_elementwise(out, operands, policy, skews=True)
    return plan, elementwise_glue(op, signature, out, operands, plan)


def with_python_scalars(kernel: Kernel, operands: tuple[Operand, ...], loops: tuple[DType, ...]) -> Kernel:
    """Wrap `kernel` to convert Python scalars: complex ones to two doubles, those for a bool loop to bools."""
    travel = [
        _travel(operand, loop) if not isinstance(operand, Layout) else None
        for operand, loop in zip(operands, loops, strict=True)
    ]
    if not any(travel):
        return kernel

    def converting(stream: int, out: int, *values: Any) -> None:
        flat: list[Any] = []
        for value, convert in zip(values, travel, strict=True):
            flat += convert(value) if convert is not None else [value]
        kernel(stream, out, *flat)

    return converting


def _travel(kind: type, loop: DType) -> Callable[[Any], list[Any]] | None:
    """The function that converts a scalar of type `kind` to slot values for a loop dtype; None if none is needed."""
    if loop in dt.CATEGORIES["complex floating-point"]:
        return lambda value: [complex(value).real, complex(value).imag]
    return (lambda value: [bool(value)]) if loop == dt.bool and kind is not bool else None


def empty_kernel(stream: int, out: int, *values: Any) -> None:
    """The kernel for a result without elements: it does nothing."""
