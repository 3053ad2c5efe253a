"""Expressions with reductions along the rows as one kernel."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.fused.column_sums import add_column_sums, column_sums_source, computed
from xpops.engine.cuda.fused.elementwise import headers, policy_of, types_of, with_scalars
from xpops.engine.cuda.fused.row_program import program_source, widened_inputs
from xpops.engine.cuda.kernels.glue import declare, truth
from xpops.engine.cuda.kernels.reduce import ending, reducer_of
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import staging_policy, tuning_of
from xpops.engine.program import Data, Kernel
from xpops.plan.elementwise import LINEAR, MAX_PACK_BYTES, ElementwisePlan, Mode, plan_elementwise
from xpops.plan.fused.rows import Column, RowsExpression, RowsPlan, RowsPolicy, Stage, plan_rows
from xpops.plan.signature import Operand
from xpops.plan.staging import RESERVED, StagingPolicy

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The most numbers in the states of a block: 32 warps, and two buffers of four sums; or the mean, count and squares of a
# variance.
_STATES = 32 * 8
# Numbers of so many bytes take one register.
_SHORT = 4
# A group of threads that holds sums of columns computes so many rows. With fewer, all sums would be about as large as
# the rows. They are added one by one, which loses no more than docs/accuracy.md allows for 1024 elements.
_LEAST_ROWS, _MOST_ROWS = 4, 96
# The registers of a multiprocessor, and those of a thread beside the rows and the sums that it holds. These take 5
# registers for each 4: some are there twice.
_REGISTERS, _OWN_REGISTERS, _NARROW_REGISTERS = 1 << 16, 20, 36


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


class _Plan(NamedTuple):
    """How a kernel is launched.

    Attributes
    ----------
    elements : ElementwisePlan
        How the elements are accessed.
    shape : RowsPlan
    resident : int
        The blocks that must be resident on a multiprocessor.
    blocks : int
    shared : int
        The bytes of dynamic shared memory.
    ahead : int
        The bytes of the next row that a block copies to shared memory while it computes a row, with sums of columns.
    holds : bool
        Whether the threads hold the sums of their columns.
    keeps : bool
        Whether they also hold the operands that are the same for all rows.
    """

    elements: ElementwisePlan
    shape: RowsPlan
    resident: int = 1
    blocks: int = 0
    shared: int = 0
    ahead: int = 0
    holds: bool = False
    keeps: bool = False


def fused_rows(runtime: Runtime, rows: RowsExpression) -> Kernel:
    """The kernel ``(stream, *outs, *ends, *inputs)`` that computes an expression with reductions along the rows."""
    context, expression, count = runtime.context, rows.expression, len(rows.outs)
    staging = staging_policy(context.capability, context.multiprocessors, context.shared)
    made = rows_source(rows, context.capability, staging)
    launch = runtime.launcher("fused rows", made.source, made.blocks, made.block, made.slots, made.tail, made.shared)
    launch = with_scalars(launch, count + len(rows.columns), expression, rows.inputs)
    if not rows.columns:
        return launch
    parts = [runtime.allocator(_parts(column, made.blocks)) for column in rows.columns]
    add, ends = add_column_sums(runtime, rows, made.blocks), count + len(rows.ends)

    def kernel(stream: int, *data: Data) -> None:
        sums = [allocate(stream) for allocate in parts]  # kept until the kernels were launched
        addresses = [address for address, _ in sums]
        launch(stream, *data[:count], *addresses, *data[ends:])
        add(stream, *addresses, *data[count:ends])

    return kernel


def _parts(column: Column, blocks: int) -> Layout:
    """The layout of the sums of each block."""
    return layout_of(computed(column), (blocks, column.out.size), None, column.out.device)


def sources_of_rows(rows: RowsExpression, capability: int, multiprocessors: int, shared: int) -> list[str]:
    """The sources of all kernels of `fused_rows`. Needs no GPU."""
    made = rows_source(rows, capability, staging_policy(capability, multiprocessors, shared))
    return [made.source, *[column_sums_source(rows)] * bool(rows.columns)]


def holds_columns(rows: RowsExpression, capability: int, staging: StagingPolicy) -> bool:
    """Whether the threads of the kernel hold the sums of their columns, and compute enough rows each."""
    return _planned(rows, capability, staging).holds


def _planned(rows: RowsExpression, capability: int, staging: StagingPolicy) -> _Plan:
    expression, stages, columns, full, outs, *_ = rows
    operands = tuple(expression.inputs[number] for number in rows.inputs)
    line = next((out for out in outs if out.shape == full), layout_of(dt.uint8, full, None, outs[0].device))
    given = (*(out if out.shape == full else line for out in outs), *(line for _ in columns), *operands)
    plan = plan_elementwise(given[0], given[1:], policy_of(expression, capability))  # type: ignore[arg-type]
    lines = [
        (spec.dtype.itemsize, mode)
        for spec, mode in zip(operands, plan.modes[len(outs) + len(columns) :], strict=True)
        if isinstance(spec, Layout) and mode in LINEAR
    ]
    items = [item for item, _ in lines]
    staging = staging._replace(own=max(staging.own, _own_bytes(stages) + MAX_PACK_BYTES * len(items)))
    sums, policy = [computed(column).itemsize for column in columns], tuning_of(capability).fused_rows
    if columns:  # a block alone on its multiprocessor is worth it, because it saves a pass over memory
        policy = policy._replace(blocks=(*policy.blocks, policy.resident))
        if full[-1] <= policy.warp_row:
            policy = policy._replace(held_bytes=policy.warp_held_bytes)
        elif max(items, default=_SHORT) < _SHORT:
            policy = policy._replace(held_bytes=policy.narrow_held_bytes)
    count, length = prod(full[:-1]), full[-1]
    shape = plan_rows(count, length, plan.pack, sum(items) + sum(sums), policy, staging)
    made = [each.dtype for each in expression.nodes] + [each.dtype for each in stages]
    is_short = max(sums + [dtype.itemsize for dtype in made]) <= _SHORT
    if columns:
        copies = all(mode is Mode.LINEAR and shape.pack * item == MAX_PACK_BYTES for item, mode in lines)
        arrays = [spec for spec in operands if isinstance(spec, Layout)]
        same = [spec.dtype.itemsize for spec in arrays if expression.narrow and _is_one_row(spec, length)]
        made_of = _Plan(plan, shape, keeps=bool(same))
        return _summing_columns(made_of, (count, length), (items, same, sums), copies, is_short, policy, staging)
    whole = is_short and shape.steps and shape.group == shape.block
    resident = policy.resident // shape.block if whole else 1
    shared = sum(-(-shape.staged * shape.pack * item // MAX_PACK_BYTES) * MAX_PACK_BYTES for item in items)
    blocks = -(-count // (shape.block // shape.group)) * shape.cluster
    return _Plan(plan, shape, resident, blocks, shared)


def _summing_columns(
    plan: _Plan,
    rows: tuple[int, int],
    items: tuple[list[int], list[int], list[int]],
    copies: bool,
    is_short: bool,
    policy: RowsPolicy,
    staging: StagingPolicy,
) -> _Plan:
    """The plan of a kernel with sums of columns.

    Parameters
    ----------
    rows : tuple of (int, int)
        Their number and their length.
    items : tuple of (list of int, list of int, list of int)
        The bytes of elements in the order of the result, of those that are the same for all rows, and of sums.
    copies : bool
        Whether packs can go to shared memory past the registers.
    is_short : bool
        Whether numbers take one register.
    """
    (count, length), (elements, same, sums), shape = rows, items, plan.shape
    groups, held = shape.block // shape.group, shape.steps * shape.pack * (sum(elements) + sum(same) + sum(sums))
    own = _NARROW_REGISTERS if plan.keeps else _OWN_REGISTERS
    threads = min(policy.resident // (1 if is_short else 2), _REGISTERS // (own + held * 5 // 16))
    resident = max(1, threads // shape.block)
    every = resident * staging.multiprocessors * groups
    blocks = resident * staging.multiprocessors * -(-count // (every * _MOST_ROWS))
    enough = count >= _LEAST_ROWS * every
    if groups > 1:  # warps do not wait for others: fewer blocks are faster than a kernel for the sums
        blocks = min(blocks, count // (_LEAST_ROWS * groups))
        enough = blocks >= max(1, staging.multiprocessors)
    fits = shape.steps > 0 and not shape.ragged and shape.steps * shape.pack * sum(sums) <= policy.held_bytes
    ahead = shape.steps * shape.block * MAX_PACK_BYTES * len(elements)
    most = min(policy.ahead_bytes, staging.shared + RESERVED - resident * (staging.own + RESERVED))
    ahead = ahead if copies and resident * ahead <= most else 0
    shared = max(ahead, length * max(sums) if groups > 1 else 0)
    return plan._replace(resident=resident, blocks=blocks, shared=shared, ahead=ahead, holds=fits and enough)


def rows_source(rows: RowsExpression, capability: int, staging: StagingPolicy) -> RowsSource:
    """The source, for a compute capability. Needs no GPU."""
    expression, stages, columns, full, outs, inputs, *_ = rows
    plan, shape, resident, blocks, shared, ahead, _, keeps = _planned(rows, capability, staging)
    sums = tuple(column.out for column in columns)  # the slots are those of the sums of each block
    declared = declare(types_of((*outs, *sums, *(expression.inputs[number] for number in inputs))), plan)
    before, widened = len(outs) + len(sums), widened_inputs(rows)
    operands = [
        _one_row(f"Wide{name}" if number in widened else name, expression.inputs[number], full[-1])
        for number, name in zip(inputs, declared.names[before:], strict=True)
    ]
    # If threads hold rows in registers, the kernel adds up in trees, and no compensated reducer is needed.
    added = full[-1] if not shape.staged else shape.staged * shape.pack // shape.block
    reducers = [each.op.functor if shape.steps else reducer_of(each.op, each.loop, added) for each in stages]
    numbers = [shape.block, shape.group, *([] if columns else [shape.cluster]), shape.pack, shape.steps]
    ways = [ahead > 0, keeps] if columns else [shape.staged > 0, shape.ragged]
    arguments = ["Program", *map(str, numbers), *map(truth, ways), *operands]
    ops = [*(stage.op for stage in stages), *(column.op for column in columns)]
    header, kernel = ("columns", "fused_rows_and_columns") if columns else ("rows", "fused_rows")
    found = {f"kernels/fused/{header}", *headers(expression), *(f"math/{op.header}" for op in ops)}
    source = [
        *(f"#include <xpops/{each}.cuh>" for each in sorted(found)),
        "using namespace xpops;",
        *program_source(rows, reducers, shape.steps > 0, [*declared.names[:before], *operands]),
        kernel_text(
            launch_bounds(shape.block, max(resident, shape.resident), shape.cluster),
            f"FusedRowsParams<{declared.params}, {len(stages)}>",
            f"{kernel}<{', '.join(arguments)}>",
        ),
    ]
    tail = plan.tail + bytes(-len(plan.tail) % 8) + struct.pack("<QQ", prod(full[:-1]), full[-1])
    tail += b"".join(ending(full[-1], stage.correction) for stage in stages)
    return RowsSource("\n".join(source), declared.slots, blocks, shape.block, tail, shared)


def _one_row(name: str, spec: Operand, length: int) -> str:
    """The C++ type of an operand; one that is the same for all rows needs no strides."""
    is_one = isinstance(spec, Layout) and _is_one_row(spec, length)
    return f"OneRow<{name}>" if is_one and "Mode::kVector" in name else name


def _is_one_row(spec: Layout, length: int) -> bool:
    return spec.size == length == spec.shape[-1]


def _own_bytes(stages: tuple[Stage, ...]) -> int:
    """The most bytes of shared memory in which the warps of a block exchange states, for each stage in its own."""
    return sum(_STATES * max(stage.loop.itemsize, dt.float32.itemsize) for stage in stages)
