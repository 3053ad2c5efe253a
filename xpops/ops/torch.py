"""What torch computes as rows do. These are facts about torch's functions on the host; torch is not imported."""

from __future__ import annotations

from typing import Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

_NONE: frozenset[DType] = frozenset()
BOOL: frozenset[DType] = frozenset((dt.bool,))
# Torch has few functions of the other unsigned integers.
INTEGERS: frozenset[DType] = frozenset((*dt.SIGNED_INTEGERS, dt.uint8))
HALVES: frozenset[DType] = frozenset(dt.HALVES)
NARROW = HALVES | {dt.float32}
FLOATS: frozenset[DType] = frozenset(dt.REAL_FLOATS)
COMPLEX: frozenset[DType] = frozenset(dt.COMPLEX_FLOATS)
REAL = INTEGERS | FLOATS
BITS, REAL_VALUED = dt.CATEGORIES["integer or boolean"], dt.CATEGORIES["real-valued"]
ARITHMETIC = dt.CATEGORIES["arithmetic"]


class TorchFunction(NamedTuple):
    """A function of tensors in the host's memory that computes what a row does, as accurately.

    Attributes
    ----------
    name : str
        The function in the module `torch`, or in `xpops.frameworks.torch_functions`. It takes the operands and `out`.
    dtypes : frozenset of numpy.dtype
        The dtypes of operands for which it computes what the row does. The sign of a zero may differ only where that of
        NumPy depends on the layout: the larger and the smaller of 0.0 and -0.0.
    wide : frozenset of numpy.dtype
        The dtypes for which it does so if it computes in float64.
    arguments : tuple
        Arguments that follow the operands.
    """

    name: str
    dtypes: frozenset[DType] = _NONE
    wide: frozenset[DType] = _NONE
    arguments: tuple[Any, ...] = ()


def casts_alike(source: DType, target: DType) -> bool:
    """Whether torch converts numbers of `source` to `target` as xpops does.

    Torch rounds wide numbers to float32 before it rounds them to 16 or 8 bits, and saturates float8_e4m3fn. Beyond the
    range of integers its results depend on the layout.

    Examples
    --------
    >>> casts_alike(dt.float32, dt.float16), casts_alike(dt.float64, dt.float16)
    (True, False)
    """
    if source == target:
        return True
    if target == dt.float8_e4m3fn or source in dt.FLOAT8:
        return False
    if target in HALVES or target == dt.float8_e5m2:
        return source not in _WIDER_THAN_FLOAT32
    return target not in dt.UNSIGNED_INTEGERS or source in BITS


# float32 does not hold all numbers of these.
_WIDER_THAN_FLOAT32 = frozenset((dt.int32, dt.int64, dt.uint32, dt.uint64, dt.float64))
