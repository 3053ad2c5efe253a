"""Selections: checks, which operands are read where they are, and the plan of assigning where a mask is True."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core.layouts import Layout, contiguous_strides
from xpops.plan.elementwise import (
    MAX_PACK_BYTES,
    ElementwisePlan,
    Mode,
    Policy,
    blocks_of,
    coalesce_operands,
    mode_of,
    plan_elementwise,
)
from xpops.plan.signature import Operand
from xpops.plan.strides.coalesce import coalesce


def require_count(count: int, rows: int) -> None:
    """Require one value to assign for each place that a mask selects.

    Raises
    ------
    ValueError
    """
    if count != rows:
        raise ValueError(f"__setitem__: the mask selects {count}, but value has {rows} along its first axis")


def reads_in_place(x: Layout, mask: Layout) -> bool:
    """Whether a selection reads `x` as it is. Otherwise it is faster to copy `x` first.

    Single elements must be read nearly in the order of memory. Rows may lie in memory in any way, at one distance.
    """
    if x.size != mask.size:
        return row_step(x, mask.ndim) is not None
    strides = [abs(stride) for stride, length in zip(x.strides, x.shape, strict=True) if length > 1]
    return x.align >= x.dtype.itemsize and (not strides or strides[-1] == min(strides))


def row_step(x: Layout, axes: int) -> int | None:
    """The elements from each row of `x` to the next, counted along its first `axes` axes; None if they differ.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> from xpops.core.layouts import layout_of
    >>> x = layout_of(float32, (4, 5, 3), (50, 10, 1), Device("cpu"))
    >>> row_step(x, 2), row_step(layout_of(float32, (4, 5, 3), (60, 10, 1), Device("cpu")), 2)
    (10, None)
    """
    lengths = x.shape[:axes]
    shape, (_, strides) = coalesce(lengths, [contiguous_strides(lengths), x.strides[:axes]])
    return (strides or (0,))[-1] if len(shape) < 2 else None


class AssignPlan(NamedTuple):
    """One kernel that assigns.

    Attributes
    ----------
    elementwise : ElementwisePlan
        The modes are those of the array, the mask and the value. `unroll` counts packs of the mask.
    mask_pack : int
        The elements of the mask that a thread loads at once: a multiple of a pack of the array.
    """

    elementwise: ElementwisePlan
    mask_pack: int


def plan_assign(x: Layout, mask: Layout, value: Operand, policy: Policy) -> AssignPlan:
    """The plan of ``x[mask] = value``; `mask` and `value` broadcast to the shape of `x`, which is not empty.

    Each thread has `MAX_PACK_BYTES` elements of the mask.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import bool, float64
    >>> from xpops.core.layouts import layout_of
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> x, mask = (layout_of(dtype, (8, 32), None, Device("cuda")) for dtype in (float64, bool))
    >>> plan = plan_assign(x, mask, float, tuning_of(90).elementwise)
    >>> plan.elementwise.pack, plan.mask_pack, plan.elementwise.unroll
    (2, 16, 1)
    """
    plan = plan_elementwise(x, (mask, value), policy, skews=True)
    mode, mask_pack = _read_mask(x, mask, value, plan)
    return AssignPlan(
        plan._replace(
            modes=(plan.modes[0], mode, plan.modes[2]),
            block=policy.block,  # that of `plan` may be twice as large
            unroll=MAX_PACK_BYTES // mask_pack,
            blocks=blocks_of(x.size, plan.modes[0], plan.pack, policy.block * MAX_PACK_BYTES),
        ),
        mask_pack,
    )


def _read_mask(x: Layout, mask: Layout, value: Operand, plan: ElementwisePlan) -> tuple[Mode, int]:
    """How the mask is read, and the elements that a thread loads at once: as many as never leave a row."""
    if plan.modes[0] is Mode.SKEWED:
        return plan.modes[1], MAX_PACK_BYTES
    _, shape, strides = coalesce_operands(x, (mask, value))
    linear, pack = contiguous_strides(shape), MAX_PACK_BYTES
    while pack > plan.pack and mode_of(shape, strides[1], mask, linear, pack) in (
        Mode.ROW,
        Mode.REVERSED,
        Mode.REPEATED,
        Mode.GATHER,
    ):
        pack //= 2
    return mode_of(shape, strides[1], mask, linear, pack), pack
