"""Random numbers on CUDA."""

from __future__ import annotations

from itertools import chain
from struct import pack
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.protocol import Kernel
from xpops.ops.random import Law
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.random import ROUNDS, round_keys

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The threads of a block, and the counters of a thread; a pack may need more. Measured on one H200, 2026-11, over 128 to
# 512 threads and 2 and 4 counters.
BLOCK, COUNTERS = 256, 4


def random(runtime: Runtime, law: Law, out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.random`."""
    if out.size == 0:
        return empty_kernel
    elements = BLOCK * unroll(law, out.dtype) * MAX_PACK_BYTES // out.dtype.itemsize
    slots = "QQQ" + 2 * ROUNDS * "I" + law.parameters * ("d" if law.real else "Q")
    blocks, source = -(-out.size // elements), random_glue(law, out.dtype)
    launch = runtime.launcher(law.name, source, blocks, BLOCK, slots, pack("<Q", out.size))

    def kernel(stream: int, out: int, key: int, branch: int, position: int, *parameters: float) -> None:
        launch(stream, out, branch, position, *chain.from_iterable(round_keys(key)), *parameters)

    return kernel


def unroll(law: Law, dtype: DType) -> int:
    """The number of packs that a thread writes."""
    counters = MAX_PACK_BYTES // dtype.itemsize // law.count(dtype)
    return max(1, COUNTERS // counters)


def random_glue(law: Law, dtype: DType) -> str:
    """The glue of a kernel that writes random numbers."""
    c_type = dt.INFO[dtype].c_type
    params = f"RandomParams<{'double' if law.real else 'uint64'}, {law.parameters}>"
    return "\n".join(
        [
            "#include <xpops/kernels/random.cuh>",
            "using namespace xpops;",
            f'extern "C" __global__ void __launch_bounds__({BLOCK})',
            f"xpops_kernel(const __grid_constant__ {params} params) {{",
            f"  random<{law.functor}<{c_type}>, {c_type}, {BLOCK}, {unroll(law, dtype)}>(params);",
            "}",
            "",
        ]
    )
