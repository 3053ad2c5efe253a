"""Reductions of arrays of any framework."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense
from xpops.engine.program import Data, Kernel, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.reduction import NUMBER_POSITIONS, Reduction
from xpops.plan.result import reduced_layout
from xpops.plan.signature import Signature


def reduction(
    engine: Engine,
    specs: tuple[Layout],
    op: Reduction,
    axis: Any,
    keepdims: bool,
    dtype: DType | None,
    correction: float,
) -> Program:
    """The program of one reduction.

    Raises
    ------
    TypeError
        If the reduction does not take the dtype, or an axis is no integer.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or a reduced axis is empty and the reduction has no value for no elements.
    """
    (x,) = specs
    axes, loop, strides, out = reduced_layout(x, op, axis, keepdims, dtype)
    if op.empty is None and any(x.shape[i] == 0 for i in axes):
        raise ValueError(
            f"{op.public}: x has shape {x.shape}, nothing along axis {axis}; accepted: at least one element"
        )
    if x.size == 0:
        return Program((out,), _fill(out, op.empty))
    if all(x.shape[i] == 1 for i in axes):
        kernel = _of_one(engine, x, op, loop, out, correction)
        if kernel is not None:
            return Program((out,), kernel)
    repeated = [i for i in axes if x.shape[i] == 1 or x.strides[i] == 0]
    of_one = op.positional and len(repeated) == len(axes)
    if of_one and op.name not in NUMBER_POSITIONS:  # these give -1 for a NaN
        return Program((out,), _fill(out, 0))
    same = op.idempotent or of_one
    if same and any(x.shape[i] > 1 for i in repeated):
        once = _without_repetition(x, repeated)
        reduce = engine.reduce(op, once, axes, loop, out, strides, correction)
        return Program((out,), lambda stream, out, x: reduce(stream, out, engine.view(x, 0, once)))
    if op.positional and not _is_ordered(x, axes):
        return Program((out,), _flat_position(engine, op, x, loop, out))
    return Program((out,), engine.reduce(op, x, axes, loop, out, strides, correction))


def _without_repetition(x: Layout, repeated: list[int]) -> Layout:
    """The layout of the first elements along axes of stride 0."""
    shape = tuple(1 if axis in repeated else length for axis, length in enumerate(x.shape))
    return layout_of(x.dtype, shape, x.strides, x.device, x.align)


def _fill(out: Layout, value: Any) -> Kernel:
    """The kernel of a reduction that does not depend on elements: it fills `out` with a value."""
    if out.size == 0:
        return lambda stream, out, x: None
    if out.dtype in dt.COMPLEX_FLOATS and value != value:
        value = complex(math.nan, math.nan)
    fill = call_for(IDENTITY, (type(value),), out.device, out.dtype, out).kernel
    return lambda stream, out, x: fill(stream, out, value)


def _of_one(engine: Engine, x: Layout, op: Reduction, loop: DType, out: Layout, correction: float) -> Kernel | None:
    """The elementwise kernel of a reduction whose results have one element each; None if there is none."""
    if op.positional or op.term is not None or (op.dispersion and loop in dt.COMPLEX_FLOATS):
        return None
    if op.cpu is np.add and not op.dispersion and loop in dt.CATEGORIES["floating-point"]:  # -0 becomes 0
        return None
    if engine.is_host and op.truth and out.dtype != dt.bool:  # the host's copies convert directly
        return None
    if op.dispersion and correction >= 1:
        return _fill(out, math.nan)
    strides = (stride for length, stride in zip(x.shape, x.strides, strict=True) if length > 1)
    of_out = tuple(next(strides) if length > 1 else 1 for length in out.shape)
    element = layout_of(x.dtype, out.shape, of_out, x.device, x.align)
    operands = (element,) * (2 if op.dispersion else 1)
    signature = Signature((loop,) * len(operands), out.dtype, out.shape)
    compute = engine.elementwise(OPERATORS["subtract"] if op.dispersion else IDENTITY, signature, operands, out)
    return lambda stream, out, x: compute(stream, out, *(engine.view(x, 0, element),) * len(operands))


def _is_ordered(x: Layout, axes: tuple[int, ...]) -> bool:
    """Whether the axes follow each other from the largest stride to the smallest: kernels count positions so."""
    strides = [abs(x.strides[axis]) for axis in axes if x.shape[axis] > 1]
    return sorted(strides, reverse=True) == strides and len(set(strides)) == len(strides)


def _flat_position(engine: Engine, op: Reduction, x: Layout, loop: DType, out: Layout) -> Kernel:
    """The kernel of a position (argmax, argmin) in the flattened array, which it copies in C order."""
    line, flatten = make_dense(engine, x, (x.size,))
    of_copy = engine.reduce(op, line, (0,), loop, out, (0,))

    def run(stream: int, out: Data, x: Data) -> None:
        data, owner = flatten(stream, x)
        of_copy(stream, out, data)
        del owner  # freed after the launch: the pool reuses memory in stream order

    return run
