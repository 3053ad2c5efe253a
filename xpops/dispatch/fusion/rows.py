"""Which part of a fused function one kernel computes row by row, and which reductions need kernels of their own."""

from __future__ import annotations

from typing import NamedTuple, cast

from xpops.core.layouts import Layout
from xpops.dispatch.fusion.recording import FusedRecording, Part, parts_of
from xpops.dispatch.fusion.tracing import ReducedInput
from xpops.plan.fused.rows import Stage, fits
from xpops.plan.result import reduced_layout


class Rows(NamedTuple):
    """The kernel that computes row by row, and what is left.

    Attributes
    ----------
    stages : tuple of Stage
        The reductions along rows.
    full : tuple of int
        The shape of their operands.
    inputs : tuple of int
        The numbers of the other inputs that the kernel reads.
    results : tuple of int
        The numbers of the values that it writes: results of the function, and then the reductions that others need.
    outs : tuple of Layout
    places : tuple of int
        The places of the former among the function's results.
    apart : tuple of int
        The numbers of the reductions along other axes.
    late : tuple of Part
        The kernels of the results that are computed from these reductions.
    """

    stages: tuple[Stage, ...]
    full: tuple[int, ...]
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    outs: tuple[Layout, ...]
    places: tuple[int, ...]
    apart: tuple[int, ...]
    late: tuple[Part, ...]

    @property
    def shared(self) -> tuple[int, ...]:
        """The numbers of the reductions along rows that the kernel writes for others."""
        return self.results[len(self.places) :]


def plan_row_kernel(recorded: FusedRecording, capability: int, multiprocessors: int, shared: int) -> Rows | None:
    """The kernel that computes all but reductions along other axes, and what needs them; None if no such kernel can."""
    from xpops.engine.cuda.tuning import staging_policy, tuning_of

    whole, stages, apart = recorded.whole, [], []
    full: tuple[int, ...] = ()
    for number, each in enumerate(recorded.derived, recorded.given):
        if isinstance(each, ReducedInput):
            *parameters, correction = each.parameters
            axes, loop, _, out = reduced_layout(each.operand, each.op, *parameters)
            if axes == (each.operand.ndim - 1,):
                full = full or each.operand.shape
                stages.append(Stage(number, each.place, each.op, loop, out.dtype, correction))
            else:
                apart.append(number)
    if not stages or any(whole.results.count(number) > 1 for number in apart):
        return None
    waits = [not whole.needed((number,)).isdisjoint(apart) for number in whole.results]
    places = tuple(place for place, waiting in enumerate(waits) if not waiting)
    late = tuple(place for place, number in enumerate(whole.results) if waits[place] and number not in apart)
    reduced = tuple(cast("ReducedInput", recorded.derived[number - recorded.given]).place for number in apart)
    written = tuple(whole.results[place] for place in places)
    made = {stage.number for stage in stages}
    if not written or not whole.needed((*(stage.place for stage in stages), *reduced)).isdisjoint(apart):
        return None
    kept = tuple(sorted(whole.needed((*reduced, *(whole.results[place] for place in late))) & made))
    layouts = tuple(recorded.layouts[place] for place in places)
    outs = (*layouts, *(cast("Layout", whole.inputs[number]) for number in kept))
    part = whole._replace(results=(*written, *kept))
    policies = tuning_of(capability).fused_rows, staging_policy(capability, multiprocessors, shared)
    if not fits(part, recorded.shapes, tuple(stages), full, outs, *policies):
        return None
    needed = whole.needed((*part.results, *(stage.place for stage in stages)))
    inputs = tuple(number for number in range(len(whole.inputs)) if number in needed and number not in made)
    after = parts_of(whole, recorded.layouts, late)
    return Rows(tuple(stages), full, inputs, part.results, outs, places, tuple(apart), after)
