"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from xpops.api import linear_algebra
from xpops.api.data_types import astype
from xpops.api.elementwise.arithmetic import multiply, subtract
from xpops.api.linalg.products import trace as _trace
from xpops.api.manipulation.axes import moveaxis
from xpops.api.manipulation.joining import stack
from xpops.api.manipulation.shapes import reshape
from xpops.numpy.arguments import arrays_of, as_axes, given, is_scalar, store

__all__ = [
    "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "tensordot", "trace", "vdot",
]  # fmt: skip


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """As `numpy.dot`."""
    if is_scalar(a) or is_scalar(b) or not given(a).ndim or not given(b).ndim:
        x, y = arrays_of((a, b))
        return store(multiply(given(x) if is_scalar(y) else x, y), out, "dot")
    a, b = arrays_of((a, b), scalars=True)
    return store(linear_algebra.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),))), out, "dot")


def vdot(a: Any, b: Any, /) -> Any:
    """As `numpy.vdot`: the product of all elements, conjugating the first."""
    a, b = (reshape(each, (-1,)) for each in arrays_of((a, b), scalars=True))
    return linear_algebra.vecdot(a, b)


def inner(a: Any, b: Any, /) -> Any:
    """As `numpy.inner`."""
    a, b = arrays_of((a, b), scalars=True)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    return linear_algebra.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """As `numpy.outer`, of all elements."""
    a, b = arrays_of((a, b), scalars=True)
    return store(multiply(reshape(a, (-1, 1)), reshape(b, (1, -1))), out, "outer")


def matmul(x1: Any, x2: Any, /, out: Any = None) -> Any:
    """As `numpy.matmul`."""
    return store(linear_algebra.matmul(*arrays_of((x1, x2))), out, "matmul")


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """As `numpy.tensordot`."""
    pair = axes if isinstance(axes, int) else tuple(as_axes(each) for each in axes)
    return linear_algebra.tensordot(*arrays_of((a, b)), axes=pair)


def einsum(subscripts: str, /, *operands: Any, out: Any = None, dtype: Any = None, optimize: Any = False) -> Any:
    """As `numpy.einsum`, with subscripts as text, from left to right: `optimize` changes nothing.

    `dtype` converts the operands first.
    """
    arrays = arrays_of(operands)
    if dtype is not None:
        arrays = [astype(x, dtype, copy=False) for x in arrays]
    return store(linear_algebra.einsum(subscripts, *arrays), out, "einsum")


def kron(a: Any, b: Any) -> Any:
    """As `numpy.kron`."""
    a, b = arrays_of((a, b), scalars=True)
    ndim = max(a.ndim, b.ndim)
    left, right = ((*[1] * (ndim - each.ndim), *each.shape) for each in (a, b))
    pairs = [length for place in range(ndim) for length in (left[place], 1)]
    others = [length for place in range(ndim) for length in (1, right[place])]
    whole = multiply(reshape(a, pairs), reshape(b, others))
    return reshape(whole, [x * y for x, y in zip(left, right, strict=True)])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """As `numpy.cross`, of vectors of 3 elements, or of 2 for both."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = arrays_of((a, b))
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    lengths = {x.shape[-1], y.shape[-1]}
    if lengths == {2}:
        return _crossed(x, y, 0, 1)
    if lengths != {3}:
        raise ValueError(f"cross: the vectors have lengths {x.shape[-1]} and {y.shape[-1]}; accepted: 3, or 2 for both")
    return moveaxis(stack([_crossed(x, y, 1, 2), _crossed(x, y, 2, 0), _crossed(x, y, 0, 1)], axis=-1), -1, axisc)


def _crossed(x: Any, y: Any, i: int, j: int) -> Any:
    return subtract(multiply(x[..., i], y[..., j]), multiply(x[..., j], y[..., i]))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """As `numpy.trace`."""
    return store(_trace(moveaxis(given(a), (axis1, axis2), (-2, -1)), offset=offset, dtype=dtype), out, "trace")
