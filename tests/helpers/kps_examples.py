"""Two complete kernels that use the primitives: a sum of two arrays, and sums down columns."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.helpers.emulator import EMULATOR, FLAGS, KernelError
from tests.helpers.host_compile import build
from tests.helpers.kps import EPILOGUE, Shape, placed, taken

NDArray = np.ndarray[Any, Any]

ADD = """
#include <xpops/kps.cuh>
namespace kps = xpops::kps;

namespace example {

template <typename InT>
struct AddFunctor {
  HOSTDEVICE InT operator()(const InT& a, const InT& b) const { return a + b; }
};

template <int VecSize, typename InT, typename OutT, typename OpFunc, bool IsBoundary>
__device__ void AddTile(const InT* x, const InT* y, OutT* z, OpFunc func, int num) {
  InT a[VecSize], b[VecSize];
  OutT sum[VecSize];
  kps::Init<InT, VecSize>(a, static_cast<InT>(1));
  kps::Init<InT, VecSize>(b, static_cast<InT>(1));
  kps::ReadData<InT, VecSize, 1, IsBoundary>(a, x, num);
  kps::ReadData<InT, VecSize, 1, IsBoundary>(b, y, num);
  kps::ElementwiseBinary<InT, OutT, VecSize, 1, OpFunc>(sum, a, b, func);
  kps::WriteData<OutT, VecSize, 1, IsBoundary>(z, sum, num);
}

template <int VecSize, typename InT, typename OutT>
__global__ void ElementwiseAdd(const InT* x, const InT* y, OutT* z, int size) {
  using Op = AddFunctor<InT>;
  const int tile = VecSize * blockDim.x;
  for (int offset = tile * blockIdx.x; offset < size; offset += tile * gridDim.x) {
    if (offset + tile <= size) {
      AddTile<VecSize, InT, OutT, Op, false>(x + offset, y + offset, z + offset, Op(), size - offset);
    } else {
      AddTile<VecSize, InT, OutT, Op, true>(x + offset, y + offset, z + offset, Op(), size - offset);
    }
  }
}

}  // namespace example
"""

REDUCE = """
#include <xpops/kps.cuh>
namespace kps = xpops::kps;

