"""Scatter reductions on CUDA: by atomic additions, or by segments of sorted places."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.core.powers import power_of_two
from xpops.engine.cuda.kernels.elementwise import empty_kernel, unary
from xpops.engine.cuda.kernels.segments import reduce_sorted, scatter_glue
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.plan.scatter import Placement, ScatterPolicy, plan_placement, target_strides, widest_pack

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# For these dtypes the hardware has no atomic addition. Sums in the wider dtypes give the same results.
_WIDER = {dt.int8: dt.int32, dt.uint8: dt.uint32, dt.int16: dt.int32, dt.uint16: dt.uint32}
# From this compute capability on, the hardware has an atomic addition for bfloat16.
_HOPPER = 90


def scatter_reduce(
    runtime: Runtime,
    out: Layout,
    axis: int,
    index: Layout,
    source: Layout,
    reduction: str,
    include_self: bool,
    deterministic: bool,
    skipped: int,
    name: str,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.scatter_reduce`."""
    if out.size == 0 or index.size == 0:
        return empty_kernel
    length = out.shape[axis]
    range_ = struct.pack("<QQQq", runtime.faults.address, length, runtime.faults.of_index(name, length, 0), skipped)
    ordered = deterministic and out.dtype in dt.REAL_FLOATS
    if reduction == "sum" and include_self and not ordered:
        kernel = _atomic(runtime, out, axis, index, source, range_)
    else:
        kernel = reduce_sorted(runtime, out, axis, index, source, reduction, include_self, range_)

    def judged(stream: int, *data: int) -> None:
        kernel(stream, *data)
        runtime.faults.check()

    return judged if config.debug else kernel


class Addition(NamedTuple):
    """A plan of atomic additions.

    Attributes
    ----------
    target : numpy.dtype
        The dtype of the memory that the kernel adds to.
    slots, copies : int
        The places of a block's sums in shared memory, and the copies of them; 0 and 1 if it adds to global memory only.
    """

    target: DType
    slots: int
    copies: int


def plan_addition(out: Layout, sources: int, pack: int, capability: int) -> Addition:
    """Plan the addition of `sources` elements to `out`, in packs of `pack` contiguous elements.

    float16 and bfloat16 are added in a float32 copy of `out` if that costs no more than direct additions. That is so
    for packs of one element, at least as many as `out` has places: an atomic addition adds one such element, whatever
    its dtype. Longer packs are added directly, 16 bytes in one addition, and so are elements too few to pay for a copy.

    Exceptions, which always use the copy: sums in shared memory, and bfloat16 on GPUs without an addition for it.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> plan_addition(layout_of(dt.float16, (2**20,), None, Device("cuda")), 2**26, 1, 90)
    Addition(target=dtype('float32'), slots=0, copies=1)
    """
    halves = out.dtype in dt.HALVES
    width = 4 if halves else max(out.dtype.itemsize, 4)
    policy = tuning_of(capability).scatter
    slots = max(policy.least_slots, power_of_two(out.size))
    room = policy.shared // width
    few = slots <= room and sources >= policy.crowded * out.size
    target = _WIDER.get(out.dtype, out.dtype)
    missing = out.dtype == dt.bfloat16 and capability < _HOPPER
    if halves and (few or missing or (pack == 1 and sources >= out.size)):
        target = dt.float32
    return Addition(target, slots, min(room // slots, 32)) if few else Addition(target, 0, 1)


def addition_source(
    source: DType, index: DType, placement: Placement, addition: Addition, policy: ScatterPolicy
) -> str:
    """The glue of the kernel of atomic additions."""
    types = ", ".join(dt.INFO[each].c_type for each in (source, addition.target, index))
    numbers = f"{placement.pack}, {policy.unroll}, {addition.slots}, {addition.copies}, {policy.block}"
    params = f"ScatterAddParams<{placement.rank}, uint{placement.index_bits}>"
    return scatter_glue("scatter_add", f"scatter_add<{types}, {numbers}>", params, policy.block)


def _atomic(runtime: Runtime, out: Layout, axis: int, index: Layout, source: Layout, range_: bytes) -> Kernel:
    widest = widest_pack(out.dtype, min(out.align, source.align))
    placement = plan_placement(index.shape, *target_strides(out, axis, index), widest)
    addition = plan_addition(out, source.size, placement.pack, runtime.context.capability)
    policy = tuning_of(runtime.context.capability).scatter
    tiles = -(-placement.size // (policy.block * policy.unroll))
    blocks = min(tiles, policy.blocks * runtime.context.multiprocessors if addition.slots else 2**31 - 1)
    tail = struct.pack("<QQq", placement.size, out.size, placement.step) + range_ + placement.tail
    code = addition_source(out.dtype, index.dtype, placement, addition, policy)
    add = runtime.launcher("scatter_add", code, blocks, policy.block, "QQQ", tail)
    if addition.target == out.dtype:
        return add
    wide = layout_of(addition.target, out.shape, None, out.device)
    widen, narrow = unary(runtime, IDENTITY, out, wide), unary(runtime, IDENTITY, wide, out)
    allocate = runtime.allocator(wide)

    def kernel(stream: int, out: int, index: int, source: int) -> None:
        sums, owner = allocate(stream)
        widen(stream, sums, out)
        add(stream, sums, index, source)
        narrow(stream, out, sums)
        del owner  # kept until the kernels were launched

    return kernel
