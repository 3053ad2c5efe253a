"""Examples from the document on Paddle's kernel primitives: its two kernels and its functors."""

from __future__ import annotations

import numpy as np

from conformance.sources.example import ALL, COUNT, TYPES, Change, Example, NDArray, driver, numbers
from conformance.sources.oneflow import HOST
from conformance.sources.paddle_primitives import COMPUTES, MACROS, PADDLE, READS, THREADS

# A block size, which the document's reference does not have.
NO_SIZE = (Change("1, IsBoundary>", "1, 1, IsBoundary>"), Change("1, OpFunc>", "1, 1, OpFunc>"))

KERNELS = (
    Example(
        "ElementwiseAdd",
        ("AddFunctor", "ElementwiseAddImpl", "ElementwiseAdd"),
        lambda each: each["x"] + each["y"],
        changes=(
            PADDLE,
            Change("using namespace xpops::kps;"),
            *NO_SIZE,
            Change("::AddFunctor<InT>", "AddFunctor<InT, OutT>"),
            Change("ReadData<InT, VecSize", "ReadData<InT, InT, VecSize"),
            Change("static_cast<InT>", "static_cast<OutT>"),
        ),
        kernel="ElementwiseAdd",
        types=tuple(f"4, {each}, {each}" for each in TYPES),
        arrays=lambda: numbers(x=(203,), y=(203,), out=(203,)),
        call=lambda kernel, x, y, out: kernel(2, 32, (x, y, out, 203)),
    ),
    Example(
        "ReduceHigherDimKernel",
        ("IdentityFunctor", "AddFunctor#2", "HigherDimImpl", "ReduceHigherDimKernel"),
        lambda each: each["x"].sum(0),
        changes=(
            PADDLE,
            Change("1, NY, IsBoundary>", "1, NY, 1, IsBoundary>"),
            Change("NY, 1, TransformOp>", "REDUCE_VEC_num, 1, 1, TransformOp>"),
            Change("Reduce<MPType, NY, 1, ReduceOp", "Reduce<MPType, NY, 1, 1, ReduceOp"),
            Change("1, 1, IsBoundary>(y", "1, 1, 1, IsBoundary>(y"),
            Change("block_num : loop", "block_size : loop"),
            Change("num, NY * left_num, 1, left_num", "num, NY, 1, left_num"),
            Change("HOSTDEVICE IdentityFunctor() {}\n  HOSTDEVICE explicit", "HOSTDEVICE explicit"),
        ),
        kernel="ReduceHigherDimKernel",
        types=tuple(f"{each}, {each}, {each}, AddFunctor<{each}>, IdentityFunctor<{each}>" for each in TYPES),
        arrays=lambda: numbers(x=(6, 50), out=(50,)),
        call=lambda kernel, x, out: kernel((2, 1, 1), 32, (x, out, b"\0", b"\0", out.dtype.type(0), 6, 50, 6)),
    ),
)


def unary(
    name: str, takes: tuple[str, ...], made: str, wanted: NDArray, *changes: Change, types: tuple[str, ...] = TYPES
) -> Example:
    """A functor of one operand, for x = 1, 2, ..."""
    return Example(
        name, takes, lambda each: wanted, (MACROS, *changes), driver(f"out[i] = {made}(static_cast<T>(i % 8 + 1));"),
        types=types,
    )  # fmt: skip


def binary(name: str, number: str, wanted: NDArray, *changes: Change, types: tuple[str, ...] = TYPES) -> Example:
    """A functor of two operands, for x = 1, 2, ... 8 and y = 4; its initial() must compile, too."""
    made = f"{name}<T>()(static_cast<T>(i % 8 + 1), static_cast<T>(4))"
    takes = (name + number, "DivFunctor#2") if name == "DivFunctor" else (name + number,)
    return Example(
        name + number, takes, lambda each: wanted, changes,
        driver(f"out[i] = {made}; if (i < 0) out[i] = {name}<T>().initial();"), types=types,
    )  # fmt: skip


X = ALL % 8 + 1.0
FUNCTORS = (
    unary("ExpFunctor", ("details::Exp#2", "details::Exp#3", "details::Log#2", "details::Log#3", "ExpFunctor"),
          "ExpFunctor<T>(3)", np.exp(X), types=("float", "double")),
    unary("IdentityFunctor", ("IdentityFunctor#2",), "IdentityFunctor<T>(3)", X),
    unary("DivideFunctor", (*(f"phi::dtype::MPTypeTrait{each}" for each in ("", "#2", "#3")), "DivideFunctor"),
          "DivideFunctor<T>(1)", X,
          Change("namespace phi::dtype { using xpops::float16; using xpops::bfloat16; }")),
    unary("InverseFunctor", ("InverseFunctor",), "InverseFunctor<T>(3)", -X),
    unary("SquareFunctor", ("SquareFunctor",), "SquareFunctor<T>(3)", X * X),
    binary("MinFunctor", "", np.minimum(X, 4)),
    binary("MaxFunctor", "", np.maximum(X, 4)),
    binary("AddFunctor", "#3", X + 4),
    binary("MulFunctor", "", X * 4),
    binary("LogicalOrFunctor", "", np.ones(COUNT), types=("float", "double", "int")),
    binary("LogicalAndFunctor", "", np.ones(COUNT), types=("float", "double", "int")),
    binary("SubFunctor", "", X - 4, MACROS),
    binary("DivFunctor", "", X / 4, PADDLE, types=("float", "double", "xpops::float16")),
    binary("FloorDivFunctor", "", np.trunc(X / 4), PADDLE, types=("float", "double")),
)  # fmt: skip


EXAMPLES = (*KERNELS, *FUNCTORS, *READS, *COMPUTES, *THREADS)
LEFT_OUT = {
    **dict.fromkeys(("KPStream", "KPDevice", "#include"), "names of Paddle's own types and files"),
    **dict.fromkeys(
        (
            "_ptr_", "__simd__", "VecSizeL", "VecSizeM", "VecSizeS",
            *(f"{name}_{axis}" for name in ("THREAD_ID", "BLOCK_NUM", "BLOCK_ID", "GRID_NUM") for axis in "XYZ"),
        ),
        "in `<xpops/kps/macros.cuh>`",
    ),
    "BroadcastConfig": f"{HOST} (std::vector): `xp.kernel.broadcast_config`, and the class of `<xpops/kps.cuh>`",
    **dict.fromkeys(
        ("ReadData#2", "ReadData#4", "ReadDataBc", "WriteData#2", "WriteData#4"),
        "declared only; its definition follows",
    ),
    **dict.fromkeys(("exp", "log", "Exp", "Log"), "specialises functions of Eigen"),
    **dict.fromkeys(
        ("CudaShuffleDownSync#2", "CudaShuffleDownSync#3", "CudaShuffleDownSync#4"),
        "calls members of Paddle's own types",
    ),
    "GetLastPow2": f"{HOST} (static inline)",
    "ReduceMode": "in `<xpops/kps.cuh>`",
    **dict.fromkeys(
        (
            "for", "offset > 0", "offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset)",
            "# Sequential", "out", "out#2", "# Parallel", "temp", "all_prefix_sums", "Sweep", "Algorithm",
            "#undef SHARED_SIZE_LIMIT",
            "# Macro Used for Computing Bank-Conflict-Free Shared Memory Array Indices",
        ),
        "a fragment or pseudocode",
    ),
}  # fmt: skip