namespace example {

// x is [outer, reduce_num, left_num]; every block sums block_num rows of blockDim.x columns into a row of
// y, [outer, gridDim.y, left_num].
template <typename Tx, typename Ty, typename MPType, typename ReduceOp, typename TransformOp, bool IsBoundary>
__device__ void ReduceColumns(const Tx* x, Ty* y, ReduceOp reducer, TransformOp transform, MPType init, int reduce_num,
                              int left_num, int block_num) {
  constexpr int NY = 2;
  const int column = blockIdx.x * blockDim.x, row = blockIdx.y * block_num, num = left_num - column;
  const int rows = reduce_num - row < block_num ? reduce_num - row : block_num;
  x += (blockIdx.z * reduce_num + row) * left_num + column;
  y += (blockIdx.z * gridDim.y + blockIdx.y) * left_num + column;
  Tx read[NY];
  MPType numbers[NY], result = init;
  kps::Init<Tx, NY>(read, Tx());
  int i = 0;
  for (; i + NY <= rows; i += NY) {
    kps::ReadData<Tx, Tx, 1, NY, IsBoundary>(read, x + i * left_num, num, NY * left_num, 1, left_num);
    kps::ElementwiseUnary<Tx, MPType, NY, 1, TransformOp>(numbers, read, transform);
    kps::Reduce<MPType, NY, 1, ReduceOp, kps::details::ReduceMode::kLocalMode>(&result, numbers, reducer, false);
  }
  for (; i < rows; ++i) {
    kps::ReadData<Tx, Tx, 1, 1, IsBoundary>(read, x + i * left_num, num, left_num, 1, left_num);
    kps::ElementwiseUnary<Tx, MPType, 1, 1, TransformOp>(numbers, read, transform);
    kps::Reduce<MPType, 1, 1, ReduceOp, kps::details::ReduceMode::kLocalMode>(&result, numbers, reducer, false);
  }
  const Ty sum = static_cast<Ty>(result);
  kps::WriteData<Ty, 1, 1, IsBoundary>(y, &sum, num);
}

template <typename Tx, typename Ty, typename MPType, typename ReduceOp, typename TransformOp>
__global__ void ReduceHigherDim(const Tx* x, Ty* y, ReduceOp reducer, TransformOp transform, MPType init,
                                int reduce_num, int left_num, int block_num) {
  const int num = left_num - static_cast<int>(blockIdx.x * blockDim.x);
  if (num >= static_cast<int>(blockDim.x)) {
    ReduceColumns<Tx, Ty, MPType, ReduceOp, TransformOp, false>(x, y, reducer, transform, init, reduce_num, left_num,
                                                                block_num);
  } else {
    ReduceColumns<Tx, Ty, MPType, ReduceOp, TransformOp, true>(x, y, reducer, transform, init, reduce_num, left_num,
                                                               block_num);
  }
}

}  // namespace example
"""


@dataclass(frozen=True)
class Example:
    """A kernel template, one instance of it, and a call.

    Attributes
    ----------
    name, source, instance : str
    arguments : tuple
        The C++ type of each argument, its type in ctypes, and the value: an ndarray for an address.
    wanted : ndarray
        The expected contents of the last array.
    out : int
        The index of this array among the arguments.
    """

    name: str
    source: str
    instance: str
    arguments: tuple[tuple[str, Any, Any], ...]
    wanted: NDArray
    out: int
    grid: Shape
    block: Shape

    def __str__(self) -> str:
        return self.name


def examples() -> tuple[Example, ...]:
    random = np.random.default_rng(2)
    found = []
    for size in (1, 255, 1024, 5000):
        x, y = (random.normal(size=size).astype(np.float32) for _ in range(2))
        arguments = (
            ("const float*", ctypes.c_uint64, x),
            ("const float*", ctypes.c_uint64, y),
            ("double*", ctypes.c_uint64, np.zeros(size)),
            ("int", ctypes.c_int, size),
        )
        found.append(
            Example(f"add {size}", ADD, "example::ElementwiseAdd<4, float, double>", arguments,
                    (x + y).astype(np.float64), 2, (2, 1, 1), (64, 1, 1))
        )  # fmt: skip
    add, same = "kps::AddFunctor<double>", "kps::IdentityFunctor<float, double>"
    for outer, rows, columns, step in ((1, 10, 32, 4), (2, 7, 45, 3), (3, 1, 5, 8)):
        x = random.integers(-99, 99, (outer, rows, columns)).astype(np.float32)
        parts = -(-rows // step)
        sums = [x[:, step * i : step * i + step].sum(1) for i in range(parts)]
        wanted = (np.stack(sums, axis=1) + 1).astype(np.float32)
        arguments = (
            ("const float*", ctypes.c_uint64, x),
            ("float*", ctypes.c_uint64, np.zeros_like(wanted)),
            (add, ctypes.c_char, b"\0"),
            (same, ctypes.c_char, b"\0"),
            ("double", ctypes.c_double, 1.0),
            ("int", ctypes.c_int, rows),
            ("int", ctypes.c_int, columns),
            ("int", ctypes.c_int, step),
        )
        found.append(
            Example(f"reduce {outer} x {rows} x {columns}", REDUCE,
                    f"example::ReduceHigherDim<float, float, double, {add}, {same}>", arguments, wanted, 1,
                    (-(-columns // 16), parts, outer), (16, 1, 1))
        )  # fmt: skip
    return tuple(found)


EXAMPLES = examples()


def emulated(example: Example) -> NDArray:
    """The result of the example on the emulated GPU, where a kernel takes one structure of arguments."""
    fields = "\n".join(f"  {kind} a{i};" for i, (kind, _, _) in enumerate(example.arguments))
    passed = ", ".join(f"p.a{i}" for i in range(len(example.arguments)))
    source = (
        f"{example.source}\nstruct Params {{\n{fields}\n}};\n"
        f"void xpops_kernel(Params p) {{ {example.instance}({passed}); }}\n{EPILOGUE}"
    )
    library = build(source, *FLAGS, first=EMULATOR)
    library.emulate_kernel.restype = ctypes.c_char_p
    blocks = {i: placed(value) for i, (_, _, value) in enumerate(example.arguments) if isinstance(value, np.ndarray)}
    fields_of = [(f"a{i}", kind) for i, (_, kind, _) in enumerate(example.arguments)]
    structure = type("Params", (ctypes.Structure,), {"_fields_": fields_of})
    values = [blocks[i].address if i in blocks else value for i, (_, _, value) in enumerate(example.arguments)]
    shape = (ctypes.c_uint * 6)(*example.grid, *example.block)
    error = library.emulate_kernel(ctypes.byref(structure(*values)), shape, 1)
    if error:
        raise KernelError(error.decode())
    for block in blocks.values():
        block.check()
    return taken(blocks[example.out].address, example.wanted)
