"""The plan of reducing an expression: the reduce plan of its value, with operands of any layout."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.elementwise import MAX_PACK_BYTES, Mode
from xpops.plan.reduce.coalesce import CoalescedReduction, coalesce_reduction
from xpops.plan.reduce.columns import column_access, plan_columns
from xpops.plan.reduce.parameters import Access, ReducePlan, ReducePolicy
from xpops.plan.reduce.rows import may_be_ragged, plan_rows, row_access
from xpops.plan.signature import Operand
from xpops.plan.strides.broadcast import broadcast_strides
from xpops.plan.strides.coalesce import Strides


class FusedReducePlan(NamedTuple):
    """One kernel of the reduce family with an expression.

    Attributes
    ----------
    reduce : ReducePlan
    modes : tuple of Mode
        How each input is read.
    lines : tuple of int
        The number of each input's line of strides; 0 for scalars, which have none.
    total : int
        The number of lines of strides.
    """

    reduce: ReducePlan
    modes: tuple[Mode, ...]
    lines: tuple[int, ...]
    total: int


class _Array(NamedTuple):
    """An operand: its layout, its line of strides, and whether it has more than 1/8 of the value's elements."""

    layout: Layout
    line: int
    large: bool


def plan_fused_reduce(
    value: Layout, inputs: tuple[Operand, ...], axes: tuple[int, ...], out: Strides, result: int, policy: ReducePolicy
) -> FusedReducePlan:
    """The plan of reducing `axes` of the value that an expression computes from `inputs`.

    Operands with the strides of `value`, at most five large ones and none with wider elements, are read as `value`
    would be if it had rows and columns of more than a few packs. The order of sums is then the same.

    Parameters
    ----------
    value : Layout
        The layout that the expression's value would have in memory; not empty.
    inputs : tuple of Layout or type
        They broadcast to the shape of `value`.
    out : tuple of int
        The result's strides along every axis of `value`; 0 along `axes`.
    result : int
        The bytes of an element of the result.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> row, matrix = (layout_of(float32, shape, None, Device("cuda")) for shape in [(64,), (4096, 64)])
    >>> from xpops.engine.cuda.tuning import reduce_policy
    >>> plan = plan_fused_reduce(matrix, (matrix, row, float), (0,), (0, 1), 4, reduce_policy(90, 132))
    >>> plan.reduce.kernel, [str(mode) for mode in plan.modes], plan.lines
    ('columns', ['kVector', 'kVector', 'kScalar'], (0, 1, 0))
    """
    lines, arrays = [value.strides], []
    for spec in inputs:
        if isinstance(spec, Layout):
            line = broadcast_strides(spec.shape, spec.strides, value.shape)
            if line not in lines:
                lines.append(line)
            arrays.append(_Array(spec, lines.index(line), 8 * spec.size > value.size))
    widest = max(each.dtype.itemsize for each in (value, *(array.layout for array in arrays)))
    coalesced = coalesce_reduction(value.shape, axes, out, lines, widest)
    most, large = policy.large_operands, sum(array.large for array in arrays)
    policy = policy._replace(bytes_per_thread=policy.bytes_per_thread * most // max(most, large))
    for access in _accesses(value, coalesced, result):
        found = [_mode(each, arrays, coalesced, access) for each in arrays]
        if not any(each.large and mode is Mode.GATHER for each, mode in zip(arrays, found, strict=True)):
            break
    kernel = plan_columns(coalesced, access, policy) if coalesced.columns else plan_rows(coalesced, access, policy)
    modes, places = iter(found), iter(arrays)
    return FusedReducePlan(
        kernel,
        tuple(next(modes) if isinstance(spec, Layout) else Mode.SCALAR for spec in inputs),
        tuple(next(places).line if isinstance(spec, Layout) else 0 for spec in inputs),
        len(lines),
    )


def _accesses(value: Layout, coalesced: CoalescedReduction, result: int) -> list[Access]:
    """The candidates, best first. The last one reads element by element, which fits every operand."""
    if coalesced.columns:
        found = column_access(value, coalesced, result)
        return [found, *_halves(found)[1:]]
    item = coalesced.item
    found = row_access(value, coalesced, True)
    first, *others = _halves(row_access(value, coalesced, False))
    within = Access(item, MAX_PACK_BYTES // item, ragged=True, counted=False)
    if found.ragged:
        return [within, first, *others]
    return [first, *[within] * (found.pack > 1 and may_be_ragged(coalesced, item)), *others]


def _halves(access: Access) -> list[Access]:
    return [Access(access.item, access.pack >> shift, counted=False) for shift in range(access.pack.bit_length())]


def _mode(array: _Array, arrays: list[_Array], coalesced: CoalescedReduction, access: Access) -> Mode:
    """How an array is read. It is gathered if neighbours are not contiguous, or packs of a row would not be aligned."""
    kept, reduced = coalesced.in_kept[array.line], coalesced.in_reduced[array.line]
    if not any((*kept, *reduced)):
        return Mode.UNIFORM
    neighbour, others = (
        (kept[-1], (*kept[:-1], *reduced)) if coalesced.columns else (reduced[-1], (*kept, *reduced[:-1]))
    )
    if neighbour == 0:
        return Mode.SPLAT
    if access.pack == 1:
        return Mode.VECTOR
    if neighbour != 1:
        return Mode.GATHER
    if not access.aligned:
        return Mode.SHIFTED
    if not access.ragged:
        fits = _is_aligned(array, access) and not any(stride % access.pack for stride in others)
    else:  # the first large array that is contiguous along the row determines where packs begin
        lead = next((each for each in arrays if each.large and coalesced.in_reduced[each.line][-1] == 1), None)
        fits = array is lead or (
            lead is not None
            and _is_aligned(array, access)
            and _is_aligned(lead, access)
            and not any(
                (one - other) % access.pack for one, other in zip(kept, coalesced.in_kept[lead.line], strict=True)
            )
        )
    if fits:
        return Mode.VECTOR
    # Aligned packs within long rows take less time than shifted ones.
    return Mode.SHIFTED if coalesced.columns or not may_be_ragged(coalesced, access.item) else Mode.GATHER


def _is_aligned(array: _Array, access: Access) -> bool:
    return array.layout.align >= access.pack * array.layout.dtype.itemsize
