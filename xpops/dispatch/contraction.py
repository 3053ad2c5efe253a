"""Contractions, sums of products over common axes: matmul, tensordot, vecdot and einsum."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense
from xpops.dispatch.primitives import copier
from xpops.dispatch.reductions import reduction
from xpops.engine.program import Data, Kernel, Owner, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.reduction import REDUCTIONS
from xpops.plan.strides import views

# A name for an axis. Axes with equal labels have the same length, or length 1, which is broadcast.
Label = Any


class PreparedOperand:
    """An operand, and the steps that bring it into the form that a product needs.

    `layout` and `labels` describe the operand after the steps recorded so far. A call runs the steps.
    """

    def __init__(self, engine: Engine, layout: Layout, labels: Sequence[Label]) -> None:
        self.engine, self.layout, self.labels = engine, layout, tuple(labels)
        self._steps: list[Any] = []

    @property
    def as_given(self) -> bool:
        """Whether there are no steps."""
        return not self._steps

    def __call__(self, stream: int, data: Data) -> tuple[Data, list[Owner]]:
        """Run the steps. Returns the data and the owners that keep it alive."""
        owners: list[Owner] = []
        for step in self._steps:
            data, owner = step(stream, data)
            owners.append(owner)
        return data, owners

    def view_as(self, shape: tuple[int, ...], strides: tuple[int, ...], labels: Sequence[Label]) -> None:
        """Replace the operand by a view of it with the same first element."""
        old = self.layout
        self.layout, self.labels = layout_of(old.dtype, shape, strides, old.device, old.align), tuple(labels)
        if self.layout is not old:
            view, layout = self.engine.view, self.layout
            self._steps.append(lambda stream, data: (view(data, 0, layout), None))

    def compute(self, kernel: Kernel, fresh: Layout) -> None:
        """Replace the operand by the result of the kernel ``(stream, fresh, operand)``, in new memory."""
        allocate = self.engine.allocator(fresh)

        def step(stream: int, data: Data) -> tuple[Data, Owner]:
            made, owner = allocate(stream)
            kernel(stream, made, data)
            return made, owner

        self.layout = fresh
        self._steps.append(step)

    def convert(self, dtype: DType, conjugate: bool) -> None:
        if conjugate and self.layout.dtype in dt.CATEGORIES["complex floating-point"]:
            conjugated = layout_of(self.layout.dtype, self.layout.shape, None, self.layout.device)
            call = call_for(OPERATORS["conj"], (self.layout,), conjugated.device, None, conjugated)
            self.compute(call.kernel, conjugated)
        if self.layout.dtype != dtype:
            fresh = layout_of(dtype, self.layout.shape, None, self.layout.device)
            self.compute(copier(self.layout, fresh), fresh)

    def merge_labels(self, sizes: dict[Label, int]) -> None:
        """Make one axis for each label: the diagonal of axes that share a label; axes of length 1 are broadcast."""
        strides: dict[Label, int] = {}
        for label, length, stride in zip(self.labels, self.layout.shape, self.layout.strides, strict=True):
            strides[label] = strides.get(label, 0) + (stride if length > 1 else 0)
        self.view_as(tuple(sizes[label] for label in strides), tuple(strides.values()), list(strides))

    def sum_others(self, wanted: set[Label]) -> None:
        """Sum over all labels that are not `wanted`."""
        axes = tuple(axis for axis, label in enumerate(self.labels) if label not in wanted)
        if axes:
            dtype = self.layout.dtype
            op, made = (REDUCTIONS["any"], None) if dtype == dt.bool else (REDUCTIONS["sum"], dtype)
            (fresh,), kernel = reduction(self.engine, (self.layout,), op, axes, False, made, 0.0)
            self.compute(kernel, fresh)
            self.labels = tuple(label for label in self.labels if label in wanted)

    def arrange(self, groups: Sequence[Sequence[Label]], sizes: dict[Label, int]) -> None:
        """Merge each group of labels into one axis, in the order of `groups`; copies if strides do not allow a view."""
        order = [label for group in groups for label in group]
        places = {label: axis for axis, label in enumerate(self.labels)}
        strides = tuple(self.layout.strides[places[label]] for label in order)
        self.view_as(tuple(sizes[label] for label in order), strides, order)
        whole = tuple(prod(sizes[label] for label in group) for group in groups)
        region = views.reshape(self.layout, whole)
        if region is None:
            self.layout, copy = make_dense(self.engine, self.layout, whole)
            self._steps.append(copy)
            self.labels = tuple(range(len(groups)))
        else:
            self.view_as(whole, region.strides, range(len(groups)))


def contract(
    engine: Engine,
    operands: Sequence[Layout],
    labels: Sequence[Sequence[Label]],
    kept: Sequence[Label],
    dtype: DType,
    tf32: bool = False,
    conjugate: bool = False,
) -> Program:
    """The program that multiplies one or two operands and sums over all labels that are not `kept`.

    Parameters
    ----------
    operands : sequence of Layout
    labels : sequence of sequence of Label
        For each operand, a label for each of its axes.
    kept : sequence of Label
        The labels of the result's axes.
    dtype : DType
        The result's dtype. Both operands are converted to it first.
    tf32 : bool
        Whether float32 may be multiplied with less precision.
    conjugate : bool
        Whether the first operand is conjugated.
    """
    sizes: dict[Label, int] = {}
    for layout, names in zip(operands, labels, strict=True):
        for label, length in zip(names, layout.shape, strict=True):
            sizes[label] = length if sizes.get(label, 1) == 1 else sizes[label]
    device = operands[0].device
    shape = tuple(sizes[label] for label in kept)
    if 0 in sizes.values():
        out = layout_of(dtype, shape, None, device)
        fill = call_for(IDENTITY, (bool,), device, dtype, out).kernel if out.size else _launch_nothing
        return Program((out,), lambda stream, out, *operands: fill(stream, out, False))
    prepared = [PreparedOperand(engine, layout, names) for layout, names in zip(operands, labels, strict=True)]
    for place, each in enumerate(prepared):
        each.convert(dtype, conjugate and place == 0)
        each.merge_labels(sizes)
        each.sum_others(set(kept).union(*(other.labels for other in prepared if other is not each)))
    if len(prepared) == 1:
        return _plan_copy(engine, prepared[0], kept, sizes)
    return _plan_product(engine, (prepared[0], prepared[1]), kept, sizes, tf32)


def _launch_nothing(stream: int, *data: Data) -> None:
    pass


def _plan_copy(engine: Engine, x: PreparedOperand, kept: Sequence[Label], sizes: dict[Label, int]) -> Program:
    x.arrange([[label] for label in kept], sizes)
    out = layout_of(x.layout.dtype, x.layout.shape, None, x.layout.device)
    copy = copier(x.layout, out)

    def kernel(stream: int, out: Data, operand: Data) -> None:
        data, owners = x(stream, operand)
        copy(stream, out, data)
        del owners  # kept until the kernels were launched

    return Program((out,), kernel)


def _plan_product(
    engine: Engine,
    operands: tuple[PreparedOperand, PreparedOperand],
    kept: Sequence[Label],
    sizes: dict[Label, int],
    tf32: bool,
) -> Program:
    x1, x2 = operands
    first, second = set(x1.labels), set(x2.labels)
    both = [label for label in x1.labels if label in second]
    stack = [label for label in kept if label in first and label in second]
    inner = [label for label in both if label not in stack]
    rows = [label for label in kept if label not in second]
    columns = [label for label in kept if label not in first]
    # Do not merge the axes of the stack here, where it might need a copy: the engine coalesces those that it can.
    axes = [[label] for label in stack]
    x1.arrange([*axes, rows, inner], sizes)
    x2.arrange([*axes, inner, columns], sizes)
    dtype, device = x1.layout.dtype, x1.layout.device
    product = layout_of(dtype, (*x1.layout.shape[:-1], x2.layout.shape[-1]), None, device)
    multiply = engine.matmul(x1.layout, x2.layout, product, tf32)
    made = [*stack, *rows, *columns]
    strides = dict(zip(made, contiguous_strides(tuple(sizes[label] for label in made)), strict=True))
    out = layout_of(
        dtype, tuple(sizes[label] for label in kept), tuple(strides[label] for label in kept), device
    )  # fmt: skip
    if x1.as_given and x2.as_given and out is product:
        return Program((out,), multiply)

    def kernel(stream: int, out: Data, one: Data, two: Data) -> None:
        (left, owners), (right, others) = x1(stream, one), x2(stream, two)
        multiply(stream, engine.view(out, 0, product), left, right)
        del owners, others  # kept until the kernels were launched

    return Program((out,), kernel)
