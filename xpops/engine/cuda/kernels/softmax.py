"""Softmax on CUDA: plan, glue, kernels, launchers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import softmax_policy, staging_policy
from xpops.engine.program import Kernel
from xpops.plan.elementwise import STRIDED
from xpops.plan.softmax import plan_softmax
from xpops.plan.softmax.parameters import SoftmaxPlan, Way

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def softmax(runtime: Runtime, x: Layout, axis: int, out: Layout, log: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.softmax`."""
    width, context = 8 if x.dtype == dt.float64 else 4, runtime.context
    staging = staging_policy(context.capability, context.multiprocessors, context.shared)
    plan = plan_softmax(x, axis, out, log, width, softmax_policy(context.capability), staging)
    name = "log_softmax" if log else "softmax"

    slots, tail = ("QQQ", plan.tail) if plan.states else ("QQ", bytes(8) + plan.tail)
    launches = [
        runtime.launcher(name, softmax_glue(x, out, log, plan, each), blocks, plan.block, slots, tail, plan.shared)
        for each, blocks in plan.kernels.items()
    ]
    if not plan.states:
        return launches[0]
    allocate = runtime.pool.allocator(plan.states * width)

    def split(stream: int, out: int, x: int) -> None:
        states, block = allocate(stream)
        for launch in launches:
            launch(stream, out, x, states)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return split


def softmax_glue(x: Layout, out: Layout, log: bool, plan: SoftmaxPlan, way: str) -> str:
    """The glue of a softmax kernel."""
    name = dt.INFO[x.dtype].c_type
    types = f"Operand<{name}, {name}, {name}, Mode::{plan.mode}, 1>, {dt.INFO[out.dtype].c_type}"
    ways = ", ".join(truth(each) for each in (log, plan.columns, plan.full, plan.ragged))
    numbers = f"{plan.block}, {plan.group}, {plan.cluster}, {plan.pack}, {plan.steps}"
    each = f"ElementwiseParams<3, {plan.rank}, {int(plan.mode in STRIDED)}, uint{plan.index_bits}>"
    params = f"SoftmaxParams<{each}>"
    header = str(plan.way) if plan.way in (Way.STAGED, Way.TILED) else "softmax"
    family = "Softmax" if header == "softmax" else f"{header.capitalize()}Softmax"
    return "\n".join(
        [
            f"#include <xpops/kernels/softmax/{header}.cuh>",
            "using namespace xpops;",
            kernel_text(
                launch_bounds(plan.block, plan.resident, plan.cluster),
                params,
                f"{family}<{types}, {ways}, {numbers}, {params}>::{way}",
            ),
        ]
    )
