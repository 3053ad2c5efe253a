"""Searching functions of the standard."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.signatures import array_function, choice_operator, scalar_function, tuple_function
from xpops.core.operands import Axes
from xpops.dispatch import elementwise, sorting
from xpops.dispatch.dense import plan_on_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call, unary
from xpops.dispatch.reductions import reduction
from xpops.engine.program import Guessing, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import OPERATORS as op
from xpops.ops.reduction import REDUCTIONS
from xpops.plan.signature import Operand

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]

_SIDES = {"left": False, "right": True}


@array_function
def argmax(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The positions of the greatest elements. The first of equal elements counts, or the first NaN.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int, optional
        By default the position in the flattened array, in C order.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis to reduce has no elements.

    Examples
    --------
    >>> xp.argmax(xp.asarray([[1, 5], [7, 3]]), axis=1)
    Array([1, 0], dtype=int64, device='cpu')
    """
    return unary(reduction, "argmax", x, REDUCTIONS["argmax"], _single_axis(axis, "argmax"), keepdims, None, 0.0)


@array_function
def argmin(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The positions of the least elements. The first of equal elements counts, or the first NaN.

    Parameters
    ----------
    x : array
        Real-valued.
    axis : int, optional
        By default the position in the flattened array, in C order.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis to reduce has no elements.

    Examples
    --------
    >>> xp.argmin(xp.asarray([[1, 5], [7, 3]]), axis=1)
    Array([0, 1], dtype=int64, device='cpu')
    """
    return unary(reduction, "argmin", x, REDUCTIONS["argmin"], _single_axis(axis, "argmin"), keepdims, None, 0.0)


@array_function
def count_nonzero(x: Any, /, *, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """The number of elements that are not 0.

    Parameters
    ----------
    x : array
        Any dtype but float8. NaN is not 0.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool
        Whether the result keeps the reduced axes, with length 1.

    Returns
    -------
    array
        int64.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> xp.count_nonzero(xp.asarray([[0, 2], [3, 4]]), axis=1)
    Array([1, 2], dtype=int64, device='cpu')
    """
    return unary(reduction, "count_nonzero", x, REDUCTIONS["count_nonzero"], axis, keepdims, None, 0.0)


@tuple_function
def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The indices of the elements that are not 0, in C order. Waits for the device.

    Parameters
    ----------
    x : array
        Has one axis or more, and any dtype. NaN is not 0.

    Returns
    -------
    tuple of array
        int64, one-dimensional: for each axis of `x` an array of the indices along it.

    Raises
    ------
    ValueError
        If `x` has no axes.

    Examples
    --------
    >>> xp.nonzero(xp.asarray([[0, 2], [3, 0]]))
    (Array([0, 1], dtype=int64, device='cpu'), Array([1, 0], dtype=int64, device='cpu'))
    """
    return _nonzero("nonzero", "x", x)


@scalar_function
def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The indices at which elements belong in a sorted array.

    Parameters
    ----------
    x1 : array
        One-dimensional, real-valued, in ascending order as `sort` makes it: NaN last.
    x2 : array or scalar
        Real-valued.
    side : {"left", "right"}
        "left": the index of the first element that is not less than the element of `x2`. "right": of the first that is
        greater. -0.0 equals 0.0, and NaN equals NaN.
    sorter : array, optional
        Integers that sort `x1`, as `argsort` returns them. An integer out of range raises IndexError on the CPU; a GPU
        uses the nearest valid one.

    Returns
    -------
    array
        int64, of the shape of `x2`.

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If `side` is unknown, `x1` does not have one axis, or `sorter` has another shape than `x1`.

    Examples
    --------
    >>> xp.searchsorted(xp.asarray([1, 3, 3, 5]), xp.asarray([3, 9]), side="right")
    Array([3, 4], dtype=int64, device='cpu')
    """
    if side not in _SIDES:
        raise ValueError(f"searchsorted: side is {side!r}; accepted: 'left', 'right'")
    names, arguments = ("x1", "x2", "sorter"), (x1, x2, sorter)
    given = 2 if sorter is None else 3
    return call(sorting.searchsorted, "searchsorted", names[:given], arguments[:given], _SIDES[side])


@choice_operator
def where(condition: Any, x1: Any = None, x2: Any = None, /, *, out: Any = None) -> Any:
    """The elements of `x1` where `condition` is True, and of `x2` elsewhere; or where `condition` is True.

    Parameters
    ----------
    condition : array
        bool. Without `x1` and `x2`, any dtype, and one axis or more.
    x1, x2 : array or scalar, optional
        Any dtype but float8. They broadcast with `condition`. Without both, the call is ``nonzero(condition)``, as in
        NumPy, and waits for the device. The standard requires both.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array or tuple of array
        The dtype that `x1` and `x2` promote to. Without them, a tuple of indices as `nonzero` returns it.

    Raises
    ------
    TypeError
        If `condition` is not boolean, `x1` and `x2` have no common dtype, one of them is missing, or `out` is given
        without them.
    ValueError
        If the operands do not broadcast, or are on different devices; or if only `condition` is given, without axes.

    Examples
    --------
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0)
    Array([1, 0], dtype=int64, device='cpu')
    >>> xp.where(xp.asarray([True, False, True]))
    (Array([0, 2], dtype=int64, device='cpu'),)
    """
    if x1 is not None and x2 is not None:
        return elementwise(op["where"], (condition, x1, x2), out)
    if x1 is None and x2 is None and out is None:
        return _nonzero("where", "condition", condition)
    given = ", ".join(name for name, each in (("x1", x1), ("x2", x2), ("out", out)) if each is not None)
    raise TypeError(f"where: condition and {given} are given; accepted: condition, x1 and x2, or condition alone")


def _nonzero(function: str, argument: str, x: Any) -> tuple[Any, ...]:
    """The result of `nonzero`, for a public function and its argument."""
    found = call(_plan_nonzero, function, (argument,), (x,), function, argument)
    return found if isinstance(found, tuple) else (found,)


@differentiable()
def _plan_nonzero(engine: Engine, specs: tuple[Operand, ...], function: str, argument: str) -> Program | Guessing:
    x = require_array(specs[0], function, argument)
    if x.ndim == 0:
        raise ValueError(f"{function}: {argument} has no axes; accepted: one or more")
    return plan_on_dense(engine, (x,), engine.nonzero)


def _single_axis(axis: Any, function: str) -> int | None:
    """`axis` as an integer, or None. TypeError if it is anything else, such as a tuple."""
    if axis is None or isinstance(axis, int):
        return axis
    try:
        return operator.index(axis)
    except TypeError:
        raise TypeError(f"{function}: axis is {axis!r}; accepted: an integer or None") from None
