"""Examples from the documents on OneFlow's elementwise template, FastAtomicAdd and UpsampleNearest2D."""

from __future__ import annotations

import numpy as np

from conformance.sources.example import COUNT, Change, Example, driver, numbers

HALF = Change("#include <cuda_fp16.h>")
FLOATING = ("float", "double", "half")

ELEMENTWISE = (
    Example(
        "relu_kernel",
        ("relu_kernel",),
        lambda each: np.maximum(each["x"], 0),
        kernel="relu_kernel",
        types=("",),
        arrays=lambda: {"x": numbers(out=(COUNT,), x=(COUNT,))["x"] - 3, "out": np.zeros(COUNT)},
        call=lambda kernel, x, out: kernel(2, COUNT // 2, (x, out)),
    ),
    Example(
        "MultiplyFunctor",
        ("MultiplyFunctor",),
        lambda each: each["x"] * each["y"],
        # The document defines OF_DEVICE_FUNCTION, and uses this.
        changes=(Change("#define OF_DEVICE_FUNC __device__ __forceinline__"),),
        driver=driver("out[i] = MultiplyFunctor<T>()(x[i], y[i]);"),
        types=("float", "double", "xpops::float16", "int"),
    ),
    Example(
        "Pack",
        ("GetPackType", "PackType", "Pack"),
        lambda each: each["x"] + each["y"],
        driver=driver(
            "Pack<T, 2> a, b; if (i >= n / 2) return;\n"
            "  a.storage = reinterpret_cast<const PackType<T, 2>*>(x)[i];\n"
            "  b.storage = reinterpret_cast<const PackType<T, 2>*>(y)[i];\n"
            "  for (int k = 0; k < 2; ++k) a.elem[k] = a.elem[k] + b.elem[k];\n"
            "  reinterpret_cast<PackType<T, 2>*>(out)[i] = a.storage;"
        ),
        types=("float", "double", "xpops::float16"),
    ),
    Example(
        "Packed, PackSize",
        ("Packed", "kMaxPackBytes", "kMaxPackSize", "Min", "PackSize", "PackSize#2"),
        lambda each: each["x"] * each["y"],
        driver=driver(
            "constexpr int kSize = PackSize<T, T>(); if (i >= n / kSize) return;\n"
            "  auto a = reinterpret_cast<const Packed<T, kSize>*>(x)[i];\n"
            "  const auto b = reinterpret_cast<const Packed<T, kSize>*>(y)[i];\n"
            "  for (int k = 0; k < kSize; ++k) a.elem[k] = a.elem[k] * b.elem[k];\n"
            "  reinterpret_cast<Packed<T, kSize>*>(out)[i] = a;"
        ),
        types=("float", "double", "xpops::float16"),
    ),
    Example(
        "CastFunctor",
        ("CastFunctor", "CastFunctor#2"),
        lambda each: each["x"],
        changes=(HALF,),
        driver=driver(
            "half pair[2] = {half(float(x[i])), half(0.0f)}; T two[2];\n"
            "  CastFunctor<T, half>().Apply2(two, pair);\n"
            "  out[i] = i % 2 ? two[0] : CastFunctor<T, half>()(CastFunctor<half, T>()(x[i]));"
        ),
        types=("float", "double"),
    ),
    Example(
        "kBlockSize, kNumWaves",
        ("kBlockSize", "kNumWaves"),
        lambda each: np.full(COUNT, 256 * 32.0),
        driver=driver("out[i] = kBlockSize * kNumWaves;"),
    ),
)

ATOMICS = (
    Example(
        "FastAdd",
        ("FastSpecializedAtomicAdd", "FastSpecializedAtomicAdd#2", "FastAdd"),
        lambda each: np.bincount(np.arange(COUNT) % 7, each["x"], minlength=COUNT),
        changes=(HALF,),
        driver=driver("FastAdd<T>(out, i % 7, 7, x[i]);"),
        types=FLOATING,
    ),
    Example(
        "UpsampleNearest2D2XForward",
        ("CUDA_1D_KERNEL_LOOP", "Pack2X", "UpsampleNearest2D2XForward"),
        lambda each: each["x"].repeat(2, axis=-1).repeat(2, axis=-2),
        kernel="UpsampleNearest2D2XForward",
        types=("float", "double", "xpops::float16"),
        arrays=lambda: numbers(x=(3, 5, 4), out=(3, 10, 8)),
        call=lambda kernel, x, out: kernel(1, 32, (60, x, 5, 4, out)),
    ),
    Example(
        "UpsampleNearest2D2XBackward",
        ("CUDA_1D_KERNEL_LOOP", "Pack2X", "UpsampleNearest2D2XBackward"),
        lambda each: each["x"].reshape(3, 5, 2, 4, 2).sum((2, 4)),
        kernel="UpsampleNearest2D2XBackward",
        types=("float", "double", "xpops::float16"),
        arrays=lambda: numbers(x=(3, 10, 8), out=(3, 5, 4)),
        call=lambda kernel, x, out: kernel(1, 32, (60, x, 5, 4, out)),
    ),
)
HOST = "code for the host"
LEFT_OUT_ELEMENTWISE = {
    **dict.fromkeys(("main", "GetNumBlocks", "LaunchKernel", "num_blocks"), HOST),
    **dict.fromkeys(("x", "y", "out", "elem_cnt", "Binary"), "code for the host, inside of OneFlow"),
    **dict.fromkeys(
        ("defined", "OF_DEVICE_FUNCTION", "#else", "OF_DEVICE_FUNCTION#2", "#endif"),
        "a macro that nothing printed uses",
    ),
}
