"""The plan of correlations and convolutions of vectors."""

from __future__ import annotations

import struct
from typing import NamedTuple

from xpops.core.layouts import Layout

# All numbers were measured on an H200. The taps that a block keeps in shared memory at a time.
CHUNK = 512
# The threads of a block, and those for few outputs.
BLOCK, SMALL_BLOCK = 128, 32
# The outputs of a thread, by the bytes of an element.
_OUTPUTS = {1: 16, 2: 16, 4: 16, 8: 8, 16: 4}
# The threads for each multiprocessor that keep it busy.
_RESIDENT = 1024
# The most parts of an output, and from how many on a warp adds them up.
_MOST_PARTS, _WARP_PARTS = 1024, 16

MODES = ("full", "same", "valid")


class Correlation(NamedTuple):
    """What `numpy.correlate` or `numpy.convolve` of `a` and `v` computes.

    The longer vector is the signal, the other one has the taps: ``out[i] = sum(signal[i + j - before] * taps[j])``, of
    the places within the signal.

    Attributes
    ----------
    swapped : bool
        Whether `v` is the signal.
    reversed : (bool, bool)
        Whether the signal and the taps are read from their end.
    conjugated : {-1, 0, 1}
        The conjugated one: the signal (0), the taps (1), or neither.
    before : int
    outputs : int
    """

    swapped: bool
    reversed: tuple[bool, bool]
    conjugated: int
    before: int
    outputs: int


def correlation_of(convolves: bool, mode: str, lengths: tuple[int, int]) -> Correlation:
    """The correlation, or convolution, of vectors of two lengths.

    Examples
    --------
    >>> correlation_of(False, "same", (9, 4))
    Correlation(swapped=False, reversed=(False, False), conjugated=1, before=2, outputs=9)
    >>> correlation_of(True, "valid", (4, 9)).outputs
    6
    """
    swapped = lengths[0] < lengths[1]
    taps, length = sorted(lengths)
    more = taps - 1
    before, after = {"full": (more, more), "same": (taps // 2, more // 2), "valid": (0, 0)}[mode]
    outputs = length - more + before + after
    if convolves:
        return Correlation(swapped, (False, True), -1, before, outputs)
    if swapped:  # NumPy reverses the result: the same as to reverse both operands
        return Correlation(swapped, (True, True), 0, after, outputs)
    return Correlation(swapped, (False, False), 1, before, outputs)


class CorrelationPlan(NamedTuple):
    """The kernels of ``native/xpops/kernels/correlate.cuh`` for one call.

    Attributes
    ----------
    block, each : int
        Threads of a block; outputs of a thread.
    blocks : int
        The grid.
    parts : int
        The blocks that share a tile, each with a part of the taps. If there are several, a second kernel adds them up.
    lanes : int
        Threads that add up one output in the second kernel.
    tail : bytes
        The parameters after the slots.
    """

    block: int
    each: int
    blocks: int
    parts: int
    lanes: int
    tail: bytes


def plan_correlation(signal: Layout, taps: Layout, found: Correlation, multiprocessors: int) -> CorrelationPlan:
    """How many threads and blocks compute a correlation.

    Taps are shared among blocks if there are too few outputs to fill the GPU.

    Examples
    --------
    >>> from xpops.core import dtypes as dt
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> signal, taps = (layout_of(dt.float64, (n,), None, Device("cuda")) for n in (10000, 9000))
    >>> plan_correlation(signal, taps, correlation_of(True, "valid", (10000, 9000)), 4)[:5]
    (128, 8, 18, 18, 32)
    """
    each = 1 if found.outputs <= SMALL_BLOCK else _OUTPUTS[signal.dtype.itemsize]
    block = SMALL_BLOCK if found.outputs <= SMALL_BLOCK * each else BLOCK
    tiles, chunks = -(-found.outputs // (block * each)), -(-taps.size // CHUNK)
    wanted = min(-(-multiprocessors * _RESIDENT // (block * tiles)), _MOST_PARTS)
    share = -(-chunks // wanted) if wanted > 2 else chunks
    parts = -(-chunks // share)
    (first, step), (first_tap, step_of_taps) = map(_line, (signal, taps), found.reversed)
    lines = (first, first_tap, step, step_of_taps)
    numbers = (found.outputs, signal.size, taps.size, found.before, *lines, share * CHUNK, parts)
    tail = struct.pack("<10q", *numbers)
    return CorrelationPlan(block, each, tiles * parts, parts, 32 if parts >= _WARP_PARTS else 1, tail)


def _line(x: Layout, from_end: bool) -> tuple[int, int]:
    """The offset of the first element that is read, and the step to the next."""
    (stride,) = x.strides
    return ((x.size - 1) * stride, -stride) if from_end else (0, stride)
