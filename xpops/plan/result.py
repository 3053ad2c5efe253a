"""The layout of a result for which the caller gave no memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.ops.reduction import Reduction, reduction_dtypes
from xpops.plan.signature import Operand, Signature
from xpops.plan.strides import views

# Along shorter innermost axes, memory is accessed in parts of cache lines.
_SHORT = 8


def result_layout(signature: Signature, operands: tuple[Operand, ...], device: Device) -> Layout:
    """A dense layout in the order of most operands.

    Operands of the result's shape, without a stride of 0, have a say. The result gets the order of axes in which most
    of them are contiguous along the innermost axis; of equal ones the order that most of them have as a whole; then one
    whose innermost axis is not short; then C order, or that of the first. So the sum of two transposed arrays is
    transposed, and memory is accessed linearly; and as few operands as possible are transposed on the way.
    """
    shape = signature.shape
    orders = [
        dense_like(shape, operand.strides)
        for operand in operands
        if isinstance(operand, Layout) and operand.shape == shape and _has_order(operand)
    ]
    choices = dict.fromkeys((contiguous_strides(shape), *orders))
    if len(choices) == 1 or 0 in shape:
        return layout_of(signature.dtype, shape, None, device)
    innermost = [_innermost(shape, order) for order in orders]

    def fitness(choice: tuple[int, ...]) -> tuple[int, int, bool]:
        axis = _innermost(shape, choice)
        return innermost.count(axis), orders.count(choice), shape[axis] >= _SHORT

    return layout_of(signature.dtype, shape, max(choices, key=fitness), device)


def _has_order(x: Layout) -> bool:
    """Whether no element of `x` is repeated along an axis."""
    return all(stride or length == 1 for stride, length in zip(x.strides, x.shape, strict=True))


def _innermost(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """The axis with the smallest stride, of those with more than one element."""
    return min((axis for axis, length in enumerate(shape) if length > 1), key=lambda axis: strides[axis])


def dense_like(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Positive strides without gaps, in the order of `strides`, reversed axes included; in C order if one is 0.

    Ties and lengths of 1 keep C order.

    Examples
    --------
    >>> dense_like((4, 3), (1, 10)), dense_like((4, 3), (-1, 10)), dense_like((4, 3), (1, 0))
    ((1, 4), (1, 4), (3, 1))
    """
    real = [axis for axis, length in enumerate(shape) if length > 1]
    order = sorted(real, key=lambda axis: -abs(strides[axis]))
    if order == real or 0 in shape or any(strides[axis] == 0 for axis in real):
        return contiguous_strides(shape)
    dense = contiguous_strides(tuple(shape[axis] for axis in order))
    result = [0] * len(shape)
    for axis, stride in zip(order, dense, strict=True):
        result[axis] = stride
    return tuple(result)


class ReducedLayout(NamedTuple):
    """A reduction's axes, the dtype in which it computes, the result's strides along all axes of x, and its layout."""

    axes: tuple[int, ...]
    loop: DType
    strides: tuple[int, ...]
    out: Layout


def reduced_layout(x: Layout, op: Reduction, axis: Any, keepdims: bool, dtype: DType | None) -> ReducedLayout:
    """The layouts of reducing `x` by `op`. The result has the order of axes of `x`, as results of operators have.

    Raises as `reduction_dtypes` and `views.axes_of` do.
    """
    loop, result = reduction_dtypes(op, x.dtype, dtype)
    axes = tuple(range(x.ndim)) if axis is None else views.axes_of(axis, x.ndim, op.public)
    shape = tuple(1 if i in axes else length for i, length in enumerate(x.shape))
    dense = dense_like(shape, x.strides)
    kept = [i for i in range(x.ndim) if keepdims or i not in axes]
    out = layout_of(result, tuple(shape[i] for i in kept), tuple(dense[i] for i in kept), x.device)
    return ReducedLayout(axes, loop, tuple(0 if i in axes else dense[i] for i in range(x.ndim)), out)


def taken_strides(x: Layout, axis: int, count: int) -> tuple[int, ...]:
    """The strides of `count` places along an axis of `x`, dense and in the order of axes of `x`."""
    return dense_like((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.strides)


def scan_result(x: Layout, axis: int, dtype: DType, initial: bool) -> Layout:
    """The layout of a scan's result: dense, with the axes in the order of `x`; with `initial` one longer along `axis`.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> x = layout_of(np.dtype("int8"), (2, 3), (1, 2), CPU)
    >>> scan_result(x, 0, np.dtype("int64"), True)
    Layout(int64, (3, 3), (1, 3), 'cpu', align=16)
    """
    shape = tuple(length + (initial and place == axis) for place, length in enumerate(x.shape))
    like = layout_of(x.dtype, shape, x.strides, x.device)
    return result_layout(Signature((), dtype, shape), (like,), x.device)
