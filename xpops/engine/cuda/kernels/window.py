"""Windows onto arrays, for padding and rolling, on CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.gather import word_of
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.window import WindowPlan, plan_window

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def window(runtime: Runtime, x: Layout, starts: tuple[int, ...], out: Layout, fill: bytes | None) -> Kernel:
    """See `xpops.engine.protocol.Engine.window`."""
    block = tuning_of(runtime.context.capability).elementwise.block
    plan = plan_window(x, starts, out, block)
    source = window_glue(plan, out.dtype.itemsize, fill is None, block)
    launch = runtime.launcher("window", source, plan.blocks, block, "QQ16s", plan.tail)
    value = (fill or b"").ljust(16, b"\0")

    def kernel(stream: int, out: int, x: int) -> None:
        launch(stream, out, x, value)

    return kernel


def window_glue(plan: WindowPlan, width: int, wraps: bool, block: int) -> str:
    """The glue of a kernel that copies a window of elements of `width` bytes."""
    return "\n".join(
        [
            "#include <xpops/kernels/window.cuh>",
            "using namespace xpops;",
            f'extern "C" __global__ void __launch_bounds__({block})',
            f"xpops_kernel(const __grid_constant__ WindowParams<{plan.rank}, uint{plan.index_bits}> params) {{",
            f"  window<{word_of(width)}, {truth(wraps)}, {block}, {plan.pack}, {plan.unroll}>(params);",
            "}",
            "",
        ]
    )
