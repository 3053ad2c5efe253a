"""Checks of the parameters of a generator's methods."""

from __future__ import annotations

import math
import operator
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.ops.random import Law


def dtype_of(law: Law, dtype: DTypeLike | None, function: str) -> DType:
    """`dtype` after a check that the law accepts it, or the default dtype of the law."""
    default = {"boolean": dt.bool, "integer": dt.DEFAULT_INTEGER}.get(law.makes, dt.DEFAULT_FLOAT)
    found = default if dtype is None else as_dtype(dtype, function)
    if found not in dt.CATEGORIES[law.makes]:
        names = ", ".join(each.name for each in dt.INFO if each in dt.CATEGORIES[law.makes])
        raise TypeError(f"{function}: dtype is {found}; accepted: {names}")
    return found


def real_number(
    value: Any, function: str, argument: str, lowest: float = -math.inf, highest: float = math.inf
) -> float:
    """`value` as a float, after a check that it is a finite real scalar in a range."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, (int, float)):
        raise TypeError(f"{function}: {argument} is {value!r}; accepted: a real scalar")
    if not math.isfinite(plain) or not lowest <= plain <= highest:
        accepted = "finite numbers"
        if math.isfinite(lowest):
            accepted = f"{lowest} to {highest}" if math.isfinite(highest) else f"{accepted} from {lowest} on"
        raise ValueError(f"{function}: {argument} is {value!r}; accepted: {accepted}")
    return float(plain)


def require_finite(dtype: DType, function: str, **values: float) -> None:
    """Refuse parameters that are infinite in a dtype.

    Raises
    ------
    ValueError
    """
    most = _largest(dtype)
    for argument, value in values.items():
        if not abs(value) <= most:
            raise ValueError(f"{function}: {argument} is {value}; accepted for dtype {dtype}: up to {most}")


@cache
def _largest(dtype: DType) -> float:
    return float(ml_dtypes.finfo(dtype).max)


def integer_range(low: Any, high: Any, endpoint: bool, dtype: DType) -> tuple[int, int]:
    """The first integer of a range, and the number of integers.

    Raises
    ------
    TypeError
        If a bound is not an integer.
    ValueError
        If the range has no integer.
    OverflowError
        If `dtype` cannot hold all of them.
    """
    if high is None:
        low, high = 0, low
    bounds = []
    for argument, value in (("low", low), ("high", high)):
        try:
            bounds.append(operator.index(value))
        except TypeError:
            raise TypeError(f"integers: {argument} is {value!r}; accepted: an integer") from None
    first, last = bounds[0], bounds[1] if endpoint else bounds[1] - 1
    if last < first:
        end = "]" if endpoint else ")"
        raise ValueError(f"integers: the range [{bounds[0]}, {bounds[1]}{end} is empty; accepted: at least one integer")
    held = np.iinfo(dtype)
    if first < held.min or last > held.max:
        raise OverflowError(
            f"integers: the range is {first} to {last}, which {dtype} cannot hold; accepted: {held.min} to {held.max}"
        )
    return first, last - first + 1
