"""The accuracy promised for reductions and scans on both devices; ``docs/accuracy.md`` has the table.

The error of a result is at most one unit in its last place, plus a share of its size. The size is the sum, mean or
product of the absolute values of what is combined; that of a variance or standard deviation is the result. Each
function below returns the share for a dtype and a number of elements.
"""

from __future__ import annotations

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

# Sums of more elements carry their rounding errors along (compensated summation). For fewer elements, the tree of
# additions loses no more than NumPy does.
MANY = 1024
_DOUBLE = (dt.float64, dt.complex128)


def share_of_sum(dtype: DType, count: int) -> float:
    """Sums in trees; the rounding errors of more than 1024 elements are added up, too."""
    if dtype in _DOUBLE:
        return 2.0**-45
    if dtype in dt.HALVES:
        return 2.0**-16
    return 2.0**-18 if count <= MANY else 2.0**-32


def share_of_deviations(dtype: DType, count: int) -> float:
    """Sums of squared deviations, if the mean is within 1000 standard deviations of the first element."""
    if dtype in _DOUBLE:
        return 2.0**-45
    return 2.0**-16 if dtype in dt.HALVES else 2.0**-18


def share_of_product(dtype: DType, count: int) -> float:
    """As a running product; more than 1024 factors of float32 are multiplied in float64."""
    return 2.0**-32 if count > MANY and dtype == dt.float32 else share_of_running_product(dtype, count)


def share_of_running_product(dtype: DType, count: int) -> float:
    """One rounding for each factor, in any order; that of a complex product is at most four real ones."""
    return count * (2.0**-51 if dtype in _DOUBLE else 2.0**-22)


def share_of_running_sum(dtype: DType, count: int) -> float:
    """One rounding of a product and one of a sum for each element, in any order."""
    return count * (2.0**-52 if dtype in _DOUBLE else 2.0**-23)
