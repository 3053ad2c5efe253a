"""Which part of a fused function one kernel computes row by row, and which reductions need kernels of their own."""

from __future__ import annotations

from typing import NamedTuple, cast

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.dispatch.fusion.recording import FusedRecording, Part, parts_of
from xpops.dispatch.fusion.tracing import ReducedInput
from xpops.plan.fused.expression import Expression
from xpops.plan.fused.rows import Column, RowsExpression, Stage, fits
from xpops.plan.result import reduced_layout


class Rows(NamedTuple):
    """The kernel that computes row by row, and what is left.

    Attributes
    ----------
    kernel : RowsExpression
        It writes results of the function, and then the reductions along rows that others need.
    places : tuple of int
        The places of the former among the function's results.
    sums : tuple of int
        The numbers of the reductions along columns that the first of `RowsExpression.ends` are.
    end_places : tuple of int
        The places of the others among the function's results.
    apart : tuple of int
        The numbers of the reductions along other axes that have kernels of their own.
    late : tuple of Part
        The kernels of the results that are computed from reductions along other axes.
    """

    kernel: RowsExpression
    places: tuple[int, ...]
    sums: tuple[int, ...]
    end_places: tuple[int, ...]
    apart: tuple[int, ...]
    late: tuple[Part, ...]

    @property
    def shared(self) -> tuple[int, ...]:
        """The numbers of the reductions along rows that the kernel writes for others."""
        return self.kernel.expression.results[len(self.places) :]


def plan_row_kernel(recorded: FusedRecording, capability: int, multiprocessors: int, shared: int) -> Rows | None:
    """The kernel that computes all but reductions along other axes, and what needs them; None if no such kernel can.

    It computes sums along columns, too, if its threads can hold them.
    """
    from xpops.engine.cuda.fused.rows import holds_columns
    from xpops.engine.cuda.tuning import staging_policy, tuning_of

    whole, stages = recorded.whole, []
    apart: dict[int, ReducedInput] = {}
    full: tuple[int, ...] = ()
    for number, each in enumerate(recorded.derived, recorded.given):
        if isinstance(each, ReducedInput):
            *parameters, correction = each.parameters
            axes, loop, _, out = reduced_layout(each.operand, each.op, *parameters)
            if axes == (each.operand.ndim - 1,):
                full = full or each.operand.shape
                stages.append(Stage(number, each.place, each.op, loop, out.dtype, correction))
            else:
                apart[number] = each
    if not stages or any(whole.results.count(number) > 1 for number in apart):
        return None
    waits = [not whole.needed((number,)).isdisjoint(apart) for number in whole.results]
    places = tuple(place for place, waiting in enumerate(waits) if not waiting)
    late = tuple(place for place, number in enumerate(whole.results) if waits[place] and number not in apart)
    reduced = (*(stage.place for stage in stages), *(each.place for each in apart.values()))
    needed = whole.needed(reduced)
    if not places or not needed.isdisjoint(apart):
        return None
    policies = tuning_of(capability).fused_rows, staging_policy(capability, multiprocessors, shared)
    for columns in dict.fromkeys((_columns(apart, full), ())):
        summed = {column.number for column in columns}
        rest = {number: each for number, each in apart.items() if number not in summed}
        kernel = _kernel(recorded, tuple(stages), columns, full, places, rest, late)
        if fits(kernel, recorded.shapes, *policies) and (not columns or holds_columns(kernel, capability, policies[1])):
            return _with_ends(recorded, kernel, places, tuple(rest), late)
    return None


def _with_ends(
    recorded: FusedRecording,
    kernel: RowsExpression,
    places: tuple[int, ...],
    rest: tuple[int, ...],
    late: tuple[int, ...],
) -> Rows:
    """What is left after a kernel. The kernel that adds up sums along columns computes what needs nothing else."""
    whole, numbers = recorded.whole, {column.number for column in kernel.columns}
    ends = tuple(place for place in late if _is_end(whole, whole.results[place], recorded.layouts[place], kernel))
    late = tuple(place for place in late if place not in ends)
    others = whole.needed(tuple(whole.results[place] for place in late)) | set(whole.results)
    sums = tuple(sorted(numbers & others))
    last, _ = whole.prune((*sums, *(whole.results[place] for place in ends)))
    outs = *(cast("Layout", whole.inputs[number]) for number in sums), *(recorded.layouts[place] for place in ends)
    kernel = kernel._replace(last=last, ends=outs)
    return Rows(kernel, places, sums, ends, rest, parts_of(whole, recorded.layouts, late))


def _is_end(whole: Expression, number: int, out: Layout, kernel: RowsExpression) -> bool:
    """Whether a result has one element for each column and needs nothing but sums along columns."""
    columns, length = {column.number for column in kernel.columns}, kernel.full[-1]
    used = {each for each in whole.needed((number,)) if each < len(whole.inputs)}
    return used <= columns and out.size == out.shape[-1] == length and out.contiguous


def _columns(apart: dict[int, ReducedInput], full: tuple[int, ...]) -> tuple[Column, ...]:
    """The reductions that a kernel for rows can compute for columns."""
    found = []
    for number, (place, operand, op, parameters) in apart.items():
        axes, loop, _, out = reduced_layout(operand, op, *parameters[:3])
        along = sorted(axes) == list(range(len(full) - 1)) and operand.shape == full
        if along and op.name == "sum" and loop in dt.REAL_FLOATS:
            found.append(Column(number, place, op, loop, out))
    return tuple(found)


def _kernel(
    recorded: FusedRecording,
    stages: tuple[Stage, ...],
    columns: tuple[Column, ...],
    full: tuple[int, ...],
    places: tuple[int, ...],
    rest: dict[int, ReducedInput],
    late: tuple[int, ...],
) -> RowsExpression:
    """The kernel of the results at `places`, and of the reductions along rows that `rest` and `late` need."""
    whole, made = recorded.whole, {stage.number for stage in stages}
    others = (*(each.place for each in rest.values()), *(whole.results[place] for place in late))
    kept = tuple(sorted(whole.needed(others) & made))
    layouts = tuple(recorded.layouts[place] for place in places)
    outs = (*layouts, *(cast("Layout", whole.inputs[number]) for number in kept))
    results = (*(whole.results[place] for place in places), *kept)
    needed = whole.needed((*results, *(stage.place for stage in stages), *(column.place for column in columns)))
    inputs = tuple(number for number in range(len(whole.inputs)) if number in needed and number not in made)
    return RowsExpression(whole._replace(results=results), stages, columns, full, outs, inputs)
