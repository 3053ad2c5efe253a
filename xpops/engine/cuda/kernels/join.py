"""Join arrays along an axis, on CUDA."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xpops.core.layouts import Layout, contiguous_strides
from xpops.engine.cuda.kernels.elementwise import dense_copier
from xpops.engine.cuda.kernels.gather import word_of
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.join import InterleavePlan, JoinPlan, plan_interleave, plan_join
from xpops.plan.strides.coalesce import coalesce
from xpops.plan.transpose.tiles import transposed_axis

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def join(runtime: Runtime, parts: tuple[Layout, ...], axis: int, out: Layout) -> Kernel | None:
    """See `xpops.engine.protocol.Engine.join`."""
    if len(parts) < 2 or any(part.dtype != out.dtype for part in parts):
        return None
    shortest = tuning_of(runtime.context.capability).elementwise.tile_length
    turned = [_is_transposed(part, shortest) for part in parts]
    if any(turned):
        is_long = all(prod(part.shape[axis:]) >= shortest for part in parts)
        return None if is_long else _joining_copies(runtime, parts, turned, axis, out)
    return _joining(runtime, parts, axis, out)


def _joining(runtime: Runtime, parts: tuple[Layout, ...], axis: int, out: Layout) -> Kernel:
    """`join` of parts of the dtype of `out`."""
    policy, launches = tuning_of(runtime.context.capability).join, []
    block = policy.interleave_block
    interleaved = plan_interleave(parts, axis, out, block, policy.interleaved)
    if interleaved is not None:
        slots, source = "Q" * (1 + len(parts)), interleave_glue(interleaved, block)
        return runtime.launcher("join", source, interleaved.blocks, block, slots, interleaved.tail)
    for plan in plan_join(parts, axis, out, policy.block, policy.unroll):
        slots = "Q" * (1 + len(plan.pieces))
        launch = runtime.launcher("join", join_glue(plan, policy.block), plan.blocks, policy.block, slots, plan.tail)
        launches.append((launch, plan.pieces.start, plan.pieces.stop))
    if len(launches) == 1:
        return launches[0][0]

    def kernel(stream: int, out: int, *parts: int) -> None:
        for launch, first, stop in launches:
            launch(stream, out, *parts[first:stop])

    return kernel


def _is_transposed(part: Layout, shortest: int) -> bool:
    """Whether neighbouring threads would read a part far apart."""
    shape, (dense, strides) = coalesce(part.shape, [contiguous_strides(part.shape), part.strides])
    return transposed_axis(shape, dense, strides, shortest) is not None


def _joining_copies(runtime: Runtime, parts: tuple[Layout, ...], turned: list[bool], axis: int, out: Layout) -> Kernel:
    """`join`, of C-contiguous copies of the parts that are transposed."""
    copiers = {number: dense_copier(runtime, part) for number, part in enumerate(parts) if turned[number]}
    dense = [copiers[number][0] if number in copiers else part for number, part in enumerate(parts)]
    joined = _joining(runtime, tuple(dense), axis, out)

    def kernel(stream: int, out: int, *parts: int) -> None:
        addresses, blocks = list(parts), []
        for number, (_, copied) in copiers.items():
            addresses[number], block = copied(stream, parts[number])
            blocks.append(block)
        joined(stream, out, *addresses)
        del blocks

    return kernel


def join_glue(plan: JoinPlan, block: int) -> str:
    """The glue of a kernel that joins arrays."""
    params = f"JoinParams<{len(plan.pieces)}, {plan.row_axes}, {plan.column_axes}, uint{plan.index_bits}>"
    arguments = f"{word_of(plan.word)}, {truth(plan.dense)}, {block}, {plan.pack}, {plan.unroll}"
    return _glue("join", arguments, params, block)


def interleave_glue(plan: InterleavePlan, block: int) -> str:
    """The glue of a kernel that joins arrays word by word."""
    return _glue("interleave", f"{word_of(plan.word)}, {block}, {plan.pack}", f"InterleaveParams<{plan.pieces}>", block)


def _glue(name: str, arguments: str, params: str, block: int) -> str:
    return "\n".join(
        [
            f"#include <xpops/kernels/join/{name}.cuh>",
            "using namespace xpops;",
            kernel_text(launch_bounds(block), params, f"{name}<{arguments}>"),
        ]
    )
