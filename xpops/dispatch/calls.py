"""Elementwise plans as kernels of an engine, and their cache."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine import engine_of
from xpops.engine.program import Data, Kernel
from xpops.frameworks.differentiable import Facts
from xpops.ops.elementwise import IDENTITY
from xpops.ops.operator import Operator
from xpops.plan.cache import BoundedDict
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, Signature, signature_of
from xpops.plan.strides.broadcast import broadcast_shapes

PLAN_LIMIT = 8192
# The kinds of dtypes. `out` may have another dtype than the result if both are of one kind.
_KINDS = (dt.SIGNED_INTEGERS, dt.UNSIGNED_INTEGERS, dt.REAL_FLOATS, dt.COMPLEX_FLOATS)


class Call(NamedTuple):
    """An elementwise call that is ready to run: the result's layout and the kernel that writes it."""

    layout: Layout
    kernel: Kernel


_calls: BoundedDict[tuple[object, ...], Call] = BoundedDict(PLAN_LIMIT)


def call_for(
    op: Operator,
    specs: tuple[Operand, ...],
    device: Device,
    dtype: DType | None = None,
    out: Layout | None = None,
) -> Call:
    """The call of `op` on operands of `specs`, from the cache or newly planned.

    Parameters
    ----------
    dtype : numpy.dtype, optional
        The result's dtype, for casts.
    out : Layout, optional
        The layout of the memory for the result, if the caller gave it.

    Raises
    ------
    TypeError, ValueError
        If the operator does not take the operands, they do not broadcast, or `out` does not fit.
    """
    key = (op, specs, device, dtype, out)
    call = _calls.get(key)
    if call is None:
        signature = signature_of(op, specs, dtype)
        if out is None:
            out = result_layout(signature, specs, device)
        else:
            signature = _fit_to_out(op, signature, out)
        kernel = engine_of(device).elementwise(op, signature, specs, out)
        call = _calls[key] = Call(out, _check_integers(op, specs, signature.loop, kernel))
    return call


def _fit_to_out(op: Operator, signature: Signature, out: Layout) -> Signature:
    """The signature with the shape and the dtype of `out`.

    The value that the kernel computes is rounded once, directly to the dtype of `out`. A float16 or bfloat16 result is
    not rounded to its own dtype first.
    """
    require_fit(op, signature.shape, signature.dtype, out)
    return signature._replace(shape=out.shape, dtype=out.dtype)


def require_fit(op: Operator, shape: tuple[int, ...], dtype: DType, out: Layout | Facts) -> None:
    """Refuse an `out` that does not fit a result.

    A copy (an assignment) broadcasts to the shape of `out`; any other operator must have this shape. The dtypes may
    differ in width.
    """
    same_kind = any(dtype in kind and out.dtype in kind for kind in _KINDS)
    if (dtype == out.dtype or same_kind) and (
        shape == out.shape
        or (op is IDENTITY and broadcast_shapes(shape, out.shape, function="assignment") == out.shape)
    ):
        return
    raise ValueError(
        f"{op.public}: out has shape {tuple(out.shape)} and dtype {out.dtype}; "
        f"accepted: shape {tuple(shape)} and dtype {dtype} or another one of its kind"
    )


def _check_integers(op: Operator, specs: tuple[Operand, ...], loop: tuple[DType, ...], kernel: Kernel) -> Kernel:
    """`kernel` with a check before it: OverflowError for a Python integer that the loop's dtype cannot hold."""
    bounds = [
        (position, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), dtype)
        for position, (spec, dtype) in enumerate(zip(specs, loop, strict=True))
        if spec is int and dtype.kind in "iu"
    ]
    if not bounds:
        return kernel

    def check_and_launch(stream: int, out: Data, *values: Data) -> None:
        for position, low, high, dtype in bounds:
            if not low <= values[position] <= high:
                raise OverflowError(
                    f"{op.public}: {op.arguments[position]} is {values[position]}, which {dtype} cannot hold; "
                    f"accepted: {low} to {high}"
                )
        kernel(stream, out, *values)

    return check_and_launch
