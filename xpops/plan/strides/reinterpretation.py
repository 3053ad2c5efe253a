"""The bytes of an array as elements of another dtype."""

from __future__ import annotations

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of


def reinterpret(layout: Layout, dtype: DType) -> Layout:
    """The layout of the same bytes in another dtype. If its elements are of another size, the last axis changes.

    Raises
    ------
    ValueError
        If `dtype` has another size, and the array is 0-d, its last axis is not contiguous, or the bytes of this axis or
        of another stride are no multiple of an element.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> reinterpret(layout_of(np.dtype("int32"), (2, 4), None, CPU), np.dtype("int64")).shape
    (2, 2)
    """
    old, new = layout.dtype.itemsize, dtype.itemsize
    shape, strides = layout.shape, layout.strides
    if old != new:
        if not shape:
            raise ValueError(f"view: a 0-d array of {old} bytes has no view as {dtype}; accepted: dtypes of this size")
        if layout.size and shape[-1] != 1 and strides[-1] != 1:
            raise ValueError(
                f"view: the last axis has stride {strides[-1]}; accepted for a dtype of another size: contiguous rows"
            )
        if shape[-1] * old % new:
            raise ValueError(f"view: rows of {shape[-1] * old} bytes; accepted for {dtype}: multiples of {new} bytes")
        if any(stride * old % new for stride in strides[:-1]):
            raise ValueError(
                f"view: strides of {strides} elements of {old} bytes; accepted for {dtype}: multiples of {new} bytes"
            )
        strides = (*(stride * old // new for stride in strides[:-1]), 1)
        shape = (*shape[:-1], shape[-1] * old // new)
    return layout_of(dtype, shape, strides, layout.device, layout.align)
