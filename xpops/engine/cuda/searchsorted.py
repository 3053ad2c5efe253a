"""Binary search on CUDA (``native/xpops/kernels/searchsorted.cuh``)."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.elementwise import empty_kernel
from xpops.engine.cuda.glue import Glue, wire_of
from xpops.engine.protocol import Kernel
from xpops.plan.elementwise import INDEX_LIMIT
from xpops.plan.signature import Operand

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# Estimates for compute capability 9.0 that no measurement has changed yet.
BLOCK, UNROLL, BLOCKS = 256, 4, 6  # threads of a block, searches of a thread, blocks of a multiprocessor at most
PIVOT_BYTES = 32 << 10
# Fewer searches than this do without pivots, whose loading would be most of the work.
LEAST_SEARCHES = 1 << 14


class SearchPlan(NamedTuple):
    """The grid, and the parameters behind the slots."""

    blocks: int
    tail: bytes


def searchsorted(
    engine: CudaEngine,
    x1: Layout,
    x2: Operand,
    right: bool,
    out: Layout,
    loop: DType | None = None,
    sorter: Layout | None = None,
) -> Kernel:
    """The kernel ``(stream, out, x1, x2, [sorter])`` that says where each element of `x2` belongs in a sorted `x1`."""
    if out.size == 0:
        return empty_kernel
    loop = x1.dtype if loop is None else loop
    glue = search_glue(x1, x2, sorter, loop, right)
    plan = plan_search(x1, out, loop, engine.context.multiprocessors)
    launch = engine.launcher("searchsorted", glue.source, plan.blocks, BLOCK, glue.slots, plan.tail)

    def kernel(stream: int, out: int, x1: int, x2: Any, sorter: int = 0) -> None:
        launch(stream, out, x1, x2, sorter)

    return kernel


def plan_search(x1: Layout, out: Layout, loop: DType, multiprocessors: int) -> SearchPlan:
    """How many blocks search, and how many pivots they have."""
    most = _pivots(loop) if out.size >= LEAST_SEARCHES else 0
    step = -(-x1.size // most) if most and x1.size else x1.size + 1
    tail = pack("<QQQII", x1.size, out.size, step, x1.size // step, 0)
    return SearchPlan(min(-(-out.size // (BLOCK * UNROLL)), BLOCKS * multiprocessors), tail)


def search_glue(x1: Layout, x2: Operand, sorter: Layout | None, loop: DType, right: bool) -> Glue:
    """The glue of a binary search."""
    query, form, scalar = (
        (dt.INFO[x2.dtype].c_type, "Q", "false") if isinstance(x2, Layout) else (*wire_of(loop)[:2], "true")
    )
    types = [dt.INFO[x1.dtype].c_type, query, scalar, dt.INFO[loop].c_type]
    order = "void" if sorter is None else dt.INFO[sorter.dtype].c_type
    index = "uint32" if x1.size < INDEX_LIMIT else "uint64"
    side = "true" if right else "false"
    arguments = ", ".join([*types, order, side, index, str(_pivots(loop)), str(UNROLL), str(BLOCK)])
    source = (
        "#include <xpops/kernels/searchsorted.cuh>\n"
        "using namespace xpops;\n"
        f'extern "C" __global__ void __launch_bounds__({BLOCK})\n'
        "xpops_kernel(const __grid_constant__ SearchParams params) {\n"
        f"  searchsorted<{arguments}>(params);\n"
        "}\n"
    )
    return Glue(source, f"QQ{form}Q")


def _pivots(loop: DType) -> int:
    return PIVOT_BYTES // max(4, loop.itemsize)
