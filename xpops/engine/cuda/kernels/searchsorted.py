"""Binary search on CUDA (``native/xpops/kernels/searchsorted.cuh``)."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import TYPE_CHECKING, Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import Glue, wire_of
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.search import SearchPlan, SearchPolicy, plan_search
from xpops.plan.signature import Operand

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def searchsorted(
    runtime: Runtime,
    x1: Layout,
    x2: Operand,
    right: bool,
    out: Layout,
    loop: DType | None = None,
    sorter: Layout | None = None,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.searchsorted`."""
    if out.size == 0:
        return empty_kernel
    loop = x1.dtype if loop is None else loop
    policy = tuning_of(runtime.context.capability).search
    plan = plan_search(x1.size, out.size, _itemsize(loop), runtime.context.multiprocessors, policy)
    glue, tail = search_glue(x1, x2, sorter, loop, right, plan, policy), pack("<QQQ", x1.size, out.size, plan.levels)
    search = runtime.launcher("searchsorted", glue.source, plan.blocks, policy.block, glue.slots, tail)
    if plan.levels == 0:
        return lambda stream, out, x1, x2, sorter=0: search(stream, out, x1, x2, sorter, 0)
    build, allocate = _builder(runtime, x1, sorter, loop, plan), runtime.pool.allocator(plan.entries * _itemsize(loop))

    def kernel(stream: int, out: int, x1: int, x2: Any, sorter: int = 0) -> None:
        tree, block = allocate(stream)
        build(stream, tree, x1, sorter)
        search(stream, out, x1, x2, sorter, tree)
        del block  # kept until the kernels were launched; the pool is ordered on the stream

    return kernel


def _builder(runtime: Runtime, x1: Layout, sorter: Layout | None, loop: DType, plan: SearchPlan) -> Callable[..., None]:
    """The kernel ``(stream, tree, x1, sorter)`` that builds the search tree."""
    policy = tuning_of(runtime.context.capability).search
    blocks = min(-(-plan.entries // policy.block), policy.builders * runtime.context.multiprocessors)
    source, tail = tree_glue(x1, sorter, loop, policy), pack("<QQ", x1.size, plan.levels)
    return runtime.launcher("searchsorted_tree", source, blocks, policy.block, "QQQ", tail)


def tree_glue(x1: Layout, sorter: Layout | None, loop: DType, policy: SearchPolicy) -> str:
    """The glue of the kernel that builds a search tree."""
    sorted_type, loop_type, order, index = _types(x1, sorter, loop)
    call = f"build_tree<{sorted_type}, {loop_type}, {order}, {index}, {policy.fan_bits}, {policy.block}>"
    return _glue(call, "TreeParams", launch_bounds(policy.block))


def search_glue(
    x1: Layout,
    x2: Operand,
    sorter: Layout | None,
    loop: DType,
    right: bool,
    plan: SearchPlan,
    policy: SearchPolicy,
) -> Glue:
    """The glue of a binary search."""
    query, form, scalar = (
        (dt.INFO[x2.dtype].c_type, "Q", "false") if isinstance(x2, Layout) else (*wire_of(loop)[:2], "true")
    )
    sorted_type, loop_type, order, index = _types(x1, sorter, loop)
    side = "true" if right else "false"
    widest = max(1, min(x1.align, MAX_PACK_BYTES) // x1.dtype.itemsize)
    numbers = policy.fan_bits, min(widest, 1 << policy.fan_bits), plan.top, plan.unroll, policy.block
    arguments = ", ".join([sorted_type, query, scalar, loop_type, order, side, index, *map(str, numbers)])
    source = _glue(f"searchsorted<{arguments}>", "SearchParams", launch_bounds(policy.block, policy.blocks))
    return Glue(source, f"QQ{form}QQ")


def _types(x1: Layout, sorter: Layout | None, loop: DType) -> tuple[str, str, str, str]:
    """The C++ types of `x1`, of the comparison, of the sorter, and of indices."""
    order = "void" if sorter is None else dt.INFO[sorter.dtype].c_type
    index = "uint32" if x1.size < INDEX_LIMIT else "uint64"
    return dt.INFO[x1.dtype].c_type, dt.INFO[loop].c_type, order, index


def _glue(call: str, params: str, bounds: str) -> str:
    headers = "#include <xpops/kernels/searchsorted.cuh>\nusing namespace xpops;\n"
    return headers + kernel_text(bounds, params, call)


def _itemsize(loop: DType) -> int:
    """The bytes of the type in which values of `loop` are compared (``compute_t``)."""
    return max(4, loop.itemsize) if loop in dt.CATEGORIES["real floating-point"] else loop.itemsize
