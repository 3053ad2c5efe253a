"""Identity matrices and triangles of matrices."""

from __future__ import annotations

import operator
from typing import Any

from numpy.typing import DTypeLike

from xpops.api.creation.conversion import cast
from xpops.api.creation.ranges import arange
from xpops.api.devices import device_or_default
from xpops.api.foreign import keeps_framework
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import as_dtype
from xpops.dispatch import binary, elementwise
from xpops.ops.elementwise import OPERATORS
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
    (rows,) = views.shape_of(n_rows, "eye", "n_rows")
    (columns,) = (rows,) if n_cols is None else views.shape_of(n_cols, "eye", "n_cols")
    found = dt.DEFAULT_FLOAT if dtype is None else as_dtype(dtype, "eye")
    on_diagonal = _compare_diagonals("equal", rows, columns, k, device_or_default(device, "eye"), "eye")
    return cast(on_diagonal, found, "eye")


@keeps_framework
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
        Has the shape and dtype of `x`.

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
    return _keep_triangle("greater_equal", x, k, "tril")


@keeps_framework
def triu(x: Array, /, *, k: Any = 0) -> Array:
    """A stack of matrices with zeros below a diagonal; the parameters are those of `tril`.

    Examples
    --------
    >>> xp.triu(xp.ones((2, 3), dtype=xp.int8))
    Array([[1, 1, 1],
           [0, 1, 1]], dtype=int8, device='cpu')
    """
    return _keep_triangle("less_equal", x, k, "triu")


def _compare_diagonals(comparison: str, rows: int, columns: int, k: Any, device: Device, function: str) -> Array:
    """A boolean matrix: the comparison of ``row + k`` with the column."""
    try:
        shift = min(max(operator.index(k), -rows), columns)
    except TypeError:
        raise TypeError(f"{function}: k is {k!r}; accepted: an integer") from None
    down = arange(shift, rows + shift, device=device)[:, None]
    matrix: Array = binary(OPERATORS[comparison], down, arange(columns, device=device))
    return matrix


def _keep_triangle(comparison: str, x: Array, k: Any, function: str) -> Array:
    if x.ndim < 2:
        raise ValueError(f"{function}: x has shape {x.shape}; accepted: two axes or more")
    mask = _compare_diagonals(comparison, x.shape[-2], x.shape[-1], k, x.device, function)
    kept: Array = elementwise(OPERATORS["where"], (mask, x, False))
    return kept
