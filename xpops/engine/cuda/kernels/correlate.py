"""Correlation and convolution of vectors on CUDA: glue, kernels, launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.program import Kernel
from xpops.plan.signals.correlation import BLOCK, CHUNK, CorrelationPlan, correlation_of, plan_correlation

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def correlate(runtime: Runtime, a: Layout, v: Layout, out: Layout, convolves: bool, mode: str) -> Kernel:
    """See `xpops.engine.signals.Signals.correlate`."""
    found = correlation_of(convolves, mode, (a.size, v.size))
    signal, taps = (v, a) if found.swapped else (a, v)
    plan = plan_correlation(signal, taps, found, runtime.context.multiprocessors)
    source = correlate_glue(plan, out, found.conjugated)
    launch = runtime.launcher("correlate", source, plan.blocks, plan.block, "QQQQ", plan.tail)
    if plan.parts == 1:

        def kernel(stream: int, out: int, signal: int, taps: int) -> None:
            launch(stream, out, signal, taps, 0)

    else:
        kernel = _in_parts(runtime, plan, out, launch)
    if not found.swapped:
        return kernel
    return lambda stream, out, a, v: kernel(stream, out, v, a)


def _in_parts(runtime: Runtime, plan: CorrelationPlan, out: Layout, launch: Kernel) -> Kernel:
    """The kernel that launches `launch` and adds up the parts of the sums."""
    blocks = -(-out.size * plan.lanes // BLOCK)
    add = runtime.launcher("correlate_sums", sums_glue(plan, out), blocks, BLOCK, "QQQQ", plan.tail)
    allocate = runtime.pool.allocator(out.size * plan.parts * max(out.dtype.itemsize, 4))

    def kernel(stream: int, out: int, signal: int, taps: int) -> None:
        sums, owner = allocate(stream)
        launch(stream, out, signal, taps, sums)
        add(stream, out, signal, taps, sums)
        del owner  # kept until the kernels were launched; the pool is ordered on the stream

    return kernel


def correlate_glue(plan: CorrelationPlan, out: Layout, conjugated: int) -> str:
    """The glue of the kernel that multiplies."""
    conjugated = conjugated if out.dtype in dt.CATEGORIES["complex floating-point"] else -1
    numbers = f"{plan.block}, {plan.each}, {CHUNK}, {conjugated}, {truth(plan.parts > 1)}"
    return _glue(plan.block, f"correlate<{dt.INFO[out.dtype].c_type}, {numbers}>")


def sums_glue(plan: CorrelationPlan, out: Layout) -> str:
    """The glue of the kernel that adds up the parts of each output."""
    return _glue(BLOCK, f"correlate_sums<{dt.INFO[out.dtype].c_type}, {plan.lanes}>")


def _glue(block: int, call: str) -> str:
    return "\n".join(
        [
            "#include <xpops/kernels/correlate.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(block), "CorrelateParams", call),
        ]
    )
