"""Matrix products on CUDA: by cuBLASLt if it supports the product, else by our own kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.engine.cuda.kernels.elementwise import unary
from xpops.engine.cuda.kernels.matmul import tiled
from xpops.engine.cuda.kernels.reduce import inner_products
from xpops.engine.cuda.libraries.digits import by_digits
from xpops.engine.cuda.libraries.gemm import gemm
from xpops.engine.program import Data, Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.plan.matmul import leading_dimension, plan_product

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def matmul(runtime: Runtime, x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.matmul`."""
    if x1.shape[-2] == x2.shape[-1] == 1:
        line, other = (
            layout_of(x.dtype, (*x1.shape[:-2], x1.shape[-1]), (*x.strides[:-2], x.strides[inner]), x.device, x.align)
            for x, inner in ((x1, -1), (x2, -2))
        )
        found = inner_products(runtime, line, other, out)
        if found is not None:
            return found
    product = plan_product(x1, x2)
    if x1.dtype in dt.CATEGORIES["integer or boolean"]:
        return by_digits(runtime, product, x1.dtype) or tiled(runtime, product, x1)
    given = [layout if _lies(layout) else _compact(layout) for layout in (x1, x2)]
    if len(plan_product(*given).batches) > 1:  # a stack of the library has one axis
        given = [layout_of(layout.dtype, layout.shape, None, layout.device) for layout in given]
    library = gemm(runtime, plan_product(*given), x1.dtype, (given[0].align, given[1].align), tf32)
    if library is None:
        return tiled(runtime, product, x1)
    for place, (layout, fresh) in enumerate(zip((x1, x2), given, strict=True)):
        if fresh is not layout:
            library = _with_copy(runtime, library, place, layout, fresh)
    return library


def _lies(layout: Layout) -> bool:
    """Whether the library supports these strides without a copy."""
    *stack, down, across = layout.strides
    rows, columns = layout.shape[-2:]
    return leading_dimension(rows, columns, (down, across)) is not None and min(stack, default=0) >= 0


def _compact(layout: Layout) -> Layout:
    """The layout of a compact copy. Stack axes that are broadcast (stride 0) stay so."""
    *stack, rows, columns = layout.shape
    once = [1 if stride == 0 else length for length, stride in zip(stack, layout.strides, strict=False)]
    strides = contiguous_strides((*once, rows, columns))
    kept = [0 if length == 1 else stride for length, stride in zip(once, strides, strict=False)]
    return layout_of(layout.dtype, layout.shape, (*kept, *strides[-2:]), layout.device)


def _with_copy(runtime: Runtime, kernel: Kernel, place: int, layout: Layout, fresh: Layout) -> Kernel:
    """Wrap `kernel` to copy an operand first, without repeating broadcast matrices."""
    shape = tuple(
        1 if stride == 0 and axis < layout.ndim - 2 else length
        for axis, (length, stride) in enumerate(zip(layout.shape, fresh.strides, strict=True))
    )
    layout = layout_of(layout.dtype, shape, layout.strides, layout.device, layout.align)
    fresh = layout_of(layout.dtype, shape, None, layout.device)
    copy = unary(runtime, IDENTITY, layout, fresh)
    allocate = runtime.allocator(fresh)

    def run(stream: int, out: Data, *operands: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, operands[place])
        given = list(operands)
        given[place] = made
        kernel(stream, out, *given)
        del owner  # kept until the kernels were launched

    return run
