"""Cases for the primitives of a whole block: reductions, scans, sorting. NumPy computes the expected results."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.helpers.kps import BFLOAT16, Case, NDArray, Shape, c_type, some, zeros

# Reductions

BLOCKS: tuple[Shape, ...] = (
    (1, 1, 1), (8, 4, 1), (32, 2, 1), (96, 1, 1), (64, 3, 1), (5, 7, 1), (24, 1, 1), (100, 2, 1), (1024, 1, 1),
    (4, 3, 2), (32, 32, 1), (1, 6, 1), (16, 3, 1), (2, 2, 3), (256, 4, 1),
)  # fmt: skip


def reductions() -> Iterator[Case]:
    body = """
      const int n = blockDim.x * blockDim.y * blockDim.z;
      const int self = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      const auto global = [&](T* out, bool last) {
        T r[2] = {in0[self], in0[n + self]};
        kps::Reduce<T, 2, 1, Op, kps::details::ReduceMode::kGlobalMode>(r, r, Op(), last);
        out[self] = r[0]; out[n + self] = r[1];
      };
      global(out0, true);
      global(out1, false);
      const T all = kps::details::WarpReduce<T, Op>(in0[self], Op());
      if (self % 32 == 0) out2[self / 32] = all;
    """
    ops: list[tuple[str, str, Any, int]] = [
        ("float32", "Add", np.add, 100), (BFLOAT16, "Max", np.maximum, 100), ("int64", "Min", np.minimum, 100),
        ("complex128", "Add", np.add, 100), ("bool", "LogicalAnd", np.logical_and, 2),
    ]  # fmt: skip
    for (dtype, name, op, high), block in itertools.product(ops, BLOCKS):
        x = some(dtype, 2, *block[::-1], high=high)
        n, flat = math.prod(block), x[0].reshape(-1)
        over = [np.broadcast_to(op.reduce(x, axis=axis, keepdims=True), x.shape).astype(dtype) for axis in (3, 2)]
        warps = np.array([op.reduce(flat[i : i + 32]) for i in range(0, n, 32)]).astype(dtype)
        preamble = f"using T = {c_type(x)};\nusing Op = kps::{name}Functor<T>;"
        outputs = (*(zeros(dtype, *x.shape) for _ in over), zeros(dtype, warps.size))
        yield Case(f"{name} of {x.dtype.name} in {block}", body, (x,), outputs, (*over, warps), block=block,
                   preamble=preamble)  # fmt: skip
    body = """
      float in[6], out[2] = {in1[0], in1[1]}, one = kps::MaxFunctor<float>().initial();
      for (int i = 0; i < 6; ++i) in[i] = in0[6 * threadIdx.x + i];
      using Add = kps::AddFunctor<float>; using Max = kps::MaxFunctor<float>;
      kps::Reduce<float, 3, 2, Add, kps::details::ReduceMode::kLocalMode>(out, in, Add(), false);
      kps::Reduce<float, 6, 1, Max, kps::details::kLocalMode>(&one, in, Max(), true);
      out0[3 * threadIdx.x] = out[0]; out0[3 * threadIdx.x + 1] = out[1]; out0[3 * threadIdx.x + 2] = one;
    """
    x, y = some("float32", 32, 2, 3, low=-50), some("float32", 2)
    wanted = np.concatenate([x.sum(2) + y, x.reshape(32, 6).max(1, keepdims=True)], axis=1)
    yield Case("registers of a thread", body, (x, y), (zeros("float32", 32, 3),), (wanted,))


def shuffles() -> Iterator[Case]:
    """Values of lanes above, in groups of lanes; lanes without one keep their own."""
    body = "out0[threadIdx.x] = kps::details::CudaShuffleDownSync(0xffffffff, in0[threadIdx.x], %d, %d);"
    for dtype, reach, width in (("float32", 5, 32), ("complex128", 1, 16), (BFLOAT16, 3, 8), ("int64", 8, 8)):
        x, lanes = some(dtype, 32), np.arange(32)
        above = np.where(lanes % width + reach < width, lanes + reach, lanes)
        yield Case(f"shuffle {dtype}", body % (reach, width), (x,), (zeros(dtype, 32),), (x[above],))


# Prefixes

LATER = "struct Later { XPOPS_DEVICE int operator()(int a, int b) const { return b ? b : a; } };  // does not commute\n"


def prefixes() -> Iterator[Case]:
    body = """
      const int n = blockDim.x, self = threadIdx.x;
      for (int round = 0; round < 2; ++round) {  // shared memory is used again
        const T in[2] = {in0[2 * n * round + self], in0[2 * n * round + self + n]};
        R out[2];
        kps::Cumsum<T, R, Op>(out, in, Op());
        out0[2 * n * round + self] = out[0];
        out0[2 * n * round + self + n] = out[1];
      }
    """
    kinds: list[tuple[str, str, str, Callable[[NDArray], NDArray]]] = [
        ("float32", "int64", "kps::AddFunctor<T>", lambda x: x.cumsum(1)),
        ("complex128", "complex128", "kps::AddFunctor<T>", lambda x: x.cumsum(1)),
        ("int16", "int16", "kps::MaxFunctor<T>", lambda x: np.maximum.accumulate(x, 1)),
        ("int32", "int32", "Later", last_nonzero),
    ]
    for (dtype, result, op, accumulate), threads in itertools.product(
        kinds, (1, 2, 7, 31, 32, 33, 63, 64, 100, 500, 512)
    ):
        x = some(dtype, 2, 2 * threads, high=40) * some(dtype, 2, 2 * threads, high=2)
        wanted = accumulate(x).astype(result)
        preamble = f"{LATER}using T = {c_type(x)};\nusing R = {c_type(wanted)};\nusing Op = {op};"
        yield Case(f"prefixes of {dtype} by {op}, {threads} threads", body, (x,), (zeros(result, *x.shape),), (wanted,),
                   block=(threads, 1, 1), preamble=preamble)  # fmt: skip


def last_nonzero(x: NDArray) -> NDArray:
    places = np.maximum.accumulate(np.where(x != 0, np.arange(x.shape[1]), 0), axis=1)
    return np.take_along_axis(x, places, axis=1)


# Sorting

SORT_BODY = """
  const int n = blockDim.x, self = threadIdx.x, num = in1[0];
  const T in[2] = {in0[self], in0[self + n]};
  int at[2] = {3 * self, 3 * (self + n)};
  for (int ascending = 0; ascending < 2; ++ascending) {
    R alone[2], values[2]; int indices[2] = {-1, -1};
    kps::Init<R, 2>(alone, cast<R>(77));
    kps::Init<R, 2>(values, cast<R>(77));
    kps::Sort<T, R>(alone, in, num, ascending);
    kps::Sort<T, R, int>(values, indices, in, at, num, ascending);
    for (int i = 0; i < 2; ++i) {
      const int place = 2 * n * ascending + self + i * n;
      out0[place] = alone[i]; out1[place] = values[i]; out2[place] = indices[i];
    }
  }
