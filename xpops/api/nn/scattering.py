"""Functions that reduce elements into places of an array that indices select."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.signatures import binary_function, ternary_function
from xpops.dispatch.primitives import call
from xpops.dispatch.scattering import scatter_elements, scatter_rows, scatter_slices

__all__ = ["embedding_backward", "index_add", "scatter_add", "scatter_reduce"]

_NAMES = ("x", "index", "source")
_REDUCTIONS = ("sum", "prod", "min", "max", "mean")


@ternary_function
def scatter_add(x: Any, index: Any, source: Any, /, *, axis: int = 0, deterministic: bool = True) -> Any:
    """Add each element of `source` to a place in a copy of `x`. Its index gives the place along an axis.

    Parameters
    ----------
    x : array
        Real-valued. Has one axis or more.
    index : array
        Integers. Has as many axes as `x`. It is not longer than `source` along any axis, nor than `x` along any axis
        but `axis`. An index out of range (negative ones, too) raises IndexError: on the CPU at once, on a GPU when the
        host next reads from it, or at once with ``XPOPS_DEBUG=1``. The GPU skips its element.
    source : array
        Has the dtype of `x`. Elements outside the shape of `index` are not used.
    axis : int
    deterministic : bool
        Whether floating-point elements are added in the same order on every run. A GPU sorts the places for this, and
        adds float16 and bfloat16 in float32. If False, a GPU may add in any order, float32 subnormals may become 0, and
        float16 and bfloat16 may be rounded at every addition.

    Returns
    -------
    array
        Of the shape and dtype of `x`: ``result[index[i, j], j] += source[i, j]``, for two axes and the first of them,
        as ``torch.scatter_add`` does it.

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If a shape is not accepted, or arrays are on different devices.
    IndexError
        If there is no such axis, or an index is out of range.

    Notes
    -----
    After PyTorch's FastAtomicAdd: float16 and bfloat16 are added in pairs or packs, or in a float32 copy.

    Examples
    --------
    >>> xp.nn.scatter_add(xp.zeros(3), xp.asarray([0, 2, 0]), xp.asarray([1.0, 2.0, 4.0]))
    Array([5., 0., 2.], dtype=float64, device='cpu')
    """
    return call(
        scatter_elements,
        "scatter_add",
        _NAMES,
        (x, index, source),
        "scatter_add",
        axis,
        "sum",
        True,
        bool(deterministic),
    )


@ternary_function
def index_add(x: Any, index: Any, source: Any, /, *, axis: int = 0, deterministic: bool = True) -> Any:
    """Add each slice of `source` to a slice of a copy of `x`. Its index gives the slice of `x`.

    Parameters
    ----------
    x : array
        Real-valued. Has one axis or more.
    index : array
        One-dimensional; as for `scatter_add`.
    source : array
        Has the dtype and the shape of `x`, except that its length along `axis` is that of `index`.
    axis : int
    deterministic : bool
        As for `scatter_add`.

    Returns
    -------
    array
        Of the shape and dtype of `x`: ``result[index[i], :] += source[i, :]``, as ``torch.index_add`` does it.

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If a shape is not accepted, or arrays are on different devices.
    IndexError
        If there is no such axis, or an index is out of range.

    Examples
    --------
    >>> xp.nn.index_add(xp.zeros((2, 2)), xp.asarray([1, 1]), xp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Array([[0., 0.],
           [4., 6.]], dtype=float64, device='cpu')
    """
    return call(scatter_slices, "index_add", _NAMES, (x, index, source), "index_add", axis, bool(deterministic))


@ternary_function
def scatter_reduce(
    x: Any,
    index: Any,
    source: Any,
    reduction: str,
    /,
    *,
    axis: int = 0,
    include_self: bool = True,
    deterministic: bool = True,
) -> Any:
    """Reduce each element of `source` into a place in a copy of `x`. Its index gives the place along an axis.

    Parameters
    ----------
    x, index, source : array
        As for `scatter_add`.
    reduction : {"sum", "prod", "min", "max", "mean"}
        "min" and "max" give NaN if there is one. "mean" of integers rounds down; its sum wraps in their dtype.
    axis : int
    include_self : bool
        Whether the elements of `x` take part. Elements without an index keep their values in either case.
    deterministic : bool
        As for `scatter_add`. It applies to "sum" with `include_self`; all others are deterministic.

    Returns
    -------
    array
        Has the shape and dtype of `x`. The values are those of ``torch.scatter_reduce``, with "amin" for "min".

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If a shape or `reduction` is not accepted, or arrays are on different devices.
    IndexError
        If there is no such axis, or an index is out of range.

    Examples
    --------
    >>> x, index, source = xp.asarray([1, 1]), xp.asarray([0, 0]), xp.asarray([4, 7])
    >>> xp.nn.scatter_reduce(x, index, source, "max")
    Array([7, 1], dtype=int64, device='cpu')
    >>> xp.nn.scatter_reduce(x, index, source, "mean", include_self=False)
    Array([5, 1], dtype=int64, device='cpu')
    """
    if reduction not in _REDUCTIONS:
        raise ValueError(f"scatter_reduce: reduction is {reduction!r}; accepted: {', '.join(map(repr, _REDUCTIONS))}")
    options = "scatter_reduce", axis, reduction, bool(include_self), bool(deterministic)
    return call(scatter_elements, "scatter_reduce", _NAMES, (x, index, source), *options)


@binary_function
def embedding_backward(
    grad: Any, index: Any, rows: int, /, *, padding_index: int | None = None, deterministic: bool = True
) -> Any:
    """The gradient of an embedding with respect to its table: for each row the sum of the gradients of its uses.

    Parameters
    ----------
    grad : array
        Real-valued, of shape (..., D): the gradient with respect to the result of the embedding.
    index : array
        Integers of shape (...): the rows that were looked up. Errors as for `scatter_add`.
    rows : int
        The number of rows of the table.
    padding_index : int, optional
        A row that gets no gradient. A negative one counts from the end.
    deterministic : bool
        As for `scatter_add`.

    Returns
    -------
    array
        Of shape (rows, D).

    Raises
    ------
    TypeError
        If a dtype is not accepted, or `rows` or `padding_index` is not an integer.
    ValueError
        If a shape is not accepted, `rows` is negative, or there is no row `padding_index`.
    IndexError
        If an index is out of range.

    Examples
    --------
    >>> xp.nn.embedding_backward(xp.ones((3, 2)), xp.asarray([2, 0, 2]), 3)
    Array([[1., 1.],
           [0., 0.],
           [2., 2.]], dtype=float64, device='cpu')
    """
    function = "embedding_backward"
    count = _integer(rows, "rows")
    if count < 0:
        raise ValueError(f"{function}: rows is {count}; accepted: 0 and more")
    padding = -1 if padding_index is None else _integer(padding_index, "padding_index")
    if padding_index is not None:
        if not -count <= padding < count:
            raise ValueError(f"{function}: padding_index is {padding}; accepted: {-count} to {count - 1}")
        padding %= count
    arrays = ("grad", "index"), (grad, index)
    return call(scatter_rows, function, *arrays, function, count, padding, bool(deterministic))


def _integer(value: Any, argument: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"embedding_backward: {argument} is {value!r}; accepted: an integer") from None
