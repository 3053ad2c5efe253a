"""Examples from the document on Paddle's kernel primitives: reading, writing, computing, and whole blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.sources.example import ALL, COUNT, TYPES, Arrays, Change, Example, NDArray, driver

PADDLE = Change("#include <xpops/names/paddle.cuh>")
DETAILS = Change("namespace details = xpops::kps::details;")
MACROS = Change("#include <xpops/kps/macros.cuh>")


def runs(each: Arrays) -> NDArray:
    return each["x"]


# A block of 16 threads, each with 4 elements.
READS = (
    Example("VectorType", ("VectorType",), runs,
            driver=driver("if (i < n / 2) reinterpret_cast<VectorType<T, 2>*>(out)[i] = "
                          "reinterpret_cast<const VectorType<T, 2>*>(x)[i];"), types=TYPES),
    Example("FastDivMod", ("VectorType", "FastDivMod"), lambda each: ALL // 7 + 64.0 * (ALL % 7),
            changes=(MACROS, Change("#define INT_BITS 32")),
            driver=driver("const auto two = FastDivMod(7).Divmod(i); out[i] = two.val[0] + 64 * two.val[1];")),
    Example("DimConfig", ("IndexType", "DimConfig"), lambda each: np.full(COUNT, 1.0 + 6 + 9), changes=(MACROS,),
            driver=driver("DimConfig found(1, 2, 3, 4, 5, 6); found.SetRem(7, 8, 9);\n"
                          "  out[i] = found.split_num_x + found.deal_size_z + found.rem_z + IndexType(0);")),
    Example("ReadData, WriteData of one thread", ("ReadData", "WriteData"), runs,
            driver=driver("T one; ReadData(&one, x + i, 1); WriteData(out + i, &one, 1);"), types=TYPES),
    Example("Init", ("Init", "Init#2", "Init#3"), lambda each: np.full(COUNT, 15.0),
            changes=(PADDLE, Change("kps::get<Index>", "std::get<Index>")),
            driver=driver("T a[2]; ::Init<T, 2>(a, T(3)); T b[2]; ::Init<T, 2>(b, T(4), 2); kps::Tuple<int, T> c[1];\n"
                          "  ::Init<T, kps::Tuple<int, T>, 1, 1>(c, T(8), 1);\n"
                          "  out[i] = a[1] + b[0] + kps::get<1>(c[0]);"),
            types=TYPES),
    Example("InitWithDataIndex", ("InitWithDataIndex",), lambda each: 2.0 * ALL + 2 * ALL + 1,
            driver=driver("T a[2]; InitWithDataIndex<T, 2, 1>(a, 0); out[i] = a[0] + a[1];"), types=TYPES),
    Example("ReadData, WriteData of tiles", ("ReadData#3", "WriteData#5"), runs,
            driver=driver("T a[4]; if (i >= 16) return;\n"
                          "  ReadData<T, T, 2, 2, true>(a, x, 32, 64, 16, 32);\n"
                          "  WriteData<T, T, 2, 2>(out, a, 32, 64, 16, 32);"), types=TYPES),
    Example("ReadData, WriteData of runs", ("details::VectorType", "ReadData#5", "WriteData#3"), runs,
            driver=driver("T a[4]; if (i >= 16) return;\n"
                          "  ReadData<T, 4, 1>(a, x, n); WriteData<T, 4, 1, true>(out, a, n - 1);\n"
                          "  if (i == 15) out[n - 1] = a[3];"), types=TYPES),
    Example("ReadData into tuples", ("details::VectorType", "ReadData#6"), runs,
            changes=(Change("#include <xpops/kps/tuple.cuh>"), Change("xpops::kps::get<Index>", "std::get<Index>")),
            driver=driver("using Pair = xpops::kps::Tuple<int, T>; Pair a[4]; if (i >= 16) return;\n"
                          "  ReadData<T, 4, 1, Pair, 1>(a, x, n, 4);\n"
                          "  for (int k = 0; k < 4; ++k) out[4 * i + k] = xpops::kps::get<1>(a[k]);"), types=TYPES),
    Example("ReadDataBc of tiles", ("ReadDataBc#2",), lambda each: each["x"][ALL % 8],
            changes=(PADDLE, DETAILS),
            driver=driver("T a[1]; const unsigned out_dims[] = {8, 8}, in_dims[] = {8, 1};\n"
                          "  const details::BroadcastConfig config(out_dims, in_dims, 2);\n"
                          "  ReadDataBc<T, 1, 1, true>(a, x, 0, config, n, 1, 1); out[i] = a[0];"), types=TYPES),
    Example("ReadDataBc of runs", ("ReadDataBc#3",), lambda each: each["x"][ALL // 8],
            changes=(PADDLE, DETAILS),
            driver=driver("T a[4]; const unsigned out_dims[] = {8, 8}, in_dims[] = {1, 8};\n"
                          "  const details::BroadcastConfig config(out_dims, in_dims, 2); if (i >= 16) return;\n"
                          "  ReadDataBc<T, 4, 1>(a, x, 0, config, n);\n"
                          "  for (int k = 0; k < 4; ++k) out[4 * i + k] = a[k];"), types=TYPES),
    Example("ReadDataReduce", ("ReadDataReduce",), lambda each: 2 * each["x"],
            driver=driver("T a[1]; ReadDataReduce<T, T, 1, 1, 1, Same, Twice, true>(\n"
                          "      a, x, 0, Same(), 1, n, 1, n, Twice(), true); out[i] = a[0];",
                          "struct Same { __device__ int operator()(int i) const { return i; } };\n"
                          "struct Twice { template <class T> __device__ T operator()(T x) const { return x + x; } };"),
            types=TYPES),
)  # fmt: skip

# The last sizes of the network are missing.
SIZES = Change("size <= upper_bound", "size < upper_bound")
ADD = "struct Add { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };"
SWAPS = ("details::Swap", "details::Comparator", "details::ComparatorWithIndex", "details::GetLastPow2#2")


def total(each: Arrays) -> NDArray:
    return np.full(COUNT, each["x"].sum())


def half_block(kernel: Any, x: Any, y: Any, out: Any) -> None:
    """Launch with a thread for each two elements."""
    kernel(1, COUNT // 2, (x, y, out, COUNT))


def elementwise(name: str, statements: str, wanted: float, before: str = ADD) -> Example:
    """A primitive that computes on registers."""
    return Example(name, (name,), lambda each: np.full(COUNT, wanted), driver=driver(statements, before), types=TYPES)


COMPUTES = (
    elementwise("ElementwiseUnary",
                "T a[2] = {T(1), T(2)}; ElementwiseUnary<T, T, 2, 1, Next>(a, a, Next()); out[i] = a[1];", 3,
                "struct Next { template <class T> __device__ T operator()(T a) const { return a + T(1); } };"),
    elementwise("ElementwiseBinary",
                "T a[2] = {T(1), T(2)}; ElementwiseBinary<T, T, 2, 1, Add>(a, a, a, Add()); out[i] = a[1];", 4),
    elementwise("ElementwiseTernary",
                "T a[1] = {T(2)}; ElementwiseTernary<T, T, 1, 1, Sum>(a, a, a, a, Sum()); out[i] = a[0];", 6,
                "struct Sum {\n"
                "  template <class T> __device__ T operator()(T a, T b, T c) const { return a + b + c; }\n};"),
    elementwise("ElementwiseAny",
                "T a[2][1] = {{T(2)}, {T(3)}}; T b[1];\n"
                "  ElementwiseAny<T, T, 1, 1, 2, Sum>(b, a, Sum()); out[i] = b[0];", 5,
                "struct Sum { template <class T> __device__ T operator()(const T* a) const { return a[0] + a[1]; } };"),
    elementwise("CycleBinary", "T a[1] = {T(2)}, b[2] = {T(3), T(4)}, c[2];\n"
                "  CycleBinary<T, T, 1, 2, Add>(c, a, b, Add()); out[i] = c[0] + c[1];", 11),
    elementwise("ElementwiseConstant", "T a[2]; ElementwiseConstant<T, T, 2, 1, Five>(a, Five()); out[i] = a[1];", 5,
                "struct Five { __device__ float operator()() const { return 5; } };"),
    elementwise("ElementwiseRandom", "T a[4]; int state = 2;\n"
                "  ElementwiseRandom<int, T, 4, Four>(a, Four(), &state); out[i] = a[3];", 8,
                "struct Four { __device__ float4 operator()(int* s) const { return {1, 2, 4, 4.0f * *s}; } };"),
)  # fmt: skip
THREADS = (
    Example("CREATE_SHFL_MASK, CudaShuffleDownSync",
            ("FULL_MASK", "FULL_WARP_MASK", "CREATE_SHFL_MASK", "CudaShuffleDownSync"),
            lambda each: each["x"][np.where(ALL % 32 < 16, ALL + 16, ALL)],
            driver=driver("unsigned mask; CREATE_SHFL_MASK(mask, true);\n"
                          "  out[i] = CudaShuffleDownSync(mask & FULL_MASK, x[i], 16);"),
            types=("float", "double", "int")),
    Example("WarpReduce", ("details::kWarpSize", "WarpReduce"),
            lambda each: np.where(ALL % 32, 0, each["x"].reshape(2, 32).sum(1).repeat(32)), changes=(PADDLE,),
            driver=driver("const T sum = WarpReduce(x[i], Add()); if (i % 32 == 0) out[i] = sum;", ADD), types=TYPES),
    Example("BlockXReduce", ("details::kWarpSize", "WarpReduce", "BlockXReduce"), total, changes=(PADDLE,),
            driver=driver("out[i] = BlockXReduce(x[i], Add());", ADD), types=TYPES),
    Example("BlockYReduce", ("SharedMemoryIndex", "BlockYReduce"),
            lambda each: np.tile(each["x"].reshape(4, 16).sum(0), 4),
            driver=driver("const int at = threadIdx.y * 16 + threadIdx.x; out[at] = BlockYReduce(x[at], Add());", ADD),
            call=lambda kernel, x, y, out: kernel(1, (16, 4), (x, y, out, COUNT)), types=TYPES),
    Example("Reduce", ("Reduce",), total, changes=(PADDLE, DETAILS),
            driver=driver("T a[1] = {x[i]}, b[1] = {T(0)};\n"
                          "  Reduce<T, 1, 1, Add, details::ReduceMode::kLocalMode>(b, a, Add(), true);\n"
                          "  Reduce<T, 1, 1, Add, details::ReduceMode::kGlobalMode>(b, b, Add(), true);\n"
                          "  out[i] = b[0];", ADD),
            types=TYPES),
    Example("Cumsum", ("SHARED_SIZE_LIMIT", "Cumsum"), lambda each: np.cumsum(each["x"]),
            driver=driver("T a[2] = {x[i], x[i + n / 2]}; Cumsum<T, T, Add>(a, a, Add());\n"
                          "  out[i] = a[0]; out[i + n / 2] = a[1];", ADD), call=half_block, types=TYPES),
    Example("Swap, Comparator, ComparatorWithIndex", ("Swap", "Comparator", "ComparatorWithIndex"),
            lambda each: np.minimum(each["x"], each["y"]),
            driver=driver("T a = x[i], b = y[i]; int k = 0, j = 1;\n"
                          "  Comparator<T>(&a, &b, 0); Comparator<T>(&a, &b, 1);\n"
                          "  ComparatorWithIndex<T, int>(&a, &b, &k, &j, 1); out[i] = a;"), types=TYPES),
    Example("GetLastPow2", ("GetLastPow2#2",), lambda each: 2.0 ** np.floor(np.log2(np.maximum(ALL, 1))),
            driver=driver("out[i] = GetLastPow2(i);")),
    # Its last brace is missing, and it shifts 32 bits by 32.
    Example("hight_bit", ("hight_bit",), lambda each: 2.0 ** np.floor(np.log2(ALL + 1)),
            changes=(Change("return (x+1) >> 1; }", "return (x+1) >> 1;"), Change("", "x= x|(x>>32);")),
            driver=driver("out[i] = hight_bit(i + 1);")),
    Example("Sort", (*SWAPS, "SHARED_SIZE_LIMIT#2", "Sort"), lambda each: np.sort(each["x"]),
            driver=driver("T a[2] = {x[i], x[i + n / 2]}; Sort<T, T>(a, a, n, 1);\n"
                          "  out[i] = a[0]; out[i + n / 2] = a[1];"),
            changes=(SIZES,), call=half_block, types=TYPES),
    Example("Sort with indices", (*SWAPS, "SHARED_SIZE_LIMIT#2", "Sort#2"), lambda each: np.sort(each["x"]),
            driver=driver("T a[2] = {x[i], x[i + n / 2]}; int k[2] = {i, i + n / 2};\n"
                          "  Sort<T, T, int>(a, k, a, k, n, 1); out[i] = x[k[0]]; out[i + n / 2] = x[k[1]];"),
            changes=(SIZES,), call=half_block, types=TYPES),
    Example("CONFLICT_FREE_OFFSET", ("NUM_BANKS", "LOG_NUM_BANKS", "CONFLICT_FREE_OFFSET"),
            lambda each: (ALL >> (16 + ALL)) >> 8, driver=driver("out[i] = CONFLICT_FREE_OFFSET(i % 8);")),
    Example("kReduceMaxThread", ("kReduceMaxThread",), lambda each: np.full(COUNT, 128.0),
            driver=driver("out[i] = kReduceMaxThread;")),
)  # fmt: skip
