"""Whether a result may be written where an operand lies."""

from __future__ import annotations

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


def unsafe_overlap(out: Layout, out_address: int, operand: Layout, address: int) -> bool:
    """Whether writing `out` could change elements of `operand` before they are read.

    The same elements at the same addresses are safe: each is read before it is written. Judged by the ranges of bytes,
    so it may be True for arrays that interleave.
    """
    low, high = extent(out)
    other_low, other_high = extent(operand)
    if out_address + high <= address + other_low or address + other_high <= out_address + low:
        return False
    same = (
        address == out_address
        and operand.dtype.itemsize == out.dtype.itemsize
        and broadcast_strides(operand.shape, operand.strides, out.shape) == out.strides
    )
    return not same
