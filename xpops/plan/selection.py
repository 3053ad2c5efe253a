"""The operands of selections: checks, and which are read where they are."""

from __future__ import annotations

from xpops.core.layouts import Layout


def require_count(count: int, rows: int) -> None:
    """Require one value to assign for each place that a mask selects.

    Raises
    ------
    ValueError
    """
    if count != rows:
        raise ValueError(f"__setitem__: the mask selects {count}, but value has {rows} along its first axis")


def reads_in_order(x: Layout, mask: Layout) -> bool:
    """Whether a selection of single elements reads `x` nearly in the order of its memory.

    Otherwise it is faster to copy `x` first.
    """
    strides = [abs(stride) for stride, length in zip(x.strides, x.shape, strict=True) if length > 1]
    is_single = x.size == mask.size and x.align >= x.dtype.itemsize
    return is_single and (not strides or strides[-1] == min(strides))
