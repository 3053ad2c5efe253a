"""Layouts: everything about an array except its address, interned."""

from __future__ import annotations

import threading
from collections import deque
from math import prod
from weakref import WeakValueDictionary

from xpops.core.devices import Device
from xpops.core.dtypes import DType

MAX_ALIGNMENT = 16


class Layout:
    """The dtype, shape, strides, device and alignment of one array.

    Equal layouts are the same object, so they hash and compare by identity, in nanoseconds. Make them with `layout_of`
    only.

    Attributes
    ----------
    dtype : numpy.dtype
    shape : tuple of int
    strides : tuple of int
        In elements. 0 along axes of length 1 and in empty arrays: the value has no effect there, and equal layouts must
        have equal strides to be the same object.
    device : Device
    align : int
        The largest power of two, 16 at most, that divides the address of the first element, in bytes.
    size : int
        The number of elements.
    contiguous : bool
        Whether the strides are those of C order.
    header : bytes
        How DLPack describes such arrays. The compiled core sets it when the first one is exported, and never again:
        borrowed tensors point into it.
    """

    __slots__ = ("__weakref__", "align", "contiguous", "device", "dtype", "header", "shape", "size", "strides")
    header: bytes

    def __init__(
        self, dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...], device: Device, align: int
    ) -> None:
        self.dtype, self.shape, self.strides, self.device, self.align = dtype, shape, strides, device, align
        self.size = prod(shape)
        self.contiguous = strides == normal_strides(shape, contiguous_strides(shape))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements, without gaps."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"Layout({self.dtype}, {self.shape}, {self.strides}, {str(self.device)!r}, align={self.align})"


_interned: WeakValueDictionary[tuple[object, ...], Layout] = WeakValueDictionary()
# Keeps the newest layouts alive: that of a view which a loop makes again and again is made once.
_newest: deque[Layout] = deque(maxlen=1024)
_lock = threading.Lock()


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of C order, in elements.

    Examples
    --------
    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def normal_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """`strides` with 0 wherever the stride is never used: along lengths of 1, and in empty arrays."""
    if 0 in shape:
        return (0,) * len(shape)
    if 1 in shape:
        return tuple(0 if length == 1 else stride for length, stride in zip(shape, strides, strict=True))
    return strides


def layout_of(
    dtype: DType,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    device: Device,
    align: int = MAX_ALIGNMENT,
) -> Layout:
    """The one layout of these properties. `strides` None means C order; `align` is capped at 16.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> layout_of(np.dtype("int8"), (2, 3), None, CPU) is layout_of(np.dtype("int8"), (2, 3), (3, 1), CPU)
    True
    """
    strides = normal_strides(shape, contiguous_strides(shape) if strides is None else strides)
    key = (dtype, shape, strides, device, align)
    layout = _interned.get(key)
    if layout is None:
        with _lock:
            layout = _interned.get(key)
            if layout is None:
                layout = _interned[key] = Layout(dtype, shape, strides, device, align)
                _newest.append(layout)
    return layout


def alignment(address: int) -> int:
    """The largest power of two, at most 16, that divides an address.

    Examples
    --------
    >>> alignment(4096), alignment(4100), alignment(7)
    (16, 4, 1)
    """
    return address & -address & (MAX_ALIGNMENT - 1) or MAX_ALIGNMENT


def extent(layout: Layout) -> tuple[int, int]:
    """The byte range ``[low, high)`` that the elements span, relative to the first one."""
    if layout.size == 0:
        return 0, 0
    low = high = 0
    for length, stride in zip(layout.shape, layout.strides, strict=True):
        reach = (length - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    item = layout.dtype.itemsize
    return low * item, (high + 1) * item


def exported_strides(layout: Layout) -> tuple[int, ...]:
    """The strides of a layout for other libraries, which may check strides that address nothing.

    If a length is 1 or the array is empty, the strides are those of C order there; in a layout they are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from xpops.core.devices import CPU
    >>> exported_strides(layout_of(np.dtype("int8"), (2, 1, 3), None, CPU))
    (3, 3, 1)
    """
    if layout.contiguous:
        return contiguous_strides(layout.shape)
    usual = contiguous_strides(layout.shape)
    return tuple(
        default if length == 1 else stride
        for length, stride, default in zip(layout.shape, layout.strides, usual, strict=True)
    )
