"""Products of vectors, powers of matrices, and diagonals."""

from __future__ import annotations

import operator
from typing import Any

from numpy.typing import DTypeLike

from xpops.api.elementwise.arithmetic import multiply, subtract
from xpops.api.elementwise.signs import positive
from xpops.api.fusion import plan_expression
from xpops.api.linalg.solutions import inv
from xpops.api.linear_algebra import matmul
from xpops.api.manipulation.shapes import expand_dims
from xpops.api.signatures import array_function, binary_function
from xpops.api.statistics.sums import sum
from xpops.arrays.tensors import array_layout
from xpops.arrays.viewing import Step, view
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.core.promotion import promote
from xpops.dispatch import linalg
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.matrices import require_matrices
from xpops.dispatch.primitives import call, unary
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import products as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides import views
from xpops.plan.strides.broadcast import broadcast_shapes

__all__ = ["cross", "diagonal", "matrix_power", "outer", "trace"]


@binary_function
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross products of vectors of three elements.

    Parameters
    ----------
    x1, x2 : array
        Numeric, of length 3 along `axis`; the other axes broadcast.
    axis : int
        Negative: counts from the end of each operand.

    Returns
    -------
    array
        Of the promoted dtype.

    Raises
    ------
    TypeError
        If a dtype is not numeric, or the dtypes have none in common.
    ValueError
        If `axis` is not negative or has another length than 3, or the other axes do not broadcast.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
    Array([0, 0, 1], dtype=int64, device='cpu')
    """
    return call(_plan_cross, "cross", ("x1", "x2"), (x1, x2), axis)


@differentiable(derivative.cross_first, derivative.cross_second)
def _plan_cross(engine: Engine, specs: tuple[Operand, ...], axis: Any) -> Program:
    """The program that reads three parts of each operand, and writes three parts of the result."""
    given = tuple(require_array(spec, "cross", name) for spec, name in zip(specs, ("x1", "x2"), strict=True))
    for name, x in zip(("x1", "x2"), given, strict=True):
        found = views.axis_of(axis, x.ndim, "cross")
        if operator.index(axis) >= 0:
            raise ValueError(f"cross: axis is {axis}; accepted: negative ones")
        if x.shape[found] != 3:
            raise ValueError(f"cross: {name} has shape {x.shape}; accepted: length 3 along axis {axis}")
        if x.dtype not in dt.CATEGORIES["numeric"]:
            raise TypeError(f"cross: {name} has dtype {x.dtype}; accepted: numeric dtypes")
    shape = broadcast_shapes(*(x.shape for x in given))
    out = layout_of(promote([x.dtype for x in given], "cross"), shape, None, given[0].device)
    if out.size == 0:
        return Program((out,), lambda stream, *data: None)
    sources, targets = [_thirds(x, operator.index(axis)) for x in given], _thirds(out, operator.index(axis))
    parts = tuple(part for thirds in sources for _, part in thirds)
    product = plan_expression(engine, "cross", _cross_of_parts, parts, tuple(part for _, part in targets)).kernel
    places = [(place, *each) for place, thirds in enumerate((targets, *sources)) for each in thirds]

    def kernel(stream: int, *data: Data) -> None:
        product(stream, *[engine.view(data[place], offset, part) for place, offset, part in places])

    return Program((out,), kernel)


def _thirds(x: Layout, axis: int) -> list[tuple[int, Layout]]:
    """The offsets and layouts of the three parts of an array along an axis, which is counted from the end."""
    found = []
    for place in range(3):
        region = views.index(x, (..., place, *(slice(None),) * (-axis - 1)))
        align = min(x.align, alignment(region.offset * x.dtype.itemsize))
        found.append((region.offset, layout_of(x.dtype, region.shape, region.strides, x.device, align)))
    return found


def _cross_of_parts(*parts: Any) -> tuple[Any, ...]:
    a, b = parts[:3], parts[3:]
    pairs = ((1, 2), (2, 0), (0, 1))
    return tuple(subtract(multiply(a[i], b[j]), multiply(a[j], b[i])) for i, j in pairs)


@array_function
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of matrices.

    Parameters
    ----------
    x : array
        Of shape ``(..., M, N)``.
    offset : int
        0 is the main diagonal. Positive offsets are above it, negative ones below.

    Returns
    -------
    array
        A view of shape ``(..., K)``. K is 0 if there is no such diagonal.

    Raises
    ------
    TypeError
        If `offset` is not an integer.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> xp.linalg.diagonal(xp.asarray([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int64, device='cpu')
    """
    return view(_plan_diagonal, "diagonal", x, offset)


def _plan_diagonal(shape: tuple[int, ...], offset: Any) -> Step:
    if len(shape) < 2:
        raise ValueError(f"diagonal: x has shape {shape}; accepted: two axes or more")
    try:
        return Step("diagonal", operator.index(offset))
    except TypeError:
        raise TypeError(f"diagonal: offset is {offset!r}; accepted: an integer") from None


@array_function
def matrix_power(x: Any, n: int, /) -> Any:
    """Integer powers of square matrices.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``.
    n : int
        The exponent. A negative one means a power of the inverse, which waits for the device.

    Returns
    -------
    array
        Has the shape and dtype of `x`; identity matrices if `n` is 0.

    Raises
    ------
    TypeError
        If `x` has another dtype, or `n` is not an integer.
    ValueError
        If `x` has another shape.
    LinAlgError
        If `n` is negative and a matrix is singular.

    Examples
    --------
    >>> xp.linalg.matrix_power(xp.asarray([[1.0, 1.0], [0.0, 1.0]]), 5)
    Array([[1., 5.],
           [0., 1.]], dtype=float64, device='cpu')
    """
    try:
        times = operator.index(n)
    except TypeError:
        raise TypeError(f"matrix_power: n is {n!r}; accepted: an integer") from None
    given = array_layout(x, "matrix_power", "x")
    if isinstance(given, Layout):  # of traced arrays, the products check the shapes
        require_matrices(given, "matrix_power")
    if times == 0:
        return unary(linalg.identity, "matrix_power", x, "matrix_power")
    if times == 1:
        return positive(x)
    square, times = (inv(x), -times) if times < 0 else (x, times)
    result = None
    while True:
        if times & 1:
            result = square if result is None else matmul(result, square)
        times >>= 1
        if not times:
            return result
        square = matmul(square, square)


@binary_function
def outer(x1: Any, x2: Any, /) -> Any:
    """The products of each element of one vector with each element of another.

    Parameters
    ----------
    x1, x2 : array
        Numeric, with one axis, of N and M elements.

    Returns
    -------
    array
        Of the promoted dtype and of shape ``(N, M)``.

    Raises
    ------
    TypeError
        If a dtype is not numeric, or the dtypes have none in common.
    ValueError
        If an operand does not have exactly one axis.

    Examples
    --------
    >>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int64, device='cpu')
    """
    for name, x in (("x1", x1), ("x2", x2)):
        given = array_layout(x, "outer", name)
        if given.ndim != 1:
            raise ValueError(f"outer: {name} has shape {given.shape}; accepted: one axis")
    return multiply(expand_dims(x1, axis=1), x2)


@array_function
def trace(x: Any, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Any:
    """The sums of the diagonals of matrices.

    Parameters
    ----------
    x : array
        Numeric, of shape ``(..., M, N)``.
    offset : int
        As for `diagonal`.
    dtype : numpy.dtype, optional
        As for `sum`.

    Returns
    -------
    array
        Of shape ``(...)``.

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `offset` is not an integer.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]))
    Array(5, dtype=int64, device='cpu')
    """
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)
