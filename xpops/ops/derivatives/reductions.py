"""The derivatives of reductions by their operand."""

from __future__ import annotations

import math
from typing import Any

from xpops.ops.derivatives.axes import Shape, kept, reduced_size, spread
from xpops.ops.derivatives.elementwise import Derivative


def _sum(xp: Any, g: Any, x_shape: Shape, axis: Any) -> Any:
    return spread(xp, g, x_shape, axis)


def _mean(xp: Any, g: Any, x_shape: Shape, axis: Any) -> Any:
    return spread(xp, xp.divide(g, max(reduced_size(x_shape, axis), 1)), x_shape, axis)


def _extreme(xp: Any, g: Any, x: Any, y: Any, x_shape: Shape, axis: Any) -> Any:
    # Equal elements share the cotangent, as in torch's amax.
    mask = xp.equal(x, kept(xp, y, x_shape, axis))
    share = xp.divide(kept(xp, g, x_shape, axis), xp.count_nonzero(mask, axis=axis, keepdims=True))
    return xp.where(mask, share, 0)


def _prod(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any) -> Any:
    # The product of all others, without a division by 0. Its own derivative is wrong if two elements or more are 0.
    is_zero = xp.equal(x, 0)
    filled, zeros = xp.where(is_zero, 1, x), xp.count_nonzero(is_zero, axis=axis, keepdims=True)
    others = xp.divide(xp.prod(filled, axis=axis, keepdims=True), filled)
    single = xp.logical_and(xp.equal(zeros, 1), is_zero)
    others = xp.where(xp.logical_or(xp.equal(zeros, 0), single), others, 0)
    return xp.multiply(kept(xp, g, x_shape, axis), xp.conj(others))


def _var(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any, correction: float) -> Any:
    left = reduced_size(x_shape, axis) - correction
    deviations = xp.subtract(x, xp.mean(x, axis=axis, keepdims=True))
    return xp.multiply(kept(xp, g, x_shape, axis), xp.multiply(deviations, 2 / left if left > 0 else math.nan))


def _std(xp: Any, g: Any, x: Any, y: Any, x_shape: Shape, axis: Any, correction: float) -> Any:
    # Torch's derivative of a deviation of 0 is 0.
    scaled = xp.where(xp.equal(y, 0), 0, xp.divide(g, xp.multiply(y, 2)))
    return _var(xp, scaled, x, x_shape, axis, correction)


def _nanprod(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any) -> Any:
    missing = xp.isnan(x)
    return xp.where(missing, 0, _prod(xp, g, xp.where(missing, 1, x), x_shape, axis))


def _nansum(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any) -> Any:
    return xp.where(xp.isnan(x), 0, kept(xp, g, x_shape, axis))


def _sum_of_sizes(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any) -> Any:
    return xp.multiply(kept(xp, g, x_shape, axis), xp.sign(x))


def _sum_of_squares(xp: Any, g: Any, x: Any, x_shape: Shape, axis: Any) -> Any:
    return xp.multiply(kept(xp, g, x_shape, axis), xp.multiply(x, 2))


DERIVATIVES: dict[str, Derivative] = {
    "max": _extreme,
    "mean": _mean,
    "min": _extreme,
    "nanprod": _nanprod,
    "nansum": _nansum,
    "prod": _prod,
    "std": _std,
    "sum": _sum,
    "sum_of_sizes": _sum_of_sizes,
    "sum_of_squares": _sum_of_squares,
    "var": _var,
}
