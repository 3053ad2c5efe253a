"""The derivatives of scans by their operand."""

from __future__ import annotations

from typing import Any

from xpops.ops.derivatives.axes import sliced
from xpops.ops.derivatives.elementwise import Derivative


def _without_initial(g: Any, x_shape: tuple[int, ...], axis: Any, initial: bool) -> Any:
    """The cotangent without the result before the first element."""
    return g[sliced(len(x_shape), axis or 0, slice(1, None))] if initial else g


def _from_the_end(xp: Any, x: Any, axis: int) -> Any:
    """The cumulative sums from the end of an axis."""
    return xp.flip(xp.cumulative_sum(xp.flip(x, axis=axis), axis=axis), axis=axis)


def _cumulative_sum(xp: Any, g: Any, x_shape: Any, axis: Any, initial: bool) -> Any:
    return _from_the_end(xp, _without_initial(g, x_shape, axis, initial), axis or 0)


def _cumulative_prod(xp: Any, g: Any, x: Any, x_shape: Any, axis: Any, initial: bool) -> Any:
    # Up to the first 0 of a line results are divided by their factor. At the first 0 they are the products without it,
    # and after it they are 0. Their own derivatives are wrong if a line has two zeros or more.
    along = axis or 0
    g = _without_initial(g, x_shape, axis, initial)
    is_zero = xp.equal(x, 0)
    count = xp.cumulative_sum(xp.astype(is_zero, xp.int64), axis=along)
    first = xp.logical_and(is_zero, xp.equal(count, 1))
    filled = xp.where(is_zero, 1, x)
    products = xp.conj(xp.cumulative_prod(xp.where(first, 1, x), axis=along))
    before = xp.multiply(g, xp.where(xp.equal(count, 0), products, 0))
    after = xp.multiply(g, xp.where(xp.equal(count, 0), 0, products))
    found = xp.divide(_from_the_end(xp, before, along), xp.conj(filled))
    return xp.where(first, _from_the_end(xp, after, along), xp.where(xp.equal(count, 0), found, 0))


def _discounted_cumsum(xp: Any, g: Any, gamma: float, axis: Any) -> Any:
    along = axis or 0
    return xp.flip(xp.nn.discounted_cumsum(xp.flip(g, axis=along), gamma, axis=along), axis=along)


DERIVATIVES: dict[str, Derivative] = {
    "cumulative_prod": _cumulative_prod,
    "cumulative_sum": _cumulative_sum,
    "discounted_cumsum": _discounted_cumsum,
}
