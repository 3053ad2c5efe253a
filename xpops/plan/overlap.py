"""Whether a result may be written where an operand lies."""

from __future__ import annotations

from collections.abc import Callable

from xpops.core.layouts import Layout, extent
from xpops.plan.broadcast import broadcast_strides


def overlaps_itself(layout: Layout) -> bool:
    """Whether two elements may share memory. Errs on the side of True for layouts that interleave axes."""
    reach = 0
    axes = sorted(
        (abs(stride), length) for stride, length in zip(layout.strides, layout.shape, strict=True) if length > 1
    )
    for stride, length in axes:
        if layout.size and stride <= reach:
            return True
        reach += stride * (length - 1)
    return False


def overlap_check(out: Layout, operand: Layout) -> Callable[[int, int], bool]:
    """A function of the addresses of `out` and an operand: whether every element is read before it is written over.

    So it is where their bytes are apart, and where they are the same elements at the same addresses. Judged by the
    ranges of bytes, so it may be False for arrays that interleave.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import CPU
    >>> from xpops.core.layouts import layout_of
    >>> x = layout_of(dt.int8, (8,), None, CPU)
    >>> safe = overlap_check(x, x)
    >>> safe(1000, 1000), safe(1000, 1004), safe(1000, 1008)
    (True, False, True)
    """
    low, high = extent(out)
    other_low, other_high = extent(operand)
    below, above = high - other_low, low - other_high
    same = (
        operand.dtype.itemsize == out.dtype.itemsize
        and broadcast_strides(operand.shape, operand.strides, out.shape) == out.strides
    )

    def safe(out_address: int, address: int) -> bool:
        apart = address - out_address
        return apart >= below or apart <= above or (same and apart == 0)

    return safe
