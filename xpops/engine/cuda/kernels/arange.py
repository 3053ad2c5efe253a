"""Arithmetic progressions on CUDA: glue, kernel, launcher."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import Glue, wire_of
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.elementwise import MAX_PACK_BYTES

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def arange(runtime: Runtime, out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.arange`."""
    if out.size == 0:
        return empty_kernel
    block, unroll = tuning_of(runtime.context.capability).arange
    glue = arange_glue(out, block, unroll)
    elements = block * unroll * _pack(out)
    blocks, tail = -(-out.size // elements), pack("<Q", out.size)
    launch = runtime.launcher("arange", glue.source, blocks, block, glue.slots, tail)

    def modular(stream: int, out: int, start: int, step: int) -> None:
        launch(stream, out, start % 2**64, step % 2**64)

    def split(stream: int, out: int, start: complex, step: complex) -> None:
        launch(stream, out, start.real, start.imag, step.real, step.imag)

    return {"QQQ": modular, "Qdddd": split}.get(glue.slots, launch)


def _pack(out: Layout) -> int:
    """The elements of an access: as many as the alignment allows."""
    return max(1, min(MAX_PACK_BYTES, out.align) // out.dtype.itemsize)


def arange_glue(out: Layout, block: int, unroll: int) -> Glue:
    """The glue of `arange`; integer parameters are modulo 2**64."""
    wire, form, _ = wire_of(out.dtype)
    if wire == "int64":
        wire, form = "uint64", "Q"
    source = [
        "#include <xpops/kernels/arange.cuh>",
        "using namespace xpops;",
        kernel_text(
            launch_bounds(block),
            f"ArangeParams<{wire}>",
            f"arange<{dt.INFO[out.dtype].c_type}, {wire}, {block}, {unroll}, {_pack(out)}>",
        ),
    ]
    return Glue("\n".join(source), "Q" + 2 * form)
