"""The kernel that adds up the sums along columns of all blocks, and computes results from them."""

from __future__ import annotations

import struct

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.engine.cuda.fused.elementwise import functor_source, headers
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.runtime.runtime import Runtime
from xpops.engine.program import Kernel
from xpops.plan.fused.rows import Column, RowsExpression

# The threads of a block, and its columns: those of a sector, so that a thread has few parts to wait for.
_BLOCK, _WIDE = 512, 8


def add_column_sums(runtime: Runtime, rows: RowsExpression, parts: int) -> Kernel:
    """The kernel ``(stream, *parts, *ends)``: see `RowsExpression.ends`. `parts` is the number of blocks."""
    length = rows.full[-1]
    slots, blocks = "Q" * (len(rows.columns) + len(rows.ends)), -(-length // _WIDE)
    tail = struct.pack("<QQ", parts, length)
    return runtime.launcher("column sums", column_sums_source(rows), blocks, _BLOCK, slots, tail)


def column_sums_source(rows: RowsExpression) -> str:
    """The source. Needs no GPU."""
    columns, last, count = rows.columns, rows.last, len(rows.columns)
    found = {"kernels/fused/column_sums", *headers(last), *(f"math/{column.op.header}" for column in columns)}
    lines = [*(f"#include <xpops/{each}.cuh>" for each in sorted(found)), "using namespace xpops;"]
    for k, column in enumerate(columns):
        lines += [
            f"struct Column{k} {{",
            f"  using Compute = {dt.INFO[computed(column)].c_type};",
            f"  using Reducer = {column.op.functor}<Compute>;",
            f"  using Result = {dt.INFO[column.out.dtype].c_type};",
            f"  static constexpr int kSlot = {k};",
            "};",
        ]
    names = ", ".join(f"Column{k}" for k in range(count))
    outs = ", ".join(f"RowOutput<{dt.INFO[out.dtype].c_type}, {k}>" for k, out in enumerate(rows.ends, count))
    return "\n".join(
        [
            *lines,
            *functor_source("Ends", last, tuple(range(count)), last.results, True),
            "struct Program {",
            f"  static constexpr int kColumns = {count};",
            f"  template <int k> using Column = typename At<k, {names}>::type;",
            f"  using Sums = Results<{names}>;",
            "  using Last = Ends;",
            f"  using Out = RowOutputs<{outs}>;",
            "};",
            kernel_text(
                launch_bounds(_BLOCK),
                f"ColumnSumsParams<{count + len(rows.ends)}>",
                f"add_column_sums<Program, {_BLOCK}, {_WIDE}>",
            ),
        ]
    )


def computed(column: Column) -> DType:
    """The dtype in which a sum is computed."""
    return dt.float32 if column.loop in dt.HALVES else column.loop
