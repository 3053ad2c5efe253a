"""Reducing into the places of an array that indices name."""

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
    """An array with elements of another added to the places that an index for each of them names along an axis.

    Parameters
    ----------
    x : array
        Real-valued. Has one axis or more.
    index : array
        Integers from 0 on. Has as many axes as `x`, and is no longer than `source` along any of them, and than `x`
        along any but `axis`. One that is out of range (negative ones are) raises IndexError: at once on the CPU; on a
        GPU, which leaves it out, when the host next reads from it, or at once with ``XPOPS_DEBUG=1``.
    source : array
        Has the dtype of `x`. What lies beyond `index` is not used.
    axis : int
    deterministic : bool
        Whether floating-point elements are added in an order that is the same on every run, for which a GPU sorts the
        places, and in float32 where they are float16 or bfloat16. If not, it may add them as threads arrive: float32
        results below the normal numbers may become 0 then, and float16 and bfloat16 may be rounded at every addition.

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
        If a shape is not, or arrays are on different devices.
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
    """An array with slices of another added to the slices that an index for each of them names.

    Parameters
    ----------
    x : array
        Real-valued. Has one axis or more.
    index : array
        One-dimensional; as for `scatter_add`.
    source : array
        Has the dtype and the shape of `x`, but along `axis` the length of `index`.
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
        If a shape is not, or arrays are on different devices.
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
    """An array reduced with elements of another at the places that an index for each of them names along an axis.

    Parameters
    ----------
    x, index, source : array
        As for `scatter_add`.
    reduction : {"sum", "prod", "min", "max", "mean"}
        With "min" and "max" NaN wins, and "mean" of integers is rounded down, of a sum that wraps in their dtype.
    axis : int
    include_self : bool
        Whether the elements of `x` are reduced, too. Those that no index names stay either way.
    deterministic : bool
        As for `scatter_add`; of the others all are.

    Returns
    -------
    array
        Of the shape and dtype of `x`, as of ``torch.scatter_reduce`` (whose names are amin and amax).

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If a shape or `reduction` is not, or arrays are on different devices.
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
    """The gradient of looking rows up in a table, by that table: for each row the sum over all that came from it.

    Parameters
    ----------
    grad : array
        Real-valued, of shape (..., D): the gradient by the rows that were found.
    index : array
        Integers of shape (...): which rows these were; as for `scatter_add`.
    rows : int
        Of the table.
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
        If a dtype is not accepted, or `rows` or `padding_index` is no integer.
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
