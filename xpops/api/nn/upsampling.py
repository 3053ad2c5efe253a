"""Nearest-neighbour upsampling of images."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from xpops.api.signatures import array_function
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.dense import plan_on_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import unary
from xpops.engine.program import Guessing, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import nn as derivative
from xpops.plan.signature import Operand
from xpops.plan.upsample import Axis

__all__ = ["upsample_nearest2d", "upsample_nearest2d_backward"]

_PLACES = {"NCHW": 2, "NHWC": 1}


@array_function
def upsample_nearest2d(x: Any, /, *, scale: Any = None, size: Any = None, layout: str = "NCHW") -> Any:
    """Resize images to more (or fewer) rows and columns. Each element is that of the nearest place.

    Parameters
    ----------
    x : array
        Of shape (N, C, H, W), or (N, H, W, C) with ``layout="NHWC"``. Any dtype.
    scale : float or (float, float), optional
        The factors of rows and columns: the result has ``floor(H * scale)`` rows.
    size : int or (int, int), optional
        The rows and columns of the result, instead of `scale`.
    layout : {"NCHW", "NHWC"}

    Returns
    -------
    array
        Element (h, w) is element ``(min(floor(h * r), H - 1), min(floor(w * s), W - 1))`` of `x`. With `scale`, r is
        1 / scale; with `size`, or if the number of rows does not change, r is H / rows; s likewise. Both are float32,
        as in ``torch.nn.functional.interpolate(x, mode="nearest")`` on CUDA.

    Raises
    ------
    TypeError
        If `scale` or `size` is not a number or a pair of numbers.
    ValueError
        If `x` does not have four axes, its images are empty, not exactly one of `scale` and `size` is given, or one of
        them is not positive.

    Notes
    -----
    After OneFlow's UpsampleNearest2D, which has a special kernel for a scale of 2.

    Examples
    --------
    >>> x = xp.reshape(xp.asarray([1, 2, 3, 4]), (1, 1, 2, 2))
    >>> xp.nn.upsample_nearest2d(x, scale=2)[0, 0, ...]
    Array([[1, 1, 2, 2],
           [1, 1, 2, 2],
           [3, 3, 4, 4],
           [3, 3, 4, 4]], dtype=int64, device='cpu')
    """
    return unary(_plan_forward, "upsample_nearest2d", x, scale, size, layout)


@array_function
def upsample_nearest2d_backward(grad: Any, size: Any, /, *, scale: Any = None, layout: str = "NCHW") -> Any:
    """The gradient of `upsample_nearest2d` with respect to `x`: for each element the sum over its copies.

    Torch's gradient computes places from the scale instead of its inverse. If both round differently (such as for a
    scale of 41, or one that keeps the length), torch may add an element of it to a neighbour of its source.

    Parameters
    ----------
    grad : array
        The gradient with respect to the result, floating-point. Half types are added in float32, and rounded once.
    size : int or (int, int)
        The numbers of rows and columns of `x`.
    scale : float or (float, float), optional
        The `scale` of the forward call, if it had one.
    layout : {"NCHW", "NHWC"}

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype is not accepted, or `scale` or `size` is not a number or a pair of numbers.
    ValueError
        If `grad` does not have four axes, its images are empty, a number is not positive, or `size` and `scale` do
        not give the shape of `grad`.

    Examples
    --------
    >>> xp.nn.upsample_nearest2d_backward(xp.ones((1, 1, 4, 4)), 2)[0, 0, ...]
    Array([[4., 4.],
           [4., 4.]], dtype=float64, device='cpu')
    """
    return unary(_plan_backward, "upsample_nearest2d_backward", grad, size, scale, layout)


@differentiable(derivative.upsample)
def _plan_forward(engine: Engine, specs: tuple[Operand, ...], scale: Any, size: Any, layout: str) -> Program | Guessing:
    function = "upsample_nearest2d"
    x, place = _require_images(specs[0], function, "x", layout)
    if (scale is None) == (size is None):
        raise ValueError(f"{function}: scale is {scale!r} and size {size!r}; accepted: exactly one of them")
    before = x.shape[place : place + 2]
    scales = None if scale is None else _scales(scale, function)
    after = _sizes(size, function) if scales is None else _scaled_lengths(before, scales, function)
    out = _resized_layout(x, place, after)
    return plan_on_dense(
        engine, (x,), _run, engine, out, _axes(before, after, scales), _adjacent_channels(x, place), False
    )


@differentiable(derivative.upsample_backward)
def _plan_backward(
    engine: Engine, specs: tuple[Operand, ...], size: Any, scale: Any, layout: str
) -> Program | Guessing:
    function = "upsample_nearest2d_backward"
    grad, place = _require_images(specs[0], function, "grad", layout)
    if grad.dtype not in dt.REAL_FLOATS:
        raise TypeError(f"{function}: dtype {grad.dtype} is not accepted; accepted: real floating-point dtypes")
    before, after = _sizes(size, function), grad.shape[place : place + 2]
    scales = None if scale is None else _scales(scale, function)
    if scales is not None and _scaled_lengths(before, scales, function) != after:
        raise ValueError(f"{function}: scale is {scale!r} and size {size!r}, for grad of shape {grad.shape}")
    out = _resized_layout(grad, place, before)
    return plan_on_dense(
        engine, (grad,), _run, engine, out, _axes(before, after, scales), _adjacent_channels(grad, place), True
    )


def _run(x: Layout, engine: Engine, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> Program:
    if out.size == 0:
        return Program((out,), lambda stream, out, x: None)
    return Program((out,), engine.upsample(x, out, axes, words, backward))


def _require_images(spec: Operand, function: str, argument: str, layout: str) -> tuple[Layout, int]:
    """The layout of the images, after checks, and the position of the axis of rows."""
    x = require_array(spec, function, argument)
    if layout not in _PLACES:
        raise ValueError(f"{function}: layout is {layout!r}; accepted: 'NCHW', 'NHWC'")
    place = _PLACES[layout]
    if x.ndim != 4 or 0 in x.shape[place : place + 2]:
        raise ValueError(
            f"{function}: {argument} has shape {x.shape}; accepted: four axes ({layout}), images not empty"
        )
    return x, place


def _adjacent_channels(x: Layout, place: int) -> int:
    return x.shape[3] if place == 1 else 1


def _resized_layout(x: Layout, place: int, size: tuple[int, ...]) -> Layout:
    return layout_of(x.dtype, (*x.shape[:place], *size, *x.shape[place + 2 :]), None, x.device)


def _pair(given: Any) -> tuple[Any, Any]:
    return (given[0], given[1]) if isinstance(given, tuple) and len(given) == 2 else (given, given)


def _sizes(size: Any, function: str) -> tuple[int, int]:
    try:
        rows, columns = (operator.index(each) for each in _pair(size))
    except TypeError:
        raise TypeError(f"{function}: size is {size!r}; accepted: an integer, or two") from None
    if min(rows, columns) < 1:
        raise ValueError(f"{function}: size is {size!r}; accepted: at least one row and column")
    return rows, columns


def _scales(scale: Any, function: str) -> tuple[float, float]:
    pair = _pair(scale)
    if not all(isinstance(each, (int, float)) for each in pair):
        raise TypeError(f"{function}: scale is {scale!r}; accepted: a number, or two")
    if not all(0 < each < math.inf for each in pair):
        raise ValueError(f"{function}: scale is {scale!r}; accepted: above 0")
    return float(pair[0]), float(pair[1])


def _scaled_lengths(size: tuple[int, ...], scales: tuple[float, float], function: str) -> tuple[int, int]:
    rows, columns = (math.floor(length * scale) for length, scale in zip(size, scales, strict=True))
    if min(rows, columns) < 1:
        raise ValueError(
            f"{function}: scale is {scales} for images of {size}; accepted: what leaves a row and a column"
        )
    return rows, columns


def _axes(before: tuple[int, ...], after: tuple[int, ...], scales: tuple[float, float] | None) -> tuple[Axis, Axis]:
    """The axes, with ratios rounded as in torch on CUDA, which ignores the scale if the length does not change."""
    ratios = []
    for place, (b, a) in enumerate(zip(before, after, strict=True)):
        given = None if scales is None or a == b else scales[place]
        ratios.append(np.float32(b) / np.float32(a) if given is None else np.float32(1.0 / given))
    rows, columns = (Axis(b, a, float(ratio)) for b, a, ratio in zip(before, after, ratios, strict=True))
    return rows, columns
