"""Identity matrices and triangles of matrices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, SupportsIndex

from numpy.typing import DTypeLike

from xpops.api.creation.filling import layout_of_new
from xpops.api.creation.remembered import known_new, make_new, way_of_new
from xpops.arrays import Array
from xpops.core.layouts import MAX_ALIGNMENT, Layout, alignment, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call
from xpops.engine import engine_of
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import movement as derivative
from xpops.ops.elementwise import IDENTITY
from xpops.plan.result import dense_like
from xpops.plan.signature import Operand
from xpops.plan.strides import views

__all__ = ["eye", "tril", "triu"]


def eye(
    n_rows: Any, n_cols: Any = None, /, *, k: Any = 0, dtype: DTypeLike | None = None, device: str | None = None
) -> Array:
    """A matrix of zeros with ones on a diagonal.

    Parameters
    ----------
    n_rows, n_cols : int
        The lengths. `n_cols` is by default `n_rows`.
    k : int
        The diagonal: above the main one if positive, below it if negative.
    dtype : numpy.dtype, optional
        By default float64.
    device : Device or str, optional

    Returns
    -------
    Array
        Has shape ``(n_rows, n_cols)``.

    Raises
    ------
    ValueError, TypeError
        If a length is negative, or an argument is not an integer.

    Examples
    --------
    >>> xp.eye(2, 3, k=1, dtype=xp.int8)
    Array([[0, 1, 0],
           [0, 0, 1]], dtype=int8, device='cpu')
    """
    way = way_of_new(eye, (n_rows, n_cols, k), (dtype,), device)
    known = known_new(way)
    if known is not None:
        return known
    (rows,) = map(int, views.shape_of(n_rows, "eye", "n_rows"))
    (columns,) = (rows,) if n_cols is None else map(int, views.shape_of(n_cols, "eye", "n_cols"))
    diagonal = _index(k, "eye")
    out = layout_of_new((rows, columns), dtype, device, "eye")
    return make_new(way, out, _fill_eye(out, max(-diagonal, 0), max(diagonal, 0)))


def _fill_eye(out: Layout, row: int, column: int) -> Callable[[int, Data], None]:
    """The kernel of zeros, with ones on the diagonal that begins in a row and a column."""
    (rows, columns), engine = out.shape, engine_of(out.device)
    length, offset = min(rows - row, columns - column), row * columns + column
    align = alignment(offset * out.dtype.itemsize)
    part = layout_of(out.dtype, (max(length, 0),), (columns + 1,), out.device, align)
    fill, fill_part = (call_for(IDENTITY, (bool,), out.device, out.dtype, each).kernel for each in (out, part))

    def kernel(stream: int, out: Data) -> None:
        fill(stream, out, False)
        if length > 0:
            fill_part(stream, engine.view(out, offset, part), True)

    return kernel


def tril(x: Array, /, *, k: Any = 0) -> Array:
    """A stack of matrices with zeros above a diagonal.

    Parameters
    ----------
    x : array
        Has two axes or more.
    k : int
        The diagonal: above the main one if positive, below it if negative.

    Returns
    -------
    array
        Has the shape, the dtype and, if matrices are dense, the order of `x`: that of a transposed array is transposed.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> xp.tril(xp.ones((2, 3), dtype=xp.int8))
    Array([[1, 0, 0],
           [1, 1, 0]], dtype=int8, device='cpu')
    """
    triangle: Array = call(_plan_band, "tril", ("x",), (x,), None, _index(k, "tril"))
    return triangle


def triu(x: Array, /, *, k: Any = 0) -> Array:
    """A stack of matrices with zeros below a diagonal; the parameters are those of `tril`.

    Examples
    --------
    >>> xp.triu(xp.ones((2, 3), dtype=xp.int8))
    Array([[1, 1, 1],
           [0, 1, 1]], dtype=int8, device='cpu')
    """
    triangle: Array = call(_plan_band, "triu", ("x",), (x,), _index(k, "triu"), None)
    return triangle


def _index(k: SupportsIndex, function: str) -> int:
    try:
        return operator.index(k)
    except TypeError:
        raise TypeError(f"{function}: k is {k!r}; accepted: an integer") from None


@differentiable(derivative.band)
def _plan_band(engine: Engine, specs: tuple[Operand, ...], low: int | None, high: int | None) -> Program:
    """The diagonals of matrices from `low` to `high`, with zeros elsewhere. None: from the first, or to the last."""
    function = "tril" if low is None else "triu"
    x = require_array(specs[0], function, "x")
    if x.ndim < 2:
        raise ValueError(f"{function}: x has shape {x.shape}; accepted: two axes or more")
    if not x.size:
        return Program((layout_of(x.dtype, x.shape, None, x.device),), lambda stream, *data: None)
    rows, columns = x.shape[-2:]
    band = (
        min(max(bound, -rows), columns) for bound in (-rows if low is None else low, columns if high is None else high)
    )
    return _band(engine, x, *band)


def _band(engine: Engine, x: Layout, first: int, last: int) -> Program:
    """Diagonals of `x`, which is not empty, in its order of axes if they are dense matrices so; else in C order."""
    strides = dense_like(x.shape, x.strides)
    *batch, row, column = range(x.ndim)
    batch.sort(key=lambda axis: -strides[axis])
    order = (*batch, column, row) if strides[row] < strides[column] else (*batch, row, column)
    seen, made = (
        layout_of(x.dtype, tuple(x.shape[axis] for axis in order), tuple(each[axis] for axis in order), x.device, align)
        for each, align in ((x.strides, x.align), (strides, MAX_ALIGNMENT))
    )
    zero = bytes(x.dtype.itemsize)
    if order == tuple(range(x.ndim)) or not made.contiguous:
        out = layout_of(x.dtype, x.shape, None, x.device)
        return Program((out,), engine.window(x, (0,) * x.ndim, out, zero, (first, last)))
    band = (-last, -first) if order[-1] == row else (first, last)
    copy = engine.window(seen, (0,) * x.ndim, made, zero, band)

    def kernel(stream: int, out: Data, x: Data) -> None:
        copy(stream, engine.view(out, 0, made), engine.view(x, 0, seen))

    return Program((layout_of(x.dtype, x.shape, strides, x.device),), kernel)
