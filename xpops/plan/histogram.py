"""How many bins a histogram of integers has."""

from __future__ import annotations

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

# What no memory holds the bins of.
_TOO_LARGE = 2**40


def bins_for(largest: int, minlength: int, dtype: DType) -> int:
    """The bins for values up to `largest`.

    Parameters
    ----------
    largest : int
        As an unsigned 64-bit integer, so that a negative value is above all others; -1 where there are no values.
    minlength : int
    dtype : numpy.dtype
        The values'.

    Raises
    ------
    ValueError
        If a value is negative, or has no bin in any memory.

    Examples
    --------
    >>> bins_for(7, 0, dt.int32), bins_for(7, 10, dt.int32)
    (8, 10)
    """
    if dtype in dt.SIGNED_INTEGERS and largest >= 2**63:
        raise ValueError("bincount: x holds a negative value; accepted: 0 and more")
    if largest >= _TOO_LARGE:
        raise ValueError(f"bincount: x holds {largest}; accepted: values below {_TOO_LARGE}, a bin for each")
    return max(largest + 1, minlength)
