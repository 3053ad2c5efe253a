"""Scale vectors by powers of two, for a library that squares numbers: the squares would overflow or underflow."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

WORD = 4


class Rescaling(NamedTuple):
    """The kernels that scale vectors and scale them back.

    Attributes
    ----------
    nbytes : int
        The bytes of `words`, which has a word for each vector.
    begin, end : Kernel
        ``(stream, x, words)``: `begin` scales the vectors of `x` in place, and `end` scales their results back.
    """

    nbytes: int
    begin: Kernel
    end: Kernel


def rescaling(runtime: Runtime, x: Layout) -> Rescaling:
    """The scaling of a C-contiguous `x`: each vector along the last axis has its own power. Ordinary vectors keep 1."""
    real = dt.REAL_OF.get(x.dtype, x.dtype)
    parts = x.nbytes // real.itemsize
    vectors = x.size // x.shape[-1]
    tail = pack("<Q", parts) + pack_divmod(parts // vectors, 64)
    nbytes, block = vectors * WORD, tuning_of(runtime.context.capability).block
    find, there, back = (
        runtime.launcher("rescale", rescale_glue(call, block), -(-parts // block), block, "QQ", tail)
        for call in rescale_calls(dt.INFO[real].c_type)
    )

    def begin(stream: int, x: int, words: int) -> None:
        runtime.zero(words, nbytes, stream)
        find(stream, x, words)
        there(stream, x, words)

    return Rescaling(nbytes, begin, back)


def rescale_calls(c_type: str) -> tuple[str, str, str]:
    """The calls of the three kernels: find magnitudes, scale, scale back."""
    return (f"find_magnitudes<{c_type}>", *(f"rescale<{c_type}, {truth(back)}>" for back in (False, True)))  # type: ignore[return-value]


def rescale_glue(call: str, block: int) -> str:
    """The glue of a kernel of ``kernels/rescale.cuh``."""
    return "#include <xpops/kernels/rescale.cuh>\nusing namespace xpops;\n" + kernel_text(
        launch_bounds(block), "RescaleParams", call
    )
