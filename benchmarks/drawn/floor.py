"""The least time that a call can take: the memory that it must touch, and the arithmetic of its functor."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import log2, prod
from typing import Any, NamedTuple

import torch

import xpops as xp
from benchmarks.drawn.call import Call
from benchmarks.drawn.operands import Operand

_THREADS, _VALUES, _ROUNDS = 256, 4, 64
_PROBE = r"""
extern "C" __global__ void probe(const uint4* memory, long long sectors, int step, unsigned* out) {
  unsigned sum = 0;
  const long long first = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  for (long long i = first; i * step < sectors * 2; i += static_cast<long long>(gridDim.x) * blockDim.x)
    sum += memory[(i / 2) * 2 * step + i % 2].x;
  if (sum == 12345) *out = sum;
}
"""
_ARITHMETIC = """
#include <xpops/core/types.cuh>
#include <xpops/math/{header}.cuh>
using namespace xpops;
template <class T> __device__ void hide(T& value) {{ asm volatile("" : "+{constraint}"(value)); }}
extern "C" __global__ void arithmetic(const {type}* values, int* out) {{
  {type} x[{count}][{arity}];
  values += blockIdx.x * {count} * {arity} * {threads} + threadIdx.x;
  for (int i = 0; i < {count}; ++i)
    for (int j = 0; j < {arity}; ++j) x[i][j] = values[(i * {arity} + j) * {threads}];
  int same = 0;
  for (int round = 0; round < {rounds}; ++round)
#pragma unroll
    for (int i = 0; i < {count}; ++i) {{
      for (int j = 0; j < {arity}; ++j) hide(x[i][j]);
      auto result = {functor}{{}}({arguments});
      same += result == decltype(result)(1);
    }}
  if (same == -1) *out = same;
}}
"""
_REGISTERS = {"float32": ("float", "f"), "float64": ("double", "d")}


class Machine(NamedTuple):
    """What was measured of the GPU in this run.

    Attributes
    ----------
    bandwidth : float
        Bytes per microsecond that a copy reads and writes.
    sector : int
        The bytes that memory delivers at least.
    """

    bandwidth: float
    sector: int


def measure_machine() -> Machine:
    """Measure the bandwidth of a copy, and the sector: the time to read one of four 32-byte parts says its size."""
    import cupy

    size = 2**30
    source = torch.empty(size, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    bandwidth = 2 * size / _time(lambda: target.copy_(source))
    probe, blocks = cupy.RawKernel(_PROBE, "probe"), _blocks()
    memory, out = cupy.from_dlpack(source), cupy.zeros(1, dtype=cupy.uint32)
    times = {
        step: _time(lambda s=step: probe((blocks,), (_THREADS,), (memory, size // 32, s, out))) for step in (1, 2, 4)
    }
    nearest = 2 ** round(log2(128 * times[4] / times[1]))
    print(f"reading 1/1, 1/2, 1/4 of the sectors: {', '.join(f'{value:.0f} us' for value in times.values())}")
    return Machine(bandwidth, max(32, min(128, nearest)))


def touched_bytes(call: Call, tensors: Sequence[torch.Tensor], result: Any, sector: int) -> int:
    """The bytes of all sectors that the call must read, and of its result."""
    outputs = result if isinstance(result, tuple) else (result,)
    written = 0 if call.name.endswith("= 0") else sum(each.numel() * each.element_size() for each in outputs)
    if call.moved is None:
        return written + sum(_sectors(operand, sector) * sector for operand in call.operands)
    moved = [operand for operand in call.operands if not _chooses(operand)]
    given, first = list(tensors), 1
    for place, operand in enumerate(call.operands):
        if _chooses(operand):
            continue
        given[place] = sector_ids(operand, sector, tensors[place].device) + first
        first += operand.extent * operand.itemsize // sector + 2
    others = sum(_sectors(operand, sector) * sector for operand in call.operands if operand not in moved)
    seen = torch.zeros(first, dtype=torch.bool, device=given[0].device)
    seen[call.moved(*given).reshape(-1)] = True
    return written + others + sector * int(seen[1:].sum())


def _chooses(operand: Operand) -> bool:
    """Whether an operand chooses elements of others: a mask, or indices."""
    return operand.domain.startswith(("mask", "index"))


def _sectors(operand: Operand, sector: int) -> int:
    """How many sectors an operand's elements lie in."""
    if operand.layout in ("contiguous", "permuted", "reversed", "shifted"):
        first, size = operand.offset * operand.itemsize, prod(operand.shape) * operand.itemsize
        return (first + size - 1) // sector - first // sector + 1 if size else 0
    device = "cuda" if torch.cuda.is_available() else "cpu"
    seen = torch.zeros(operand.extent * operand.itemsize // sector + 2, dtype=torch.bool, device=device)
    seen[sector_ids(operand._replace(shape=_distinct(operand)), sector, device).reshape(-1)] = True
    return int(seen.sum())


def _distinct(operand: Operand) -> tuple[int, ...]:
    """The shape without the repetitions of axes of stride 0."""
    return tuple(n if stride else min(n, 1) for n, stride in zip(operand.shape, operand.strides, strict=True))


def sector_ids(operand: Operand, sector: int, device: torch.device | str) -> torch.Tensor:
    """For each element the number of its sector.

    Examples
    --------
    >>> sector_ids(Operand("float64", (2, 3), "cropped", (5, 1), 1, 10), 32, "cpu").tolist()
    [[0, 0, 0], [1, 1, 2]]
    """
    place = torch.tensor(operand.offset, device=device)
    for axis, (length, stride) in enumerate(zip(operand.shape, operand.strides, strict=True)):
        steps = torch.arange(length, device=device) * stride
        place = place + steps.reshape((-1,) + (1,) * (len(operand.shape) - axis - 1))
    return torch.div(place * operand.itemsize, sector, rounding_mode="floor")


class Arithmetic:
    """The time of functors on registers, remembered by operator and dtype."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str, str], float] = {}

    def time(self, call: Call, tensors: Sequence[torch.Tensor], elements: int) -> float:
        """Microseconds that the arithmetic of `elements` results takes on the whole GPU. 0 for narrow integers."""
        if call.row is None or not call.operands:
            return 0.0
        loop = "float64" if call.operands[0].dtype == "float64" else "float32"
        if not call.operands[0].dtype.endswith(("float16", "float32", "float64")):
            return 0.0
        key = (call.row.name, loop, call.operands[0].values)
        if key not in self._times:
            self._times[key] = _time_functor(call, tensors, loop)
        return self._times[key] * elements


def _time_functor(call: Call, tensors: Sequence[torch.Tensor], loop: str) -> float:
    """Microseconds for one element, of values like those of the operands."""
    row, (name, constraint) = call.row, _REGISTERS[loop]
    assert row is not None
    source = _ARITHMETIC.format(
        header=row.header,
        functor=row.functor,
        type=name,
        constraint=constraint,
        arity=row.arity,
        arguments=", ".join(f"x[i][{j}]" for j in range(row.arity)),
        count=_VALUES,
        threads=_THREADS,
        rounds=_ROUNDS,
    )
    blocks = _blocks()
    need = blocks * _VALUES * _THREADS
    rows = []
    for tensor in tensors:
        some = tensor.reshape(-1)[:need].to(getattr(torch, loop))
        rows.append(some.repeat(-(-need // max(1, some.numel())))[:need].reshape(-1, _THREADS))
    values = xp.asarray(torch.stack(rows, dim=1).contiguous())
    out = xp.zeros(1, dtype=xp.int32)
    kernel = xp.kernel.RawKernel(source, "arithmetic")
    time = _time(lambda: kernel((blocks,), (_THREADS,), (values, out)))
    return time / (need * _ROUNDS)


def _blocks() -> int:
    """Enough blocks to fill the GPU."""
    return 8 * int(torch.cuda.get_device_properties(0).multi_processor_count)


def _time(work: Any) -> float:
    """Microseconds on the GPU, the median of 9."""
    times = []
    for _ in range(10):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return float(statistics.median(times[1:]))
