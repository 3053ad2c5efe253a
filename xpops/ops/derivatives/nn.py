"""The derivatives of functions of ``xpops.nn`` that are not elementwise."""

from __future__ import annotations

from typing import Any


def softmax(xp: Any, g: Any, y: Any, axis: int) -> Any:
    product = xp.multiply(g, y)
    return xp.subtract(product, xp.multiply(y, xp.sum(product, axis=axis, keepdims=True)))


def log_softmax(xp: Any, g: Any, y: Any, axis: int) -> Any:
    return xp.subtract(g, xp.multiply(xp.exp(y), xp.sum(g, axis=axis, keepdims=True)))


def upsample(xp: Any, g: Any, x_shape: tuple[int, ...], scale: Any, size: Any, layout: str) -> Any:
    place = 2 if layout == "NCHW" else 1
    return xp.nn.upsample_nearest2d_backward(g, x_shape[place : place + 2], scale=scale, layout=layout)


def upsample_backward(xp: Any, g: Any, x_shape: tuple[int, ...], scale: Any, size: Any, layout: str) -> Any:
    if scale is not None:
        return xp.nn.upsample_nearest2d(g, scale=scale, layout=layout)
    place = 2 if layout == "NCHW" else 1
    return xp.nn.upsample_nearest2d(g, size=x_shape[place : place + 2], layout=layout)


def scatter_rows(xp: Any, g: Any, index: Any, padding: int) -> Any:
    found = xp.take(g, index, axis=0)
    return found if padding < 0 else xp.where(xp.expand_dims(xp.equal(index, padding), axis=-1), 0, found)


def scatter_into_zeros(xp: Any, g: Any, index: Any, axis: int) -> Any:
    return xp.take_along_axis(g, index, axis=axis)


def scatter_slices_source(xp: Any, g: Any, index: Any, axis: int) -> Any:
    return xp.take(g, index, axis=axis)


def scatter_elements(
    xp: Any, g: Any, operands: tuple[Any, ...], y: Any, axis: int, reduction: str, include_self: bool
) -> tuple[Any, ...]:
    """The cotangents of `x` and `source`. Of equal extremes each gets the same share, as in torch."""
    x, index, source = operands
    at = xp.astype(index, xp.int64)
    shape = xp.facts(index).shape
    ndim, dtype = len(shape), xp.facts(g).dtype
    part = tuple(slice(None) if place == axis % ndim else slice(0, n) for place, n in enumerate(shape))
    used = source[tuple(slice(0, n) for n in shape)]

    def spread(values: Any) -> Any:
        return xp.take_along_axis(values[part], at, axis=axis)

    def count(values: Any) -> Any:
        start = xp.like(g, xp.zeros(xp.facts(g).shape, dtype=dtype))
        return xp.nn.scatter_add(start, index, xp.astype(values, dtype), axis=axis)

    hits = count(xp.equal(index, index)) if reduction == "mean" or not include_self else None
    own = g if include_self else xp.where(xp.equal(hits, 0), g, 0)
    if reduction == "sum":
        by_source = spread(g)
    elif reduction == "mean":
        share = xp.divide(g, xp.add(hits, 1) if include_self else xp.maximum(hits, 1))
        own, by_source = share if include_self else own, spread(share)
    elif reduction == "prod":

        def multiply_all(x: Any, used: Any) -> Any:
            return xp.nn.scatter_reduce(x, index, used, "prod", axis=axis, include_self=include_self)

        mine, by_source = _of_product(xp, g, x if include_self else None, used, spread, count, multiply_all)
        own = mine if include_self else own
    else:
        own, by_source = _of_extreme(xp, g, x, y, used, spread, count, own if not include_self else None)
    widths = [(0, n - m) for n, m in zip(xp.facts(source).shape, shape, strict=True)]
    return own, None, xp.pad(by_source, widths) if any(after for _, after in widths) else by_source


def _of_product(xp: Any, g: Any, x: Any, used: Any, spread: Any, count: Any, multiply_all: Any) -> tuple[Any, Any]:
    """The cotangents of `x`, if it is given, and of the elements of the source: the products of all others."""
    is_zero, start = xp.equal(used, 0), g
    zeros = count(is_zero)
    if x is not None:
        zeros = xp.add(zeros, xp.equal(x, 0))
        start = xp.where(xp.equal(x, 0), 1, x)
    product = multiply_all(start, xp.where(is_zero, 1, used))

    def without(values: Any, product: Any, zeros: Any) -> Any:
        """The product without one of its factors. Its own derivative is wrong if two factors or more are 0."""
        is_zero = xp.equal(values, 0)
        rest = xp.divide(product, xp.where(is_zero, 1, values))
        return xp.where(xp.equal(zeros, is_zero), rest, 0)

    mine = None if x is None else xp.multiply(g, without(x, product, zeros))
    return mine, xp.multiply(spread(g), without(used, spread(product), spread(zeros)))


def _of_extreme(xp: Any, g: Any, x: Any, y: Any, used: Any, spread: Any, count: Any, own: Any) -> tuple[Any, Any]:
    """The cotangents of `x` (`own`, if it takes no part) and of the elements of the source."""
    wins = xp.equal(used, spread(y))
    winners = count(wins)
    if own is None:
        mine = xp.equal(x, y)
        winners = xp.add(winners, mine)
        share = xp.divide(g, xp.maximum(winners, 1))
        own = xp.where(mine, share, 0)
    else:
        share = xp.divide(g, xp.maximum(winners, 1))
    return own, xp.where(wins, spread(share), 0)
