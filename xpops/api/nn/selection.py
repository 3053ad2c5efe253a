"""Selecting elements by their order."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.signatures.results import TopK, topk_function
from xpops.dispatch import sorting
from xpops.dispatch.primitives import unary

__all__ = ["TopK", "topk"]


@topk_function
def topk(x: Any, k: int, *, axis: int = -1, largest: bool = True) -> TopK[Any]:
    """The `k` largest or smallest elements along an axis, in order, and their indices.

    Parameters
    ----------
    x : array
        Real-valued or bool.
    k : int
        From 0 to the length of the axis.
    axis : int
    largest : bool
        Whether to return the largest elements. NaN comes last in either case.

    Returns
    -------
    TopK
        `values` of the dtype of `x`, and `indices`, int64; `axis` has length `k`. Equal elements are in the order of
        their indices.

    Raises
    ------
    TypeError
        If `x` is complex or float8, or `k` is not an integer.
    IndexError
        If there is no such axis.
    ValueError
        If `k` is out of range.

    Examples
    --------
    >>> xp.nn.topk(xp.asarray([3.0, 9.0, 1.0, 9.0]), 2).indices
    Array([1, 3], dtype=int64, device='cpu')
    """
    try:
        count = operator.index(k)
    except TypeError:
        raise TypeError(f"topk: k is {k!r}; accepted: an integer") from None
    return TopK(*unary(sorting.sort, "topk", x, "topk", ("values", "indices"), axis, bool(largest), count))
