"""The limits of dtypes."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """The limits of a real floating-point dtype, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def float_info(dtype: DType) -> FloatInfo:
    """The limits of a real floating-point dtype, for `finfo`."""
    if dtype not in (*dt.REAL_FLOATS, *dt.FLOAT8):
        raise TypeError(f"finfo: type has dtype {dtype}; accepted: floating-point dtypes")
    info = ml_dtypes.finfo(dtype)
    eps, high, low, normal = (float(value) for value in (info.eps, info.max, info.min, info.smallest_normal))
    return FloatInfo(info.bits, eps, high, low, normal, dtype)


def integer_info(dtype: DType) -> IntegerInfo:
    """The limits of an integer dtype, for `iinfo`."""
    if dtype not in dt.CATEGORIES["integer"]:
        raise TypeError(f"iinfo: type has dtype {dtype}; accepted: integer dtypes")
    info = np.iinfo(dtype)
    return IntegerInfo(info.bits, int(info.max), int(info.min), dtype)
