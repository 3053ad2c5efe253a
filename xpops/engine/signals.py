"""The primitives of signals and images that every engine offers."""

from __future__ import annotations

from typing import Protocol

from xpops.core.layouts import Layout
from xpops.engine.program import Kernel
from xpops.plan.upsample import Axis


class Signals(Protocol):
    """Primitives of one kind of device."""

    def correlate(self, a: Layout, v: Layout, out: Layout, convolves: bool, mode: str) -> Kernel:
        """The kernel ``(stream, out, a, v)`` of `numpy.correlate`, or of `numpy.convolve` if `convolves`.

        All are vectors of one dtype and not empty; `out` is C-contiguous, and the others have any strides. Infinities
        and NaN reach only the elements whose sum contains them.
        """

    def upsample(self, x: Layout, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> Kernel:
        """The kernel ``(stream, out, x)`` that upsamples images by the nearest element.

        An image has two axes, and `words` elements at each point. Both arrays are C-contiguous and not empty. With
        `backward`, `x` is the gradient of the large images: the kernel adds it up to the gradient of the small ones.
        """
