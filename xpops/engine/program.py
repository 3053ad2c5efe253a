"""What the primitives of an engine take and return: data, kernels and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xpops.core.layouts import Layout

# The elements of an array: an address (int) on CUDA, an ndarray of exactly the layout on the CPU.
Data = Any
# The object that keeps the memory alive; None if the data does so itself.
Owner = Any
# kernel(stream, out, *operands) writes `out`. An operand is Data, or a Python scalar if the signature has a type there.
Kernel = Callable[..., None]


class Program(NamedTuple):
    """A call that is ready to run.

    Attributes
    ----------
    layouts : tuple of Layout
        The layouts of the results, dense.
    kernel : Kernel
        ``kernel(stream, *results, *operands)`` writes them.
    """

    layouts: tuple[Layout, ...]
    kernel: Kernel


class Guess(NamedTuple):
    """A call that can write its results before their sizes are known.

    Attributes
    ----------
    layouts : tuple of Layout
        Results of likely sizes, dense.
    kernel : Kernel
        As that of a Program for `layouts`. It writes no element beyond them, whatever the data are.
    settle : Callable
        Waits for the device. Returns the layouts of the results, and whether the memory for `layouts` is that of the
        results: large enough, and not much too large. From then on, `kernel` is that of a Program for the results.
    """

    layouts: tuple[Layout, ...]
    kernel: Kernel
    settle: Callable[[], tuple[tuple[Layout, ...], bool]]


# measure(stream, *operands) returns the Program of a call whose result sizes depend on data. It waits for the device.
Measure = Callable[..., Program]
# As a Measure, but it may return a Guess instead, without waiting.
Guessing = Callable[..., Program | Guess]
