"""Utility functions of the standard."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.manipulation.joining import concat_named
from xpops.api.signatures import array_function
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.core.operands import Axes
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call, copier, unary
from xpops.dispatch.reductions import reduction
from xpops.engine.program import Data, Kernel, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.ops.elementwise import OPERATORS
from xpops.ops.reduction import REDUCTIONS
from xpops.plan.signature import Operand
from xpops.plan.strides import views

__all__ = ["all", "any", "diff"]


@array_function
def all(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Whether all elements are true (not 0); True if there are none.

    Parameters
    ----------
    x : array
        Any dtype but float8. NaN is true.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.all(xp.asarray([[1, 2], [0, 4]]), axis=1)
    Array([ True, False], dtype=bool, device='cpu')
    """
    return unary(reduction, "all", x, REDUCTIONS["all"], axis, keepdims, None, 0.0)


@array_function
def any(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Whether any element is true (not 0); False if there are none.

    Parameters
    ----------
    x : array
        Any dtype but float8. NaN is true.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        bool.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.any(xp.asarray([[0, 0], [0, 4]]), axis=1)
    Array([False,  True], dtype=bool, device='cpu')
    """
    return unary(reduction, "any", x, REDUCTIONS["any"], axis, keepdims, None, 0.0)


@array_function
def diff(x: Any, /, n: int = 1, *, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, ``x[i + 1] - x[i]``.

    Parameters
    ----------
    x : array
        Any dtype but float8. The difference of booleans is whether they differ.
    n : int
        How many times to take differences: of `x`, of its differences, and so on.
    axis : int
    prepend, append : array, optional
        Joined to the beginning and the end of `x` along `axis` first. Only the length along `axis` may differ from `x`.

    Returns
    -------
    array
        Shorter by `n` along `axis`, or empty.

    Raises
    ------
    TypeError
        If the dtype is not accepted, or `n` is not an integer.
    ValueError
        If `n` is negative, or `prepend` or `append` has another shape.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.diff(xp.asarray([1, 4, 9, 16]))
    Array([3, 5, 7], dtype=int64, device='cpu')
    >>> xp.diff(xp.asarray([1, 4, 9, 16]), n=2, prepend=xp.asarray([0]))
    Array([2, 2, 2], dtype=int64, device='cpu')
    """
    try:
        times = operator.index(n)
    except TypeError:
        raise TypeError(f"diff: n is {n!r}; accepted: an integer") from None
    if times < 0:
        raise ValueError(f"diff: n is {times}; accepted: 0 and more")
    if prepend is not None or append is not None:
        parts = {"prepend": prepend, "x": x, "append": append}
        x = concat_named("diff", {name: part for name, part in parts.items() if part is not None}, axis)
    return call(_plan_diff, "diff", ("x",), (x,), axis, times)


@differentiable(derivative.diff)
def _plan_diff(engine: Engine, specs: tuple[Operand, ...], axis: Any, n: int) -> Program:
    x = require_array(specs[0], "diff", "x")
    if x.dtype not in dt.CATEGORIES["arithmetic"]:
        raise TypeError(f"diff: dtype {x.dtype} is not accepted; accepted: any dtype but float8")
    found = views.axis_of(axis, x.ndim, "diff")
    if n == 0:
        out = layout_of(x.dtype, x.shape, None, x.device)
        return Program((out,), copier(x, out))
    layouts, steps = [x], []
    for _ in range(min(n, x.shape[found] + 1)):
        out, step = _plan_one_diff(engine, layouts[-1], found)
        layouts.append(out)
        steps.append(step)
    scratch = [engine.allocator(layout) for layout in layouts[1:-1]]

    def kernel(stream: int, out: Data, data: Data) -> None:
        owners = []  # keep all memory until every step is launched
        for step, allocate in zip(steps, scratch, strict=False):
            made, owner = allocate(stream)
            step(stream, made, data)
            owners.append(owner)
            data = made
        steps[-1](stream, out, data)

    return Program((layouts[-1],), kernel)


def _plan_one_diff(engine: Engine, x: Layout, axis: int) -> tuple[Layout, Kernel]:
    """One pass of differences of `x`: the layout of the result, and the kernel ``(stream, out, x)``."""
    length = max(x.shape[axis] - 1, 0)
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    out = layout_of(x.dtype, shape, None, x.device)
    if out.size == 0:
        return out, lambda stream, out, x: None
    offset = x.strides[axis]
    lower = layout_of(x.dtype, shape, x.strides, x.device, x.align)
    upper_align = min(x.align, alignment(abs(offset) * x.dtype.itemsize))
    upper = layout_of(x.dtype, shape, x.strides, x.device, upper_align)
    op = OPERATORS["not_equal" if x.dtype == dt.bool else "subtract"]
    subtract = call_for(op, (upper, lower), x.device, None, out).kernel

    def kernel(stream: int, out: Data, x: Data) -> None:
        subtract(stream, out, engine.view(x, offset, upper), engine.view(x, 0, lower))

    return out, kernel
