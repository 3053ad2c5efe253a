"""Expressions with reductions along the rows as one kernel."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.fused.elementwise import functor_source, headers, policy_of, types_of, with_scalars
from xpops.engine.cuda.fused.row_functors import row_functor_source
from xpops.engine.cuda.kernels.glue import HALVES, declare, truth
from xpops.engine.cuda.kernels.reduce import ending, reducer_of
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import staging_policy, tuning_of
from xpops.engine.program import Kernel
from xpops.plan.elementwise import LINEAR, MAX_PACK_BYTES, plan_elementwise
from xpops.plan.fused.expression import Expression
from xpops.plan.fused.rows import Stage, plan_rows
from xpops.plan.staging import StagingPolicy

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The most numbers in the states of a block: 32 warps, and the mean, count and squares of a variance.
_STATES = 32 * 3


class RowsSource(NamedTuple):
    """The source of a kernel, the format of its slots, its grid, the parameters behind the slots, and the bytes of
    dynamic shared memory.
    """

    source: str
    slots: str
    blocks: int
    block: int
    tail: bytes
    shared: int


def fused_rows(
    runtime: Runtime,
    expression: Expression,
    stages: tuple[Stage, ...],
    full: tuple[int, ...],
    outs: tuple[Layout, ...],
    inputs: tuple[int, ...],
) -> Kernel:
    """The kernel ``(stream, *outs, *inputs)`` that computes an expression with reductions along the rows.

    A result has the shape `full` of the reduced values, or one element for each row; see `xpops.plan.fused.rows.fits`.
    """
    context = runtime.context
    staging = staging_policy(context.capability, context.multiprocessors, context.shared)
    made = rows_source(expression, stages, full, outs, inputs, context.capability, staging)
    launch = runtime.launcher("fused rows", made.source, made.blocks, made.block, made.slots, made.tail, made.shared)
    return with_scalars(launch, len(outs), expression, inputs)


def rows_source(
    expression: Expression,
    stages: tuple[Stage, ...],
    full: tuple[int, ...],
    outs: tuple[Layout, ...],
    inputs: tuple[int, ...],
    capability: int,
    staging: StagingPolicy,
) -> RowsSource:
    """The source, for a compute capability. Needs no GPU."""
    operands = tuple(expression.inputs[number] for number in inputs)
    wide = [place for place, out in enumerate(outs) if out.shape == full]
    line = outs[wide[0]] if wide else layout_of(dt.uint8, full, None, outs[0].device)
    given = (*(out if out.shape == full else line for out in outs), *operands)
    plan = plan_elementwise(given[0], given[1:], policy_of(expression, capability))  # type: ignore[arg-type]
    length, rows = full[-1], prod(full[:-1])
    modes = plan.modes[len(outs) :]
    items = [
        spec.dtype.itemsize
        for spec, mode in zip(operands, modes, strict=True)
        if isinstance(spec, Layout) and mode in LINEAR
    ]
    policy = tuning_of(capability).fused_rows
    staging = staging._replace(own=max(staging.own, _own_bytes(stages) + MAX_PACK_BYTES * len(items)))
    shape = plan_rows(rows, length, plan.pack, sum(items), policy, staging)
    short = all(
        made.itemsize <= 4 for made in [each.dtype for each in expression.nodes] + [each.dtype for each in stages]
    )
    resident = policy.resident // shape.block if short and shape.steps and shape.group == shape.block else 1
    declared = declare(types_of((*outs, *operands)), plan)
    # If threads hold rows in registers, the kernel adds up in trees, and no compensated reducer is needed.
    count = length if not shape.staged else shape.staged * shape.pack // shape.block
    reducers = [each.op.functor if shape.steps else reducer_of(each.op, each.loop, count) for each in stages]
    program = _program(expression, stages, reducers, inputs, outs, wide, declared.names)
    params = f"FusedRowsParams<{declared.params}, {len(stages)}>"
    ways = truth(shape.staged > 0), truth(shape.ragged)
    numbers = (shape.block, shape.group, shape.cluster, shape.pack, shape.steps, *ways)
    arguments = ", ".join(["Program", *map(str, numbers), *declared.names[len(outs) :]])
    found = {"kernels/fused/rows", *headers(expression), *(f"math/{stage.op.header}" for stage in stages)}
    source = [
        *(f"#include <xpops/{header}.cuh>" for header in sorted(found)),
        "using namespace xpops;",
        *program,
        kernel_text(
            launch_bounds(shape.block, max(1, resident, shape.resident), shape.cluster),
            params,
            f"fused_rows<{arguments}>",
        ),
    ]
    tail = plan.tail + bytes(-len(plan.tail) % 8)
    tail += struct.pack("<QQ", rows, length) + b"".join(ending(length, stage.correction) for stage in stages)
    blocks = -(-rows // (shape.block // shape.group)) * shape.cluster
    shared = sum(-(-shape.staged * shape.pack * item // MAX_PACK_BYTES) * MAX_PACK_BYTES for item in items)
    return RowsSource("\n".join(source), declared.slots, blocks, shape.block, tail, shared)


def _own_bytes(stages: tuple[Stage, ...]) -> int:
    """The most bytes of shared memory in which the warps of a block exchange states, for each stage in its own."""
    return sum(_STATES * max(stage.loop.itemsize, dt.float32.itemsize) for stage in stages)


def _program(
    expression: Expression,
    stages: tuple[Stage, ...],
    reducers: list[str],
    inputs: tuple[int, ...],
    outs: tuple[Layout, ...],
    wide: list[int],
    declared: list[str],
) -> list[str]:
    """The source of the kernel's ``Program``: a functor for each stage, for elements and for rows, and result types."""
    numbers = tuple(stage.number for stage in stages)
    operands = dict(zip(inputs, declared[len(outs) :], strict=True))
    lines = []
    for k, stage in enumerate(stages):
        loop = dt.INFO[stage.loop].c_type
        widen = "widened" if stage.loop in HALVES else f"cast<compute_t<{loop}>>"  # reducers ignore the sign of NaN
        convert = f"{widen}(cast<{loop}>({{}}))"
        lines += row_functor_source(f"Lift{k}", expression, numbers[:k], operands, (stage.place,), False, convert)
        lines += [
            f"struct Stage{k} {{",
            f"  using Compute = compute_t<{loop}>;",
            f"  using Reducer = {reducers[k]}<Compute>;",
            f"  using Lift = Lift{k};",
            f"  using Result = {dt.INFO[stage.dtype].c_type};",
            "};",
        ]
    narrow = [place for place in range(len(outs)) if place not in wide]
    results = expression.results
    if wide:
        written = tuple(results[place] for place in wide)
        lines += row_functor_source("EachElement", expression, numbers, operands, written, len(wide) > 1)
    lines += functor_source("EachRow", expression, numbers, tuple(results[place] for place in narrow), True)
    rows = ", ".join(f"RowOutput<{dt.INFO[outs[place].dtype].c_type}, {place}>" for place in narrow)
    list_of = ", ".join(f"Stage{k}" for k in range(len(stages)))
    lines += [
        "struct Program {",
        f"  static constexpr int kStages = {len(stages)};",
        f"  template <int k> using Stage = typename At<k, {list_of}>::type;",
        f"  static constexpr bool kWritesElements = {'true' if wide else 'false'};",
        f"  using RowOut = RowOutputs<{rows}>;",
        "  using Row = EachRow;",
    ]
    if wide:
        out = declared[wide[0]] if len(wide) == 1 else f"Outputs<{', '.join(declared[place] for place in wide)}>"
        lines += ["  using Each = EachElement;", f"  using Out = {out};"]
    return [*lines, "};"]
