"""NumPy's ufuncs: functions of elements with `out` by position, `where` and `dtype`, for lists and scalars, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, wraps
from typing import Any

from xpops.api.elementwise.comparison import not_equal
from xpops.api.fusion import fuse
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.dispatch import elementwise
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.numpy.arguments import arrays_of, dtype_of, given, is_scalar, store, with_dtype
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator


def of_row(name: str) -> Callable[..., Any]:
    """The function of operands that an operator's row describes."""
    return partial(_compute, OPERATORS[name])


def _compute(op: Operator, *operands: Any) -> Any:
    return elementwise(op, operands)


def ufunc(
    name: str,
    function: Callable[..., Any],
    count: int = 1,
    booleans: Callable[..., Any] | None = None,
    *,
    converted: int = 2,
) -> Callable[..., Any]:
    """A function of `count` operands with the signature of a NumPy ufunc.

    Parameters
    ----------
    function : callable
        Takes arrays of any framework and scalars, at least one array.
    booleans : callable, optional
        The same for operands that are all bool, if `function` refuses them.
    converted : int
        How many operands `dtype` converts, in the same kernel.
    """

    def call(*operands: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
        if len(operands) > count and out is None:
            operands, out = operands[:count], operands[count:] if len(operands) > count + 1 else operands[count]
        if len(operands) != count:
            raise TypeError(f"{name}: there are {len(operands)} operands; accepted: {count}, and out")
        if where is not True and out is None:
            raise TypeError(f"{name}: where without out leaves elements undefined; accepted: where with out")
        arrays = arrays_of(operands)
        if all(map(is_scalar, arrays)):
            arrays[0] = given(arrays[0])
        compute = choose if dtype is None else _converting(choose, dt.as_dtype(dtype, name), converted)
        return store(compute(*arrays), out, name, where)

    def choose(*arrays: Any) -> Any:
        return (booleans if booleans is not None and all(map(is_boolean, arrays)) else function)(*arrays)

    choose.__name__ = call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = f"As `numpy.{name}`; `out` may be positional, and `dtype` converts the operands first."
    return call


@lru_cache(maxsize=1024)
def _converting(function: Callable[..., Any], dtype: DType, count: int) -> Callable[..., Any]:
    """A function that converts the first `count` operands, if they are arrays, to a dtype; it is one kernel."""

    @fuse
    @wraps(function)
    def convert_and_compute(*operands: Any) -> Any:
        return function(*with_dtype(operands[:count], dtype), *operands[count:])

    return convert_and_compute


def is_boolean(x: Any) -> bool:
    """Whether an array or a scalar is bool."""
    if isinstance(x, TracedScalar):
        return x.kind is bool
    return isinstance(x, bool) if is_scalar(x) else bool(dtype_of(x) == dt.bool)


def truth(x: Any) -> Any:
    """Whether the elements of an array are not 0."""
    x = given(x)
    return x if is_boolean(x) else not_equal(x, 0)
