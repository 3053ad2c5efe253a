"""Matrix products by our own kernel (``native/xpops/kernels/matmul.cuh``), on CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.matmul import Product, matmul_tail

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def tiled(runtime: Runtime, product: Product, x: Layout) -> Kernel:
    """The kernel ``(stream, out, x1, x2)`` of ``native/xpops/kernels/matmul.cuh``, for any dtype and strides."""
    name, compute, itemsize = dt.INFO[x.dtype].c_type, *_compute(x)
    multiprocessors = runtime.context.multiprocessors
    policy = tuning_of(runtime.context.capability).matmul
    tile, step, cells, resident = policy.large
    if itemsize > 4 or matmul_tail(product, tile)[0] < multiprocessors:
        tile, step, cells, resident = policy.small
    step = step * 4 // max(itemsize, 4)
    blocks, tail = matmul_tail(product, tile)
    block = (tile // cells) ** 2
    first = (truth(_inner_first(*product.x1)), truth(_inner_first(*product.x2)))
    numbers = ", ".join([name, compute, str(tile), str(step), str(cells), *first])
    source = "\n".join(
        [
            "#include <xpops/kernels/matmul.cuh>",
            "using namespace xpops;",
            kernel_text(
                launch_bounds(block, resident // block),
                f"MatmulParams<{len(product.batches) or 1}>",
                f"matmul<{numbers}>",
            ),
        ]
    )
    return runtime.launcher("matmul", source, blocks, block, "QQQ", tail)


def _compute(x: Layout) -> tuple[str, int]:
    """The C++ type for multiplication and addition, and its bytes. Integers wrap; bools are counted."""
    if x.dtype in dt.CATEGORIES["integer or boolean"]:
        return ("uint32", 4) if x.dtype.itemsize <= 4 else ("uint64", 8)
    return f"compute_t<{dt.INFO[x.dtype].c_type}>", max(x.dtype.itemsize, 4)


def _inner_first(outer: int, inner: int) -> bool:
    """Whether the inner axis has the smaller stride."""
    return abs(inner) < abs(outer)
