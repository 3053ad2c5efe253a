"""Fourier transforms of arrays of any framework: a copy if needed, the primitive `fft`, and a scaling if needed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.lines import plan_on_lines
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Kernel, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import fft as derivative
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.fft import Transform
from xpops.plan.signals.fft import FftPlan, plan_fft
from xpops.plan.signature import Operand
from xpops.plan.strides.views import axes_of, axis_of

NORMS = ("backward", "ortho", "forward")


@differentiable(derivative.along_axis)
def along_axis(engine: Engine, specs: tuple[Operand, ...], op: Transform, n: Any, axis: Any, norm: Any) -> Program:
    """The program of a transform along one axis; see `transform`."""
    x = require_array(specs[0], op.name, "x")
    axes = (axis_of(axis, x.ndim, op.name),)
    count = None if n is None else _length(n, op.name, "n")
    return transform(engine, x, op, axes, (count,), norm, "n")


@differentiable(derivative.along_axes)
def along_axes(engine: Engine, specs: tuple[Operand, ...], op: Transform, s: Any, axes: Any, norm: Any) -> Program:
    """The program of a transform along several axes; see `transform`."""
    x = require_array(specs[0], op.name, "x")
    if s is not None and axes is None:
        raise ValueError(f"{op.name}: s is given and axes is not; accepted: both, or neither")
    found = tuple(range(x.ndim)) if axes is None else axes_of(axes, x.ndim, op.name, "axes")
    given = (-1,) * len(found) if s is None else s if isinstance(s, (tuple, list)) else (s,)
    if len(given) != len(found):
        raise ValueError(f"{op.name}: s is {s!r}, for {len(found)} axes; accepted: a length for each")
    if not found and op.kind in ("rfft", "irfft"):
        raise ValueError(f"{op.name}: axes is empty; accepted: one axis at least")
    lengths = tuple(_length(each, op.name, "s") for each in given)
    return transform(engine, x, op, found, tuple(None if n == -1 else n for n in lengths), norm, "s")


def transform(
    engine: Engine,
    x: Layout,
    op: Transform,
    axes: tuple[int, ...],
    given: tuple[int | None, ...],
    norm: Any,
    argument: str,
) -> Program:
    """The program of a Fourier transform.

    Parameters
    ----------
    axes : tuple of int
        Counted from the front.
    given : tuple of int or None
        The number of points along each axis; None for the length of the axis in `x`.
    argument : str
        The public name of `given`, for errors.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    ValueError
        If a length is not positive, or there is no such norm.
    """
    if norm not in NORMS:
        raise ValueError(f"{op.name}: norm is {norm!r}; accepted: {', '.join(map(repr, NORMS))}")
    before, after = _dtypes(x.dtype, op.name, op.kind)
    lengths = _lengths(x.shape, op.kind, axes, given)
    if any(length < 1 for length in lengths):
        raise ValueError(
            f"{op.name}: {argument} is {lengths}, for x of shape {x.shape}; accepted: lengths of 1 or more"
        )
    plan = plan_fft(x.shape, op.kind, axes, lengths, engine.fft_strided)
    out = _result(after, plan, x)
    if out.size == 0:
        return Program((out,), lambda stream, *data: None)
    scale = plan.scale(norm, op.kind in ("ifft", "irfft"))

    def plan_lines(x: Layout, out: Layout) -> Program:
        plan = plan_fft(x.shape, op.kind, axes, lengths, engine.fft_strided)
        return Program((out,), _kernel(engine, x, out, plan, op.kind, before, scale))

    return plan_on_lines(engine, x, axes, (out,), plan_lines)


def _dtypes(dtype: DType, function: str, kind: str) -> tuple[DType, DType]:
    """The dtypes of the transform's operand and result."""
    real = dt.REAL_OF.get(dtype, dtype)
    if real not in (dt.float32, dt.float64) or (kind == "rfft" and dtype != real):
        accepted = "float32 and float64" if kind == "rfft" else "complex64 and complex128, float32 and float64"
        raise TypeError(f"{function}: dtype {dtype} is not accepted; accepted: {accepted}")
    spectrum = dt.COMPLEX_OF[real]
    return (real if kind == "rfft" else spectrum), (real if kind == "irfft" else spectrum)


def _lengths(
    shape: tuple[int, ...], kind: str, axes: tuple[int, ...], given: tuple[int | None, ...]
) -> tuple[int, ...]:
    """The points along each axis. By default "irfft" makes 2 (M - 1) points from a half spectrum of M."""
    found = [shape[axis] if length is None else length for axis, length in zip(axes, given, strict=True)]
    if kind == "irfft" and given[-1] is None:
        found[-1] = 2 * (found[-1] - 1)
    return tuple(found)


