"""Functions of xpops that take the arguments of torch's operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xpops as xp

Call = Callable[..., Any]


class LeftOutError(Exception):
    """A sample asks for something that xpops has not, or decides otherwise; the text says what."""


def dtype_of(theirs: Any) -> Any:
    return getattr(xp, str(theirs).removeprefix("torch."))


def axis_of(x: Any, dim: Any) -> Any:
    """Torch's `dim` as our axis."""
    if x.ndim == 0 and dim not in (None, (), []):
        raise LeftOutError("an axis of a 0-d array, which NumPy refuses as well")
    dim = tuple(dim) if isinstance(dim, list) else dim
    return None if dim == () else dim


def reducing(function: Call) -> Call:
    def call(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        named = {} if dtype is None else {"dtype": dtype_of(dtype)}
        return function(x, axis=axis_of(x, dim), keepdims=keepdim, **named)

    return call


def dispersion(function: Call) -> Call:
    def call(
        x: Any, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: bool = False
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 0 if unbiased is False else 1
        return function(x, axis=axis_of(x, dim), correction=correction, keepdims=keepdim)

    return call


def along_axis(function: Call) -> Call:
    def call(x: Any, dim: int, dtype: Any = None) -> Any:
        axis = axis_of(x, dim)
        return function(x if dtype is None else xp.astype(x, dtype_of(dtype)), axis=axis)

    return call


def without_factor(function: Call) -> Call:
    def call(x: Any, y: Any, alpha: float = 1) -> Any:
        if alpha != 1:
            raise LeftOutError("alpha, a factor of the second operand")
        return function(x, y)

    return call


def quantile(x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
    if getattr(q, "requires_grad", False):
        raise LeftOutError("a gradient by q")
    return xp.quantile(x, q, axis=axis_of(x, dim), keepdims=keepdim, method=interpolation)


def transform(function: Call) -> Call:
    def call(x: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        return function(x, n=n, axis=dim, norm=norm or "backward")

    return call


def transform_of_axes(function: Call) -> Call:
    def call(x: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        if s is not None and dim is None:
            raise LeftOutError("lengths without axes, which the standard leaves open")
        return function(x, s=s, axes=dim, norm=norm or "backward")

    return call


def padding(kind: str) -> Call:
    def call(x: Any, pad: Any, mode: str = "", value: Any = None, **_: Any) -> Any:
        widths = [(0, 0)] * x.ndim
        for place in range(len(pad) // 2):
            widths[x.ndim - 1 - place] = pad[2 * place], pad[2 * place + 1]
        if min(min(each) for each in widths) < 0:
            raise LeftOutError("negative widths, which cut")
        return xp.pad(x, widths, kind, **({"constant_values": value or 0} if kind == "constant" else {}))

    return call


def interpolate(
    x: Any, size: Any = None, scale_factor: Any = None, recompute_scale_factor: Any = None, **_: Any
) -> Any:
    if x.ndim != 4 or recompute_scale_factor:
        raise LeftOutError("images of one or three axes, or a scale that is computed again")
    if size is None:
        return xp.nn.upsample_nearest2d(x, scale=scale_factor)
    return xp.nn.upsample_nearest2d(x, size=(size, size) if isinstance(size, int) else size)


def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    axis = axis_of(x, dim)
    return xp.linalg.vector_norm(
        x if dtype is None else xp.astype(x, dtype_of(dtype)), axis=axis, ord=ord, keepdims=keepdim
    )


def matrix_norm(x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, dtype: Any = None) -> Any:
    if tuple(dim) != (-2, -1):
        raise LeftOutError("matrices along other axes than the last two")
    return xp.linalg.matrix_norm(x if dtype is None else xp.astype(x, dtype_of(dtype)), ord=ord, keepdims=keepdim)


def solve(x1: Any, x2: Any, left: bool = True) -> Any:
    if not left or (x2.ndim > 1 and x2.ndim == x1.ndim - 1):
        raise LeftOutError("equations from the right, or stacks of vectors, which the standard reads as matrices")
    return xp.linalg.solve(x1, x2)


def sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    axis = axis_of(x, dim)
    return xp.sort(x, axis=axis, descending=descending), xp.argsort(x, axis=axis, descending=descending)


def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    return tuple(xp.nn.topk(x, k, axis=axis_of(x, dim), largest=largest))


def scatter_reduce(kind: str) -> Call:
    def call(x: Any, dim: int, index: Any, source: Any, reduce: str = "", include_self: bool = True) -> Any:
        return xp.nn.scatter_reduce(x, index, source, kind, axis=axis_of(x, dim), include_self=include_self)

    return call


def eigvalsh(x: Any, UPLO: str = "L") -> Any:
    if UPLO != "L":
        raise LeftOutError("the upper triangle")
    return xp.linalg.eigvalsh(x)


def pinv(x: Any, **named: Any) -> Any:
    if any(value is not None for value in named.values()):
        raise LeftOutError("tolerances of pinv by torch's names")
    return xp.linalg.pinv(x)


def diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n == 0:
        raise LeftOutError("differences of order 0 with more elements, which NumPy leaves out")
    return xp.diff(x, n=n, axis=dim, prepend=prepend, append=append)


def cross(x: Any, y: Any, dim: int = -1) -> Any:
    if dim >= 0:
        raise LeftOutError("axes from the front, of which the standard says nothing")
    return xp.linalg.cross(x, y, axis=dim)


def take_along(x: Any, indices: Any, dim: int | None = None) -> Any:
    if dim is None:
        raise LeftOutError("no axis")
    return xp.take_along_axis(x, indices, axis=dim)


def concat(arrays: Any, dim: int = 0) -> Any:
    if len({x.ndim for x in arrays}) > 1:
        raise LeftOutError("arrays of different numbers of axes")
    return xp.concat(list(arrays), axis=dim)


def tensordot(x: Any, y: Any, dims: Any = 2) -> Any:
    if not isinstance(dims, int) and [x.shape[i] for i in dims[0]] != [y.shape[i] for i in dims[1]]:
        raise LeftOutError("contracted axes that are broadcast")
    return xp.tensordot(x, y, axes=dims)


def einsum(arrays: Any, subscripts: str) -> Any:
    given, _, result = subscripts.partition("->")
    if result and "..." in given and "..." not in result:
        raise LeftOutError("a sum over the axes of an ellipsis, which NumPy refuses as well")
    return xp.einsum(subscripts, *arrays)


def of_real(function: Call) -> Call:
    def call(x: Any, *others: Any) -> Any:
        if x.is_complex():
            raise LeftOutError("complex numbers")
        return function(x, *others)

    return call
