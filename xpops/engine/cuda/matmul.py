"""Matrix products on CUDA: by cuBLASLt if it supports the product, else by our own kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.engine.cuda.digits import by_digits
from xpops.engine.cuda.gemm import gemm
from xpops.engine.cuda.glue import truth
from xpops.engine.cuda.reduce import inner_products
from xpops.engine.protocol import Data, Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.plan.matmul import Product, leading_dimension, matmul_tail, plan_product
from xpops.plan.signature import signature_of

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# The edge of a block's tile, the step along the inner axis, the edge of the cells of a thread, and the threads that
# must be resident on a multiprocessor. SMALL is for products whose large tiles do not fill the GPU, and for types
# wider than 4 bytes.
LARGE, SMALL = (128, 16, 8, 512), (64, 16, 4, 1024)


def matmul(engine: CudaEngine, x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.matmul`."""
    if x1.shape[-2] == x2.shape[-1] == 1:
        line, other = (
            layout_of(x.dtype, (*x1.shape[:-2], x1.shape[-1]), (*x.strides[:-2], x.strides[inner]), x.device, x.align)
            for x, inner in ((x1, -1), (x2, -2))
        )
        found = inner_products(engine, line, other, out)
        if found is not None:
            return found
    product = plan_product(x1, x2)
    if x1.dtype in dt.CATEGORIES["integer or boolean"]:
        return by_digits(engine, product, x1.dtype) or tiled(engine, product, x1)
    given = [layout if _lies(layout) else _compact(layout) for layout in (x1, x2)]
    if len(plan_product(*given).batches) > 1:  # a stack of the library has one axis
        given = [layout_of(layout.dtype, layout.shape, None, layout.device) for layout in given]
    library = gemm(engine, plan_product(*given), x1.dtype, (given[0].align, given[1].align), tf32)
    if library is None:
        return tiled(engine, product, x1)
    for place, (layout, fresh) in enumerate(zip((x1, x2), given, strict=True)):
        if fresh is not layout:
            library = _with_copy(engine, library, place, layout, fresh)
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


def _with_copy(engine: CudaEngine, kernel: Kernel, place: int, layout: Layout, fresh: Layout) -> Kernel:
    """Wrap `kernel` to copy an operand first, without repeating broadcast matrices."""
    shape = tuple(
        1 if stride == 0 and axis < layout.ndim - 2 else length
        for axis, (length, stride) in enumerate(zip(layout.shape, fresh.strides, strict=True))
    )
    layout = layout_of(layout.dtype, shape, layout.strides, layout.device, layout.align)
    fresh = layout_of(layout.dtype, shape, None, layout.device)
    copy = engine.elementwise(IDENTITY, signature_of(IDENTITY, (layout,), fresh.dtype), (layout,), fresh)
    allocate = engine.allocator(fresh)

    def run(stream: int, out: Data, *operands: Data) -> None:
        made, owner = allocate(stream)
        copy(stream, made, operands[place])
        given = list(operands)
        given[place] = made
        kernel(stream, out, *given)
        del owner  # kept until the kernels were launched

    return run


def tiled(engine: CudaEngine, product: Product, x: Layout) -> Kernel:
    """The kernel ``(stream, out, x1, x2)`` of ``native/xpops/kernels/matmul.cuh``, for any dtype and strides."""
    name, compute, itemsize = dt.INFO[x.dtype].c_type, *_compute(x)
    multiprocessors = engine.context.multiprocessors
    tile, step, cells, resident = LARGE
    if itemsize > 4 or matmul_tail(product, tile)[0] < multiprocessors:
        tile, step, cells, resident = SMALL
    step = step * 4 // max(itemsize, 4)
    blocks, tail = matmul_tail(product, tile)
    block = (tile // cells) ** 2
    first = (truth(_inner_first(*product.x1)), truth(_inner_first(*product.x2)))
    numbers = ", ".join([name, compute, str(tile), str(step), str(cells), *first])
    source = "\n".join(
        [
            "#include <xpops/kernels/matmul.cuh>",
            "using namespace xpops;",
            f'extern "C" __global__ void __launch_bounds__({block}, {resident // block})',
            f"xpops_kernel(const __grid_constant__ MatmulParams<{len(product.batches) or 1}> params) {{",
            f"  matmul<{numbers}>(params);",
            "}",
            "",
        ]
    )
    return engine.launcher("matmul", source, blocks, block, "QQQ", tail)


def _compute(x: Layout) -> tuple[str, int]:
    """The C++ type for multiplication and addition, and its bytes. Integers wrap; bools are counted."""
    if x.dtype in dt.CATEGORIES["integer or boolean"]:
        return ("uint32", 4) if x.dtype.itemsize <= 4 else ("uint64", 8)
    return f"compute_t<{dt.INFO[x.dtype].c_type}>", max(x.dtype.itemsize, 4)


def _inner_first(outer: int, inner: int) -> bool:
    """Whether the inner axis has the smaller stride."""
    return abs(inner) < abs(outer)
