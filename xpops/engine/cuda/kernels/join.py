"""Copy pieces of arrays to their places in a result, on CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.gather import word_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.tuning.policies import FlatPolicy
from xpops.engine.program import Kernel
from xpops.plan.join import MAX_PIECES, JoinPlan, Piece, plan_join

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def join(runtime: Runtime, pieces: tuple[Piece, ...], out: Layout) -> Kernel | None:
    """See `xpops.engine.protocol.Engine.join`."""
    if len(pieces) < 2:
        return None
    made = [_launch(runtime, pieces[first : first + MAX_PIECES], out) for first in range(0, len(pieces), MAX_PIECES)]
    launches = [each for each in made if each is not None]
    if len(launches) < len(made):
        return None

    def kernel(stream: int, out: int, *sources: int) -> None:
        for launch in launches:
            launch(stream, out, *sources)

    return launches[0] if len(launches) == 1 else kernel


def _launch(runtime: Runtime, pieces: tuple[Piece, ...], out: Layout) -> Kernel | None:
    policy = tuning_of(runtime.context.capability).join
    plan = plan_join(pieces, out, policy.block * policy.unroll)
    if plan is None:
        return None
    slots = "Q" * (1 + len(pieces))
    source = join_glue(plan, len(pieces), policy)
    launch = runtime.launcher("join", source, plan.blocks, policy.block, slots, plan.tail)
    item = out.dtype.itemsize
    starts = [(piece.source, piece.offset * item) for piece in pieces]

    def kernel(stream: int, out: int, *sources: int) -> None:
        launch(stream, out, *(sources[number] + offset for number, offset in starts))

    return kernel


def join_glue(plan: JoinPlan, pieces: int, policy: FlatPolicy) -> str:
    """The glue of a kernel that copies pieces of rows."""
    return "\n".join(
        [
            "#include <xpops/kernels/join.cuh>",
            "using namespace xpops;",
            f'extern "C" __global__ void __launch_bounds__({policy.block})',
            f"xpops_kernel(const __grid_constant__ JoinParams<{pieces}, uint{plan.index_bits}> params) {{",
            f"  join<{word_of(plan.word)}, {policy.block}, {policy.unroll}>(params);",
            "}",
            "",
        ]
    )
