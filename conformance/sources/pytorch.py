"""Examples from the document on custom CUDA operators for PyTorch."""

from __future__ import annotations

from conformance.sources.example import Change, Example, numbers
from conformance.sources.oneflow import HOST

ACCESSORS = Change("#include <xpops/names/torch.cuh>")
TYPES = ("float", "double", "xpops::float16")
MATMUL = (
    Example(
        "matmul_cuda_kernel",
        ("matmul_cuda_kernel",),
        lambda each: each["a"] @ each["b"],
        changes=(ACCESSORS,),
        kernel="matmul_cuda_kernel",
        types=TYPES,
        arrays=lambda: numbers(a=(2, 3, 5, 4), b=(2, 3, 4, 7), out=(2, 3, 5, 7)),
        call=lambda kernel, a, b, out: kernel((1, 1, 2), (8, 8), (a, b, out, 3, 5, 7, 4)),
    ),
    Example(
        "matmul_shared_memory_cuda_kernel",
        ("matmul_shared_memory_cuda_kernel",),
        lambda each: each["a"] @ each["b"],
        changes=(ACCESSORS,),
        kernel="matmul_shared_memory_cuda_kernel",
        types=TYPES,
        # It reads whole tiles, so the lengths are multiples of the tile's.
        arrays=lambda: numbers(a=(2, 3, 8, 12), b=(2, 3, 12, 4), out=(2, 3, 8, 4)),
        call=lambda kernel, a, b, out: kernel((2, 1, 2), (4, 4), (a, b, out, 3, 8, 4, 12, 4), shared=2 * 16 * 8),
    ),
)
LEFT_OUT = dict.fromkeys(
    (
        "#include <torch/extension.h>", "matmul_cuda", "CHECK_CUDA", "CHECK_CONTIGUOUS", "CHECK_INPUT", "matmul",
        "PYBIND11_MODULE", "matmul_cuda#2", "AT_DISPATCH_FLOATING_TYPES_AND_HALF", "))",
    ),
    f"{HOST}, of an extension that nvcc compiles",
)  # fmt: skip
