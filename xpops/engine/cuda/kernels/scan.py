"""Scans on CUDA: plan, glue, kernel, launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import unary
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import scan_policy
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.ops.scan import Scan
from xpops.plan.scan import plan_scan
from xpops.plan.scan.parameters import ScanPlan, ScanPolicy

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def scan(runtime: Runtime, op: Scan, x: Layout, axis: int, out: Layout, initial: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.scan`."""
    if x.size == 0:
        fill = unary(runtime, IDENTITY, int, out)
        return lambda stream, out, x, gamma=0.0: fill(stream, out, op.initial)
    if x.shape[axis] == 1 and not initial:
        copy = unary(runtime, IDENTITY, x, out)
        return lambda stream, out, x, gamma=0.0: copy(stream, out, x)
    policy = scan_policy(runtime.context.capability, runtime.context.multiprocessors)
    plan, source = planned(op, x, axis, out, initial, policy)
    return launched(runtime, op.name, plan, source, x, out)


def launched(runtime: Runtime, name: str, plan: ScanPlan, source: str, x: Layout, out: Layout) -> Kernel:
    """The kernel ``(stream, out, x[, gamma])`` for a plan and a source."""
    kernel = _launched(runtime, name, plan, source, x, out)
    if plan.copied is None:
        return kernel
    copy = unary(runtime, IDENTITY, x, plan.copied)
    allocate = runtime.pool.allocator(plan.copied.size * x.dtype.itemsize)

    def copying(stream: int, out: int, x: int, gamma: float = 0.0) -> None:
        copied, block = allocate(stream)
        copy(stream, copied, x)
        kernel(stream, out, copied, gamma)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return copying


def _launched(runtime: Runtime, name: str, plan: ScanPlan, source: str, x: Layout, out: Layout) -> Kernel:
    launch = runtime.launcher(name, source, plan.blocks, plan.block, "QQQd", plan.tail)
    in_shift, out_shift = plan.in_shift * x.dtype.itemsize, plan.out_shift * out.dtype.itemsize
    scratch, allocate = plan.scratch, runtime.pool.allocator(plan.scratch)

    def direct(stream: int, out: int, x: int, gamma: float = 0.0) -> None:
        launch(stream, out + out_shift, x + in_shift, 0, gamma)

    def looking_back(stream: int, out: int, x: int, gamma: float = 0.0) -> None:
        states, block = allocate(stream)
        runtime.zero(states, scratch, stream)
        launch(stream, out + out_shift, x + in_shift, states, gamma)
        del block  # kept until the kernel was launched; the pool is ordered on the stream

    return looking_back if scratch else direct


def planned(op: Scan, x: Layout, axis: int, out: Layout, initial: bool, policy: ScanPolicy) -> tuple[ScanPlan, str]:
    """The plan and the glue. Needs no GPU. `x` is not empty."""
    compute = _compute(out.dtype)
    plan = plan_scan(x, out, axis, op.reverse, initial, op.state * compute[1], policy)
    return plan, scan_glue(op, x.dtype, out.dtype, compute[0], plan)


def _compute(dtype: DType) -> tuple[str, int]:
    """The C++ type in which elements of a result's dtype are added, and its bytes. Integers are unsigned: they wrap."""
    if dtype in dt.CATEGORIES["integer"]:
        return ("uint32", 4) if dtype.itemsize <= 4 else ("uint64", 8)
    return f"compute_t<{dt.INFO[dtype].c_type}>", max(dtype.itemsize, 4)


def scan_glue(op: Scan, dtype: DType, result: DType, compute: str, plan: ScanPlan) -> str:
    """The glue of a scan kernel."""
    numbers = template_arguments(plan)
    types = ", ".join([dt.INFO[dtype].c_type, dt.INFO[result].c_type, compute, f"{op.functor}<{compute}>"])
    return "\n".join(
        [
            f"#include <xpops/kernels/scan/{plan.header}.cuh>",
            "#include <xpops/math/scan.cuh>",
            "using namespace xpops;",
            kernel_text(
                launch_bounds(plan.block, plan.resident),
                f"ScanParams<4, {plan.rank}>",
                f"scan_{plan.kernel}<ScanTypes<{types}>, {numbers}>",
            ),
        ]
    )


def template_arguments(plan: ScanPlan) -> str:
    """The template arguments of a scan kernel after the types."""
    return ", ".join(truth(each) if isinstance(each, bool) else str(each) for each in plan.numbers)