"""


def sorting() -> Iterator[Case]:
    pairs: list[tuple[Any, Any]] = [
        ("float32", "float32"), ("uint8", "float16"), ("int64", "int64"), (BFLOAT16, BFLOAT16), ("float64", "float32"),
        ("bool", "int32"), ("float16", "float64"),
    ]  # fmt: skip
    for (dtype, result), threads in itertools.product(pairs, (1, 5, 32, 100, 512)):
        for num in sorted({0, 1, min(3, 2 * threads), threads, 2 * threads - 1, 2 * threads}):
            x = some(dtype, 2 * threads, low=0 if np.dtype(dtype).kind in "bu" else -60, high=60)
            if np.dtype(dtype).kind == "f":
                x[:: max(threads // 3, 2)] = np.nan
                x[1::7], x[2::9] = np.inf, -np.inf
            rank = x.astype(np.float64)
            wanted = [np.full((2, 2 * threads), 77, np.float64).astype(result) for _ in range(2)]
            indices = np.full((2, 2 * threads), -1, np.int32)
            for ascending in (0, 1):
                keys = np.where(np.isnan(rank), np.inf, rank if ascending else -rank)[:num]
                order = np.lexsort((np.isnan(rank[:num]), keys))
                wanted[0][ascending, :num] = wanted[1][ascending, :num] = x[order].astype(result)
                indices[ascending, :num] = 3 * order
            preamble = f"using T = {c_type(x)};\nusing R = {c_type(zeros(result, 1))};"
            name = f"sorting {num} of {x.dtype.name} by {threads} threads"
            outputs = (*(zeros(result, *each.shape) for each in wanted), zeros("int32", *indices.shape))
            yield Case(name, SORT_BODY, (x, np.array([num], np.int32)), outputs, (*wanted, indices),
                       block=(threads, 1, 1), preamble=preamble)  # fmt: skip
    body = """
      const int n = blockDim.x, self = threadIdx.x;
      const float in[2] = {in0[self], in0[self + n]};
      float all[2], same[2], few[2] = {-1, -1};
      int at[2] = {self, self + n}, further[2] = {100 + self, 100 + self + n}, first[2], second[2];
      kps::Sort<float, float>(all, in, 2 * n, 1);
      kps::Sort<float, float>(few, in, 3, 1);
      kps::Sort<float, float, int>(same, first, in, at, 2 * n, 1);
      kps::Sort<float, float, int>(same, second, in, further, 2 * n, 1);
      for (int i = 0; i < 2; ++i) {
        const int place = 2 * n * blockIdx.x + self + i * n;
        out0[place] = all[i]; out1[place] = few[i]; out2[place] = first[i]; out3[place] = second[i];
      }
    """
    x = some("float32", 64)
    order = np.argsort(x, stable=True).astype(np.int32)
    twice = (np.sort(x), np.append(np.sort(x[:3]), np.full(61, -1, np.float32)), order, order + np.int32(100))
    outputs = tuple(zeros(each.dtype, 2, 64) for each in twice)
    yield Case("sorting twice", body, (x,), outputs, tuple(np.stack([each, each]) for each in twice), grid=(2, 1, 1))
    body = """
      using namespace kps::details;
      float a = 1, b = 2; int i = 10, j = 20;
      Swap(&a, &b);
      out0[0] = a;                                                            // 2, 1
      Comparator(&a, &b, 1); out0[1] = a;                                     // 1, 2
      Comparator(&a, &b, 1); out0[2] = a;                                     // stay
      Comparator(&a, &b, 0); out0[3] = a;                                     // 2, 1
      ComparatorWithIndex(&a, &b, &i, &j, 1); out0[4] = a; out0[5] = i;       // 1, 2 and 20, 10
      b = a;
      ComparatorWithIndex(&a, &b, &i, &j, 0); out0[6] = i;                    // equal ones stay
      const int numbers[] = {-5, 0, 1, 2, 3, 64, 100, 2147483647};
      for (int n = 0; n < 8; ++n) out1[n] = GetLastPow2(numbers[n]);
      out2[threadIdx.y * blockDim.x + threadIdx.x] = SharedMemoryIndex(2);
    """
    powers = np.array([1, 1, 1, 2, 2, 64, 64, 2**30], np.int32)
    yield Case("comparators", body, (), (zeros("float32", 7), zeros("int32", 8), zeros("int32", 6)),
               (np.array([2, 1, 1, 2, 1, 20, 20], np.float32), powers, np.arange(6, 12, dtype=np.int32)),
               block=(3, 2, 1))  # fmt: skip


# Configurations from the host

EDGES = [1, 2, 3, 5, 7, 10, 641, 2**16 - 1, 2**16, 2**16 + 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1]


def configurations() -> Iterator[Case]:
    divisors, numbers = np.array(EDGES, np.uint32), np.array([0, *EDGES, *range(100, 110)], np.uint32)
    body = f"""
      const kps::FastDivMod d(in0[threadIdx.x]);
      for (int i = 0; i < {numbers.size}; ++i) {{
        const kps::FastDivMod::DivModT both = d.Divmod(in1[i]);
        const int at = threadIdx.x * {numbers.size} + i;
        out0[at] = both.val[0]; out1[at] = both.val[1]; out2[at] = d.Div(in1[i]);
      }}
    """
    quotients, rests = np.divmod(numbers[None], divisors[:, None])
    outputs = tuple(zeros("uint32", *quotients.shape) for _ in range(3))
    yield Case("division", body, (divisors, numbers), outputs, (quotients, rests, quotients),
               block=(len(EDGES), 1, 1))  # fmt: skip
    body = """
      kps::DimConfig config(1, 2, 3, 4, 5, 6);
      out0[0] = config.rem_x + config.rem_y + config.rem_z;
      config.SetRem(7, 8, 9);
      const int all[] = {config.split_num_x, config.split_num_y, config.split_num_z, config.deal_size_x,
                         config.deal_size_y, config.deal_size_z, config.rem_x, config.rem_y, config.rem_z};
      for (int i = 0; i < 9; ++i) out0[1 + i] = all[i];
      const kps::FastDivMod nothing(0);
      out0[10] = nothing.Div(5);
      out0[11] = sizeof(kps::IndexType) + VecSizeL + VecSizeM + VecSizeS;
      const unsigned place[] = {THREAD_ID_X, THREAD_ID_Y, THREAD_ID_Z, BLOCK_NUM_X, BLOCK_NUM_Y, BLOCK_NUM_Z,
                                BLOCK_ID_X, BLOCK_ID_Y, BLOCK_ID_Z, GRID_NUM_X, GRID_NUM_Y, GRID_NUM_Z};
      const unsigned block = (place[8] * place[10] + place[7]) * place[9] + place[6];
      const unsigned thread = (place[2] * place[4] + place[1]) * place[3] + place[0];
      out1[block * place[3] * place[4] * place[5] + thread] = place[11] * block + thread;
    """
    grid, block = (2, 3, 2), (2, 4, 3)
    places = 2 * np.arange(12)[:, None] + np.arange(24)
    wanted = (np.array([0, *range(1, 10), 5, 15], np.int32), places.astype(np.int32))
    outputs = (zeros("int32", 12), zeros("int32", 12, 24))
    yield Case("other configurations", body, (), outputs, wanted, block=block, grid=grid)
