"""Nearest-neighbour upsampling of images on CUDA: plan, glue, kernel, launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.gather import word_of
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.upsample import Axis, plan_upsample

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def upsample(runtime: Runtime, x: Layout, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.upsample`."""
    plan = plan_upsample(x, out, axes, words, backward)
    item, pack, block = x.dtype.itemsize, plan.pack, tuning_of(runtime.context.capability).block
    if backward:
        word = dt.INFO[x.dtype].c_type
    elif words > 1:  # a pack of a column is one word
        word, pack = word_of(item * pack), 1
    else:
        word = word_of(item)
    source = "\n".join(
        [
            "#include <xpops/core/types.cuh>",
            "#include <xpops/kernels/upsample.cuh>",
            "using namespace xpops;",
            kernel_text(
                launch_bounds(block), f"UpsampleParams<uint{plan.index_bits}>", f"{plan.kernel}<{word}, {pack}>"
            ),
        ]
    )
    return runtime.launcher("upsample_nearest2d", source, -(-plan.threads // block), block, "QQ", plan.tail)
