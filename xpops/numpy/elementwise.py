"""NumPy's ufuncs: functions of elements with `out` by position, `where` and `dtype`, for lists and scalars, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api.data_types import astype
from xpops.api.elementwise.comparison import not_equal
from xpops.api.searching import where as _where
from xpops.core import dtypes as dt
from xpops.numpy.arguments import arrays_of, dtype_of, given, is_scalar, store


def ufunc(
    name: str, function: Callable[..., Any], count: int = 1, booleans: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A function of `count` operands with the signature of a NumPy ufunc.

    Parameters
    ----------
    function : callable
        Takes arrays of any framework and scalars, at least one array.
    booleans : callable, optional
        The same for operands that are all bool, if `function` refuses them.
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
        if dtype is not None:
            arrays = [x if is_scalar(x) else astype(x, dtype, copy=False) for x in arrays]
        chosen = booleans if booleans is not None and all(map(is_boolean, arrays)) else function
        found = chosen(*arrays)
        if where is not True:
            found = _where(given(where), found, out[0] if isinstance(out, tuple) else out)
        return store(found, out, name)

    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = f"As `numpy.{name}`; `out` may be positional, and `dtype` converts the operands first."
    return call


def is_boolean(x: Any) -> bool:
    """Whether an array or a scalar is bool."""
    return isinstance(x, bool) if is_scalar(x) else bool(dtype_of(x) == dt.bool)


def truth(x: Any) -> Any:
    """Whether the elements of an array are not 0."""
    x = given(x)
    return x if is_boolean(x) else not_equal(x, 0)
