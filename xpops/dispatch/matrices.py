"""Stacks of matrices: the checks, layouts and copies that linear algebra's plans share."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import require_array, reshape_dense
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Kernel, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY
from xpops.plan.signature import Operand

_ACCEPTED = (dt.float32, dt.float64, dt.complex64, dt.complex128)


def require_matrices(spec: Operand, function: str, argument: str = "x", square: bool = True) -> Layout:
    """`spec` if it is the layout of a stack of floating-point matrices.

    Raises
    ------
    TypeError
        If it is no array or has another dtype.
    ValueError
        If it has fewer than two axes, or `square` and the matrices are not square.
    """
    x = require_array(spec, function, argument)
    if x.dtype not in _ACCEPTED:
        raise TypeError(
            f"{function}: {argument} has dtype {x.dtype}; accepted: {', '.join(map(str, _ACCEPTED))}; "
            "convert it with astype"
        )
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        raise ValueError(
            f"{function}: {argument} has shape {x.shape}; accepted: {'square ' * square}matrices, one or a stack"
        )
    return x


def empty_program(*outs: Layout) -> Program:
    """The program of results that have no elements: it launches nothing."""
    return Program(outs, lambda stream, *data: None)


def contiguous_layout(dtype: DType, shape: tuple[int, ...], like: Layout) -> Layout:
    """A C-contiguous layout on the device of `like`."""
    return layout_of(dtype, tuple(shape), None, like.device)


def stack_layout(layout: Layout) -> Layout:
    """A C-contiguous stack of matrices with its leading axes merged into one."""
    return reshape_dense(layout, (prod(layout.shape[:-2]), *layout.shape[-2:]))


def transpose_layout(layout: Layout) -> Layout:
    """The layout of the transposed matrices, on the memory of a C-contiguous `layout`."""
    shape, strides = ((*each[:-2], each[-1], each[-2]) for each in (layout.shape, contiguous_strides(layout.shape)))
    return layout_of(layout.dtype, shape, strides, layout.device)


def copier_into(engine: Engine, x: Layout, work: Layout, turned: bool) -> Kernel:
    """The kernel ``(stream, work, x)`` that copies matrices, transposed if `turned`."""
    target = transpose_layout(work) if turned else work
    copy = copier(x, target)
    return lambda stream, made, x: copy(stream, engine.view(made, 0, target), x)


def identity_writer(engine: Engine, layout: Layout) -> Callable[[int, Data], None]:
    """A function ``(stream, data)`` that writes identity matrices to a C-contiguous `layout`."""
    count, size, _ = stack_layout(layout).shape
    diagonal = layout_of(layout.dtype, (count, size), (size * size, size + 1), layout.device, layout.dtype.itemsize)
    zeros, ones = (call_for(IDENTITY, (int,), layout.device, layout.dtype, each).kernel for each in (layout, diagonal))

    def fill(stream: int, data: Any) -> None:
        zeros(stream, data, 0)
        ones(stream, engine.view(data, 0, diagonal), 1)

    return fill