def _length(n: Any, function: str, argument: str) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"{function}: {argument} is {n!r}; accepted: an integer") from None


def _result(dtype: DType, plan: FftPlan, x: Layout) -> Layout:
    """The result's layout: C-contiguous in the order in which the axes are transformed."""
    places = [plan.order.index(axis) for axis in range(x.ndim)]
    steps = contiguous_strides(plan.made)
    return layout_of(dtype, tuple(plan.made[i] for i in places), tuple(steps[i] for i in places), x.device)


def _kernel(engine: Engine, x: Layout, out: Layout, plan: FftPlan, kind: str, before: DType, scale: float) -> Kernel:
    source, target = (
        layout_of(dtype, shape, None, x.device) for dtype, shape in ((before, plan.taken), (out.dtype, plan.made))
    )
    shape, strides = (tuple(each[axis] for axis in plan.order) for each in (x.shape, x.strides))
    given = layout_of(x.dtype, shape, strides, x.device, x.align)
    # The primitive destroys the operand of "irfft".
    spent = kind == "irfft"
    copied = given is not source or spent or not plan.groups
    prepare = _preparation(engine, given, source) if copied else None
    # Scale after the transform: before it, small numbers would underflow.
    finish = None if scale == 1 else _scaling(engine, target, scale)
    shared = copied and source is target  # then the copy goes to the result's memory, and is transformed in place
    allocate, steps = engine.allocator(source), _steps(engine, source, target, plan, kind)

    def kernel(stream: int, out: Data, x: Data) -> None:
        data, owner = engine.view(x, 0, given), None
        result = engine.view(out, 0, target)
        if prepare is not None:
            made, owner = (result, None) if shared else allocate(stream)
            prepare(stream, made, data)
            data = made
        for step in steps:
            data = step(stream, result, data)
        if finish is not None:
            finish(stream, result)
        del owner  # kept until the kernels were launched

    return kernel


def _steps(
    engine: Engine, source: Layout, target: Layout, plan: FftPlan, kind: str
) -> list[Callable[[int, Data, Data], Data]]:
    """The transforms of all groups, as functions ``(stream, result, data)`` that return the data after them.

    The first group's transform reads `data` and writes `result`: first in order, but last for "irfft". All other
    groups are complex transforms in place.
    """
    if not plan.groups:
        return []
    plain = {"rfft": "fft", "irfft": "ifft"}.get(kind, kind)
    outer = engine.fft(source, target, plan.groups[0], kind)
    held = source if kind == "irfft" else target
    inner = [engine.fft(held, held, group, plain) for group in plan.groups[1:]]

    def run_first(stream: int, result: Data, data: Data) -> Data:
        outer(stream, result, data)
        return result

    def run_others(stream: int, result: Data, data: Data) -> Data:
        for transform in inner:
            transform(stream, data, data)
        return data

    return [run_others, run_first] if kind == "irfft" else [run_first, run_others]


def _preparation(engine: Engine, given: Layout, source: Layout) -> Kernel:
    """The kernel ``(stream, made, x)`` that copies `x` to the transform's operand: cropped, and padded with zeros."""
    region = tuple(map(min, given.shape, source.shape))
    part = layout_of(given.dtype, region, given.strides, given.device, given.align)
    target = layout_of(source.dtype, region, source.strides, source.device)
    fill = call_for(IDENTITY, (int,), source.device, source.dtype, source).kernel if region != source.shape else None
    copy = copier(part, target)

    def prepare(stream: int, made: Data, x: Data) -> None:
        if fill is not None:
            fill(stream, made, 0)
        if 0 not in region:
            copy(stream, engine.view(made, 0, target), engine.view(x, 0, part))

    return prepare


def _scaling(engine: Engine, layout: Layout, scale: float) -> Callable[[int, Data], None]:
    """A function ``(stream, data)`` that multiplies real or complex elements by `scale` in place."""
    parts = _real_layout(layout)
    multiply = call_for(OPERATORS["multiply"], (parts, float), layout.device, None, parts).kernel

    def scale_in_place(stream: int, data: Data) -> None:
        view = engine.view(data, 0, parts)
        multiply(stream, view, view, scale)

    return scale_in_place


def _real_layout(layout: Layout) -> Layout:
    """The layout of a complex array as real numbers, with one more axis for real and imaginary part; else `layout`."""
    real = dt.REAL_OF.get(layout.dtype)
    if real is None:
        return layout
    strides = (*(2 * stride for stride in layout.strides), 1)
    return layout_of(real, (*layout.shape, 2), strides, layout.device, layout.align)
