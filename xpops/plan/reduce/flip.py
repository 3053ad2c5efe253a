"""Reductions of reversed arrays: axes that all operands have backwards are walked from their other end."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from xpops.core.layouts import Layout, alignment, layout_of
from xpops.plan.signature import Operand
from xpops.plan.strides.broadcast import broadcast_strides
from xpops.plan.strides.coalesce import Strides


class FlippedReduction(NamedTuple):
    """The inputs and the result of a reduction along flipped axes.

    Attributes
    ----------
    inputs : tuple of Layout or type
    out : tuple of int
        The result's strides.
    shifts : tuple of int
        From the first element of the result to that of the flipped result, in elements, then of each input in bytes; 0
        for scalars.
    """

    inputs: tuple[Operand, ...]
    out: Strides
    shifts: tuple[int, ...]


def flip_reduction(
    shape: tuple[int, ...], inputs: tuple[Operand, ...], out: Strides, ordered: Collection[int] = ()
) -> FlippedReduction:
    """Flip each axis along which an input has a negative stride, and none a positive one, except the axes in `ordered`.

    Packs and merged axes need positive strides. The order of elements along a reduced axis changes only rounding.

    Parameters
    ----------
    inputs : tuple of Layout or type
        They broadcast to `shape`.
    out : tuple of int
        The result's strides along every axis; 0 along reduced axes.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.dtypes import float32
    >>> x = layout_of(float32, (4, 8), (8, -1), Device("cuda"))
    >>> flip_reduction((4, 8), (x,), (0, 1))
    FlippedReduction(inputs=(Layout(float32, (4, 8), (8, 1), 'cuda:0', align=4),), out=(0, -1), shifts=(7, -28))
    """
    lines = [broadcast_strides(each.shape, each.strides, shape) for each in inputs if isinstance(each, Layout)]
    axes = [
        axis
        for axis, strides in enumerate(zip(*lines, strict=True))
        if axis not in ordered and min(strides) < 0 and max(strides) <= 0
    ]
    if not axes:
        return FlippedReduction(inputs, out, (0,) * (1 + len(inputs)))
    flipped = [_flip(each, [axis - len(shape) for axis in axes]) for each in inputs]
    operands, shifts = zip(*flipped, strict=True)
    turned = tuple(-stride if axis in axes else stride for axis, stride in enumerate(out))
    return FlippedReduction(operands, turned, (sum((shape[axis] - 1) * out[axis] for axis in axes), *shifts))


def _flip(x: Operand, axes: list[int]) -> tuple[Operand, int]:
    """The operand along flipped axes, which are counted from the last one, and the shift to its first element."""
    if not isinstance(x, Layout):
        return x, 0
    axes = [axis + x.ndim for axis in axes if axis + x.ndim >= 0]
    shift = sum((x.shape[axis] - 1) * x.strides[axis] for axis in axes) * x.dtype.itemsize
    strides = tuple(-stride if axis in axes else stride for axis, stride in enumerate(x.strides))
    align = min(x.align, alignment(shift)) if shift else x.align
    return layout_of(x.dtype, x.shape, strides, x.device, align), shift
