"""The plan of nearest-neighbour upsampling of images, and of its gradient."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from xpops.core.layouts import Layout
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES
from xpops.plan.strides.divmod import pack_divmod


class Axis(NamedTuple):
    """One axis of images: its length before and after upsampling; one step after is a step of `ratio` before.

    Attributes
    ----------
    before, after : int
    ratio : float
        A float32 number.
    """

    before: int
    after: int
    ratio: float

    def sources(self) -> np.ndarray[Any, Any]:
        """The place before upsampling for each place after it, computed in float32 as in the kernel.

        Examples
        --------
        >>> Axis(3, 6, 0.5).sources()
        array([0, 0, 1, 1, 2, 2])
        """
        places = np.arange(self.after, dtype=np.float32) * np.float32(self.ratio)
        found: np.ndarray[Any, Any] = np.minimum(np.floor(places).astype(np.int64), self.before - 1)
        return found


class UpsamplePlan(NamedTuple):
    """One kernel of ``native/xpops/kernels/upsample.cuh``.

    Attributes
    ----------
    kernel : str
    pack : int
        Elements that a thread moves at once.
    index_bits : {32, 64}
    threads : int
    tail : bytes
        The bytes of the parameters after the slots.
    """

    kernel: str
    pack: int
    index_bits: int
    threads: int
    tail: bytes


def plan_upsample(x: Layout, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> UpsamplePlan:
    """The kernel that writes `out` from `x`: C-contiguous images, with `words` elements in each column of a row.

    Forward, `x` is the image before upsampling. Backward, `x` is the gradient of the image after upsampling, and `out`
    the gradient of the image before it.
    """
    rows, columns = axes
    small, item = (out if backward else x), x.dtype.itemsize
    images = small.size // (rows.before * columns.before * words)
    widest = min(MAX_PACK_BYTES, x.align, out.align) // item
    twice = words == 1 and all(axis.after == 2 * axis.before and axis.ratio == 0.5 for axis in axes)
    if words > 1:
        kernel, pack = "", _divisor(words, widest)
        counts = (words // pack, columns.before if backward else columns.after, rows.before if backward else rows.after)
        words = words if backward else words // pack
    elif twice:
        kernel, pack = "_twice", _divisor(columns.before * (1 if backward else 2), widest)
        counts = (1, columns.before // pack if backward else columns.after // pack, rows.before)
    else:
        kernel, pack = "", 1 if backward else _divisor(columns.after, widest)
        counts = (1, columns.before if backward else columns.after // pack, rows.before if backward else rows.after)
    if twice and not backward and pack == 1:
        kernel = ""
        counts = (1, columns.after, rows.after)
    threads = images * counts[0] * counts[1] * counts[2]
    bits = 32 if max(x.size, out.size) < INDEX_LIMIT else 64
    tail = struct.pack("<Q", threads)
    for axis in axes:
        tail += struct.pack("<2if", *axis)
    tail += struct.pack("<I" if bits == 32 else "<Q", words)
    for divisor in counts:
        tail += pack_divmod(divisor, bits)
    return UpsamplePlan(f"upsample{kernel}{'_backward' * backward}", pack, bits, threads, tail)


def _divisor(length: int, most: int) -> int:
    """The largest power of two up to `most` that divides `length`.

    Examples
    --------
    >>> _divisor(12, 8), _divisor(7, 4)
    (4, 1)
    """
    return min(length & -length, 1 << max(most.bit_length() - 1, 0))
