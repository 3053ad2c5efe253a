"""Elements at places that indices name, on CUDA."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.elementwise import empty_kernel
from xpops.engine.cuda.glue import truth
from xpops.engine.protocol import Program
from xpops.plan.divmod import pack_divmod
from xpops.plan.elementwise import INDEX_LIMIT, MAX_PACK_BYTES

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# Threads of a block, words that a thread moves, and blocks of a grid whose size the host does not know for each
# multiprocessor.
BLOCK, UNROLL, BLOCKS = 256, 4, 16
_WORDS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint2", 16: "uint4"}


def word_of(width: int) -> str:
    """The C++ type that stands for any of `width` bytes."""
    return _WORDS[width]


def take(engine: CudaEngine, x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take`."""
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    out = layout_of(x.dtype, shape, None, engine.context.device)
    inner = prod(x.shape[axis + 1 :])
    word = _widest(inner * x.dtype.itemsize, x.align)
    return _program(engine, x, indices, axis, out, word, each=False)


def take_along(engine: CudaEngine, x: Layout, indices: Layout, axis: int) -> Program:
    """See `xpops.engine.protocol.Engine.take_along`."""
    out = layout_of(x.dtype, indices.shape, None, engine.context.device)
    return _program(engine, x, indices, axis, out, x.dtype.itemsize, each=True)


def _program(engine: CudaEngine, x: Layout, indices: Layout, axis: int, out: Layout, word: int, each: bool) -> Program:
    if out.size == 0:
        return Program((out,), empty_kernel)
    size, outer = out.nbytes // word, prod(x.shape[:axis])
    inner = prod(x.shape[axis + 1 :]) * x.dtype.itemsize // word
    bits = 32 if max(size, x.nbytes // word) < INDEX_LIMIT else 64
    source = gather_glue(word, indices.dtype, each, outer > 1, bits)
    tail = _tail(x.shape[axis], inner, size // outer // inner, bits)
    launch = engine.launcher("take", source, -(-size // (BLOCK * UNROLL)), BLOCK, "QQQQ", tail)
    return Program((out,), lambda stream, out, x, indices: launch(stream, out, x, indices, size))


def row_gatherer(engine: CudaEngine, x: Layout, length: int) -> Callable[..., None]:
    """The kernel ``(stream, out, x, indices, elements of out)`` that copies rows of a C-contiguous `x`.

    It has `length` of them, which is not 0; indices are int64.
    """
    nbytes = x.nbytes // length
    word = _widest(nbytes, x.align)
    bits = 32 if x.nbytes // word < INDEX_LIMIT else 64
    source = gather_glue(word, dt.int64, False, False, bits)
    tail = _tail(length, nbytes // word, 1, bits)
    blocks = min(-(-x.nbytes // word // (BLOCK * UNROLL)), BLOCKS * engine.context.multiprocessors)
    launch = engine.launcher("take", source, blocks, BLOCK, "QQQQ", tail)
    item = x.dtype.itemsize
    return lambda stream, out, x, indices, size: launch(stream, out, x, indices, size * item // word)


def row_scatterer(engine: CudaEngine, x: Layout, row: int) -> Callable[..., None]:
    """The kernel ``(stream, x, rows, indices, elements of rows)`` that writes rows of `row` elements into any `x`."""
    if x.size == 0:
        return empty_kernel
    shape, strides = _in_order(x)
    reach = sum(abs(stride) * (length - 1) for stride, length in zip(strides, shape, strict=True))
    bits = 32 if max(x.size, reach) < INDEX_LIMIT else 64
    tail = pack_divmod(row, bits) + b"".join(pack_divmod(length, bits) for length in shape[1:] or (1,))
    tail += struct.pack(f"<{len(strides)}{'i' if bits == 32 else 'q'}", *strides)
    blocks = min(-(-x.size // BLOCK), BLOCKS * engine.context.multiprocessors)
    source = scatter_glue(x.dtype.itemsize, len(shape), bits)
    return engine.launcher("place", source, blocks, BLOCK, "QQQQ", tail)


def _in_order(x: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides with neighbouring axes merged that are walked in one line in C order; at least one axis."""
    merged: list[tuple[int, int]] = []
    for length, stride in zip(x.shape, x.strides, strict=True):
        if length == 1:
            continue
        if merged and merged[-1][1] == stride * length:
            length *= merged.pop()[0]
        merged.append((length, stride))
    shape, strides = zip(*merged or [(1, 0)], strict=True)
    return shape, strides


def _widest(nbytes: int, align: int) -> int:
    """The widest word that divides a row of `nbytes` bytes, in memory of that alignment."""
    return min(nbytes & -nbytes or MAX_PACK_BYTES, align, MAX_PACK_BYTES)


def _tail(length: int, inner: int, count: int, bits: int) -> bytes:
    return struct.pack("<Q", length) + pack_divmod(inner, bits) + pack_divmod(count, bits)


def gather_glue(word: int, index: DType, each: bool, outer: bool, bits: int) -> str:
    """The glue of a kernel that reads words of `word` bytes at indices."""
    types = f"{word_of(word)}, {dt.INFO[index].c_type}, {truth(each)}, {truth(outer)}"
    return _glue(f"gather<{types}, {BLOCK}, {UNROLL}>", f"GatherParams<uint{bits}>")


def scatter_glue(word: int, rank: int, bits: int) -> str:
    """The glue of a kernel that writes words of `word` bytes at indices."""
    return _glue(f"scatter_rows<{word_of(word)}, {BLOCK}>", f"ScatterParams<{rank}, uint{bits}>")


def _glue(call: str, params: str) -> str:
    return "\n".join(
        [
            "#include <xpops/kernels/gather.cuh>",
            "using namespace xpops;",
            f'extern "C" __global__ void __launch_bounds__({BLOCK})',
            f"xpops_kernel(const __grid_constant__ {params} params) {{",
            f"  {call}(params);",
            "}",
            "",
        ]
    )
