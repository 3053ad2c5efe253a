"""Windows onto arrays, for padding, rolling, and triangles of matrices, on CUDA."""

from __future__ import annotations

from struct import unpack
from typing import TYPE_CHECKING

from xpops.core.layouts import Layout, contiguous_strides
from xpops.engine.cuda.kernels.elementwise import dense_copier
from xpops.engine.cuda.kernels.gather import word_of
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.elementwise import Policy
from xpops.plan.inner_index import TABLE
from xpops.plan.transpose.boxes import sector_reads
from xpops.plan.transpose.tiles import transposed_axis
from xpops.plan.window import Band, WindowPlan, WindowPolicy, plan_window

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def window(
    runtime: Runtime,
    x: Layout,
    starts: tuple[int, ...],
    out: Layout,
    fill: bytes | str | None,
    band: Band | None = None,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.window`."""
    tuning = tuning_of(runtime.context.capability)
    if _is_copied(x, tuning.elementwise, tuning.window):
        return _window_of_copy(runtime, x, starts, out, fill, band)
    block = tuning.window.block
    border = fill if isinstance(fill, str) else "roll" if fill is None else "fill"
    plan = plan_window(x, starts, out, border, band, block)
    source = window_glue(plan, out.dtype.itemsize, border, band is not None, block)
    launch = runtime.launcher("window", source, plan.blocks, block, "QQQQ", plan.tail)
    value = unpack("<QQ", (fill if isinstance(fill, bytes) else b"").ljust(16, b"\0"))

    def kernel(stream: int, out: int, x: int) -> None:
        launch(stream, out, x, *value)

    return kernel


def _is_copied(x: Layout, elementwise: Policy, policy: WindowPolicy) -> bool:
    """Whether neighbouring threads would read an array far apart, so that a copy and its window take less time."""
    if transposed_axis(x.shape, contiguous_strides(x.shape), x.strides, elementwise.tile_length) is not None:
        return True
    return sector_reads(x, elementwise, policy.copied_distance) >= policy.copied_reads


def _window_of_copy(
    runtime: Runtime, x: Layout, starts: tuple[int, ...], out: Layout, fill: bytes | str | None, band: Band | None
) -> Kernel:
    """`window`, of a C-contiguous copy."""
    dense, copied = dense_copier(runtime, x)
    launch = window(runtime, dense, starts, out, fill, band)

    def kernel(stream: int, out: int, x: int) -> None:
        x, block = copied(stream, x)
        launch(stream, out, x)
        del block

    return kernel


def window_glue(plan: WindowPlan, width: int, border: str, banded: bool, block: int) -> str:
    """The glue of a kernel that copies a window of elements of `width` bytes."""
    name, rows = ("short_window", f"{plan.inner}, {TABLE}") if plan.inner else ("window", truth(plan.short))
    border = f"Border::k{border.capitalize()}"
    arguments = f"{word_of(width)}, {border}, {truth(banded)}, {rows}, {block}, {plan.pack}, {plan.unroll}"
    return "\n".join(
        [
            f"#include <xpops/kernels/{name}.cuh>",
            "using namespace xpops;",
            kernel_text(
                launch_bounds(block), f"WindowParams<{plan.rank}, uint{plan.index_bits}>", f"{name}<{arguments}>"
            ),
        ]
    )
