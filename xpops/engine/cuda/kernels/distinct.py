"""The distinct elements of arrays with narrow elements on CUDA, by a table (``native/xpops/kernels/distinct.cuh``)."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.gather import gather
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.runtime.blocks import Block
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.tuning.policies import DistinctPolicy
from xpops.engine.program import Kernel, Measure, Program
from xpops.plan.elementwise import MAX_PACK_BYTES

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

_WORD, _SLOTS = 8, 8
_UNSIGNED = {1: dt.uint8, 2: dt.uint16}


class Table(NamedTuple):
    """A table with an entry for each value of a dtype.

    Attributes
    ----------
    dtype : numpy.dtype
    size : int
        The elements of the array.
    aligned : bool
        Whether the array begins at a whole pack.
    policy : DistinctPolicy
    """

    dtype: DType
    size: int
    aligned: bool
    policy: DistinctPolicy

    @property
    def codes(self) -> int:
        return 1 << 8 * self.dtype.itemsize

    @property
    def shared(self) -> int:
        """The bytes of the counters in shared memory."""
        return 2 * self.codes * self.policy.copies[self.dtype.itemsize]

    def source(self, name: str) -> str:
        """The glue of the kernel `name`."""
        block, tile = self._block(name), f"{self.policy.block}, {self.policy.items}, {truth(self.aligned)}"
        arguments = {
            "count": f"{self.policy.copies[self.dtype.itemsize]}, {tile}",
            "first": tile,
            "number": f"{block}",
        }.get(name)
        types = ", ".join(filter(None, (dt.INFO[self.dtype].c_type, arguments)))
        return "#include <xpops/kernels/distinct.cuh>\nusing namespace xpops;\n" + kernel_text(
            launch_bounds(block), "DistinctParams", f"distinct_{name}<{types}>"
        )

    def _block(self, name: str) -> int:
        return min(self.policy.block, self.codes) if name in ("number", "write") else self.policy.block

    def launcher(self, runtime: Runtime, name: str, begin: int = 0, size: int | None = None) -> Kernel:
        """The kernel `name`, for the elements from `begin` to `size`. Its arguments are those of ``DistinctParams``."""
        multiprocessors, block = runtime.context.multiprocessors, self._block(name)
        size = self.size if size is None else size
        tiles = -(-(size - begin) // (block * self.policy.items))
        writers = -(-max(self.size if self.dtype in dt.REAL_FLOATS else 0, self.codes) // block)
        blocks = {
            "count": min(tiles, multiprocessors * self.policy.blocks[self.dtype.itemsize]),
            "first": min(tiles, multiprocessors * self.policy.first_blocks),
            "number": 1,
            "write": min(writers, multiprocessors * self.policy.first_blocks),
        }[name]
        shared, tail = self.shared if name == "count" else 0, pack("<QQ", size, begin)
        return runtime.launcher("unique", self.source(name), blocks, block, "Q" * _SLOTS, tail, shared=shared)

    def finders(self, runtime: Runtime) -> list[Kernel]:
        """The kernels that find first places: in the beginning of the array, then in the rest.

        The beginning may have all codes. Then the rest is not read.
        """
        end = min(self.size, self.policy.beginning * self.codes)
        kernels = [self.launcher(runtime, "first", 0, end)]
        if end < self.size:
            kernels.append(self.launcher(runtime, "first", end))
        return kernels


def distinct(runtime: Runtime, x: Layout, parts: tuple[str, ...]) -> Measure | None:
    """See `xpops.engine.protocol.Engine.distinct`."""
    policy, device = tuning_of(runtime.context.capability).distinct, runtime.context.device
    if x.size < policy.least.get(x.dtype.itemsize, x.size + 1):
        return None
    table = Table(x.dtype, x.size, x.align >= MAX_PACK_BYTES, policy)
    placed = not {"indices", "inverse_indices"}.isdisjoint(parts)
    if (placed and x.dtype in dt.REAL_FLOATS) or table.shared > runtime.context.shared:
        return None
    runtime.announce("unique", map(table.source, ("count", "number", "write")))
    count, number, write = (table.launcher(runtime, name) for name in ("count", "number", "write"))
    firsts = table.finders(runtime) if "indices" in parts else []
    row = layout_of(dt.int64, (table.codes,), None, device)
    index = layout_of(_UNSIGNED[x.dtype.itemsize], x.shape, None, device, x.align)
    look_up = gather(runtime, row, (0,), (index,), 0, ("unique: codes",)).kernel
    allocate = runtime.pool.allocator(3 * table.codes * _WORD)

    def measure(stream: int, x_data: int) -> Program:
        counts, block = allocate(stream)
        latest, numbers = counts + table.codes * _WORD, counts + 2 * table.codes * _WORD
        runtime.zero(counts, 2 * table.codes * _WORD, stream)
        tables = x_data, counts, latest, numbers
        count(stream, *tables, 0, 0, 0, 0)
        for find in firsts:
            find(stream, *tables, 0, 0, 0, 0)
        total = runtime.ask(stream, lambda word: number(stream, *tables, word, 0, 0, 0))()
        values = layout_of(x.dtype, (total,), None, device)
        like = layout_of(dt.int64, (total,), None, device)
        layouts = {"values": values, "inverse_indices": layout_of(dt.int64, x.shape, None, device)}

        def kernel(stream: int, *data: int, scratch: Block = block) -> None:
            results = dict(zip(parts, data, strict=False))  # `data` ends with the operand
            named = (results.get(name, 0) for name in ("values", "indices", "counts"))
            write(stream, *tables, 0, *named)
            if "inverse_indices" in results:
                look_up(stream, results["inverse_indices"], numbers, x_data)

        return Program(tuple(layouts.get(part, like) for part in parts), kernel)

    return measure
