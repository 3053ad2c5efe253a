"""The first elements of sorted rows on CUDA (``native/xpops/kernels/sort/topk.cuh``)."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.program import Kernel
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.topk import TopKStage

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def topk(runtime: Runtime, dtype: DType, align: int, index: DType, descending: bool, stages: list[TopKStage]) -> Kernel:
    """The kernel ``(stream, values, indices, x)``; the address of a result that is not wanted is 0.

    Parameters
    ----------
    dtype, index : numpy.dtype
        Of the elements and of the indices.
    align : int
        The alignment of `x` in bytes.
    descending : bool
    stages : list of TopKStage
    """
    launches, sizes = [], []
    # Later stages read scratch memory, and write int64 indices before the last.
    aligns, indices = (align, *(MAX_PACK_BYTES,) * len(stages)), (*(dt.int64,) * (len(stages) - 1), index)
    sources = [topk_source(*each, dtype, descending) for each in zip(stages, indices, aligns, strict=False)]
    runtime.announce("topk", sources)
    for stage, source in zip(stages, sources, strict=True):
        last, item = stage is stages[-1], 12 if dtype.itemsize == 8 else 8
        tail = pack("<QQQII", stage.length, stage.part, stage.results, stage.parts, stage.kept)
        launches.append(
            runtime.launcher(
                "topk", source, stage.rows * stage.parts, stage.block, "QQQQ", tail, shared=stage.capacity * item
            )
        )
        results = stage.rows * stage.results
        sizes.append((0, 0) if last else (_padded(results * dt.int64.itemsize), _padded(results * dtype.itemsize)))
    allocate = runtime.pool.scratch(sum(map(sum, sizes)))

    def kernel(stream: int, values: int, indices: int, x: int) -> None:
        scratch, owner = allocate(stream)
        places = 0
        for launch, (index_bytes, value_bytes) in zip(launches[:-1], sizes, strict=False):
            found = scratch + index_bytes
            launch(stream, found, scratch, x, places)
            x, places, scratch = found, scratch, found + value_bytes
        launches[-1](stream, values, indices, x, places)
        del owner  # the stream runs the next work on this memory after the kernels

    return kernel


def _padded(nbytes: int) -> int:
    return -(-nbytes // 256) * 256


def topk_source(stage: TopKStage, index: DType, align: int, dtype: DType, descending: bool) -> str:
    """The glue of one launch."""
    aligned = align >= MAX_PACK_BYTES and (stage.rows == 1 or stage.length * dtype.itemsize % MAX_PACK_BYTES == 0)
    types = f"{dt.INFO[dtype].c_type}, {truth(descending)}, {dt.INFO[index].c_type}"
    numbers = f"{stage.block}, {stage.packs}, {stage.groups}, {stage.capacity}, {stage.room}, {truth(aligned)}"
    return "#include <xpops/kernels/sort/topk.cuh>\nusing namespace xpops;\n" + kernel_text(
        launch_bounds(stage.block, stage.resident), "TopKParams", f"topk<{types}, {numbers}>"
    )
