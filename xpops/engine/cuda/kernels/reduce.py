"""Reductions on CUDA: plan, glue, kernel, launcher."""

from __future__ import annotations

import math
import struct
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import reduce_policy
from xpops.engine.program import Kernel
from xpops.ops.accuracy import MANY
from xpops.ops.reduction import REDUCTIONS, Reduction
from xpops.plan.reduce import plan_reduce
from xpops.plan.reduce.flip import flip_reduction
from xpops.plan.reduce.parameters import ReducePlan, ReducePolicy
from xpops.plan.strides.coalesce import Strides

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The bytes of a state. A state is an element, or a few elements with a count or a position.
STATE_BYTES = 32
# The most positions that reducers hold in 32 bits; one number means that there is none.
_POSITIONS = 2**31 - 1


class ReduceSource(NamedTuple):
    """The source of a reduce kernel, and what its launch needs.

    Attributes
    ----------
    plan : ReducePlan
    source : str
    slots : str
        The `struct` format of the inputs.
    tail : bytes
        The parameters after the slots.
    shifts : tuple of int
        For the result and each input: from its first element to where the kernel starts, in bytes. Empty if there.
    """

    plan: ReducePlan
    source: str
    slots: str
    tail: bytes
    shifts: tuple[int, ...] = ()


def reduce(
    runtime: Runtime,
    op: Reduction,
    x: Layout,
    axes: tuple[int, ...],
    loop: DType,
    out: Layout,
    strides: Strides,
    correction: float = 0.0,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.reduce`."""
    policy = reduce_policy(runtime.context.capability, runtime.context.multiprocessors)
    found = planned(op, x, axes, loop, out, strides, correction, policy)
    return shifted(launched(runtime, op.name, found), found.shifts)


def inner_products(runtime: Runtime, x1: Layout, x2: Layout, out: Layout) -> Kernel | None:
    """The kernel ``(stream, out, x1, x2)`` that sums products along the last axis; it reads each operand once.

    None if the operands have different strides: this reduce kernel has two inputs with the same offsets.
    """
    axes = range(x1.ndim)
    if any(x1.strides[axis] != x2.strides[axis] for axis in axes if x1.shape[axis] > 1):
        return None
    x = layout_of(x1.dtype, x1.shape, x1.strides, x1.device, min(x1.align, x2.align))
    op = REDUCTIONS["any" if x.dtype == dt.bool else "sum"]
    strides = (*contiguous_strides(x1.shape[:-1]), 0)
    policy = reduce_policy(runtime.context.capability, runtime.context.multiprocessors)
    found = planned(op, x, (x.ndim - 1,), x.dtype, out, strides, 0.0, policy, 2)
    return shifted(launched(runtime, op.name, found), found.shifts)


def shifted(kernel: Kernel, shifts: tuple[int, ...]) -> Kernel:
    """The kernel ``(stream, out, *inputs)`` that calls `kernel` with these bytes added to addresses."""
    if not any(shifts):
        return kernel

    def run(stream: int, *data: Any) -> None:
        kernel(stream, *(each + shift if shift else each for each, shift in zip(data, shifts, strict=True)))

    return run


def launched(runtime: Runtime, name: str, found: ReduceSource) -> Kernel:
    """The kernel ``(stream, out, *inputs)``, whose addresses are shifted already."""
    plan, source, tail, slots = found.plan, found.source, found.tail, "Q" + found.slots
    if plan.splits == 1:  # this kernel needs neither states nor counters
        return runtime.launcher(name, source, plan.blocks, plan.block, slots, bytes(16) + tail)
    launch = runtime.launcher(name, source, plan.blocks, plan.block, slots + "QQ", tail)
    allocate, counters = runtime.pool.allocator(plan.partials * STATE_BYTES), runtime.counters

    def split(stream: int, out: int, *operands: int) -> None:
        states, block = allocate(stream)
        launch(stream, out, *operands, states, counters(stream))
        del block  # kept until the kernel was launched; the pool is ordered on the stream

    return split


def planned(
    op: Reduction,
    x: Layout,
    axes: tuple[int, ...],
    loop: DType,
    out: Layout,
    strides: Strides,
    correction: float,
    policy: ReducePolicy,
    inputs: int = 1,
) -> ReduceSource:
    """The plan and the glue. Needs no GPU. `x` is not empty.

    With two inputs the kernel reduces their products; both have the layout `x`.
    """
    flipped = flip_reduction(x.shape, (x,), strides, axes if op.positional else ())
    (x,), (first, shift) = cast("tuple[Layout]", flipped.inputs), flipped.shifts
    plan = plan_reduce(x, axes, flipped.out, out.dtype.itemsize, policy, inputs)
    count = prod(x.shape[axis] for axis in axes)
    functor = reducer_of(op, loop, count)
    source = reduce_glue(functor, op.header, x.dtype, loop, out.dtype, plan, inputs)
    shifts = (first * out.dtype.itemsize, *(shift,) * inputs)
    return ReduceSource(plan, source, "Q" * inputs, ending(count, correction) + plan.tail, shifts)


def reducer_of(op: Reduction, loop: DType, count: int) -> str:
    """The reducer for `count` elements in each output: compensated, or with 64-bit positions, if they are many."""
    if op.positional:
        return "Long" * (count > _POSITIONS) + op.functor
    return "Compensated" * (loop in op.compensated and count > MANY) + op.functor


def ending(count: int, correction: float) -> bytes:
    """The bytes of an ``Ending``."""
    return struct.pack("<dd", count, count - correction if correction < count else math.nan)


def reduce_glue(functor: str, header: str, dtype: DType, loop: DType, out: DType, plan: ReducePlan, inputs: int) -> str:
    """The glue of a reduce kernel for the elements of an array."""
    stored, looped, result = (dt.INFO[each].c_type for each in (dtype, loop, out))
    source = array_source(stored, looped, result, plan)
    headers = [reduce_header(plan), f"math/{header}"] + ["math/complex"] * (loop in dt.COMPLEX_FLOATS)
    return "\n".join(
        [
            *(f"#include <xpops/{header}.cuh>" for header in headers),
            "using namespace xpops;",
            *entry_point(f"{functor}<compute_t<{looped}>>", source, plan, str(inputs)),
        ]
    )


def array_source(stored: str, loop: str, result: str, plan: ReducePlan) -> str:
    """The C++ type of a source for the elements of an array; the first three arguments are C++ types."""
    return f"ReduceArray<{stored}, {loop}, compute_t<{loop}>, {result}, {truth(plan.aligned)}>"


def reduce_header(plan: ReducePlan) -> str:
    """The header of the kernel."""
    return f"kernels/reduce/{plan.kernel}"


def entry_point(reducer: str, source: str, plan: ReducePlan, numbers: str) -> list[str]:
    """The lines of the kernel itself. `numbers` are the parameters' slots, and lines of strides if more than one."""
    shape: list[str] = [str(plan.group), str(plan.pack if plan.kernel == "short" else plan.rows)]
    if plan.kernel == "columns":
        shape += [str(plan.beside), str(plan.fold)]
    if plan.kernel in ("rows", "columns"):
        shape += [str(plan.pack), str(plan.unroll)]
        ways = [plan.splits > 1, plan.whole] if plan.kernel == "columns" else [plan.ragged, plan.splits > 1, plan.whole]
        shape += map(truth, ways)
    if plan.kernel != "columns":
        shape = [str(plan.block), *shape]
    arguments = ", ".join([reducer, source, *shape])
    return [
        kernel_text(
            launch_bounds(plan.block, plan.resident),
            f"ReduceParams<{plan.kept}, {plan.reduced}, uint{plan.index_bits}, {numbers}>",
            f"reduce_{plan.kernel}<{arguments}>",
        ),
    ]
