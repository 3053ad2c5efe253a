"""Random numbers on CUDA."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.runtime.capture import require_no_capture
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.tuning.policies import FlatPolicy
from xpops.engine.program import Kernel
from xpops.ops.random import Law
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.random import ROUNDS, round_keys

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def random(runtime: Runtime, law: Law, out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.random`."""
    if out.size == 0:
        return empty_kernel
    policy = tuning_of(runtime.context.capability).random
    elements = policy.block * unroll(law, out.dtype, policy) * MAX_PACK_BYTES // out.dtype.itemsize
    slots = "QQQ" + ROUNDS * "Q" + law.parameters * ("d" if law.real else "Q")
    blocks, source = -(-out.size // elements), random_glue(law, out.dtype, policy)
    launch = runtime.launcher(law.name, source, blocks, policy.block, slots, pack("<Q", out.size))

    def kernel(stream: int, out: int, key: int, branch: int, position: int, *parameters: float) -> None:
        if stream:
            # Every replay would draw the same numbers: the position is the host's.
            require_no_capture(stream, "a draw of random numbers")
        launch(stream, out, branch, position, *round_keys(key), *parameters)

    return kernel


def unroll(law: Law, dtype: DType, policy: FlatPolicy) -> int:
    """The packs that a thread writes: as many as `policy.unroll` counters make, at least one."""
    counters = MAX_PACK_BYTES // dtype.itemsize // law.count(dtype)
    return max(1, policy.unroll // counters)


def random_glue(law: Law, dtype: DType, policy: FlatPolicy) -> str:
    """The glue of a kernel that writes random numbers."""
    c_type = dt.INFO[dtype].c_type
    params = f"RandomParams<{'double' if law.real else 'uint64'}, {law.parameters}>"
    return "\n".join(
        [
            "#include <xpops/kernels/random.cuh>",
            "using namespace xpops;",
            kernel_text(
                launch_bounds(policy.block),
                params,
                f"random<{law.functor}<{c_type}>, {c_type}, {policy.block}, {unroll(law, dtype, policy)}>",
            ),
        ]
    )
