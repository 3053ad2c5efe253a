"""Matrix products by cuBLASLt, through nvmath-python's bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.engine.cuda.libraries.loading import library
from xpops.engine.cuda.runtime.native import step_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.matmul import Product, leading_dimension

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The library counts the matrices of a stack in 32 bits.
MOST = 2**31 - 1


class Arithmetic(NamedTuple):
    """The library's types of a product: operands, result, compute type, scale, and the scale's NumPy type."""

    operands: str
    result: str
    compute: int
    scale: str
    host: Any


# cublasComputeType_t, which the bindings do not name.
_FLOAT, _TF32, _DOUBLE, _INTEGER = 68, 77, 70, 72
TYPES = {
    dt.float16: Arithmetic("CUDA_R_16F", "CUDA_R_16F", _FLOAT, "CUDA_R_32F", np.float32),
    dt.bfloat16: Arithmetic("CUDA_R_16BF", "CUDA_R_16BF", _FLOAT, "CUDA_R_32F", np.float32),
    dt.float32: Arithmetic("CUDA_R_32F", "CUDA_R_32F", _FLOAT, "CUDA_R_32F", np.float32),
    dt.float64: Arithmetic("CUDA_R_64F", "CUDA_R_64F", _DOUBLE, "CUDA_R_64F", np.float64),
    dt.complex64: Arithmetic("CUDA_C_32F", "CUDA_C_32F", _FLOAT, "CUDA_C_32F", np.complex64),
    dt.complex128: Arithmetic("CUDA_C_64F", "CUDA_C_64F", _DOUBLE, "CUDA_C_64F", np.complex128),
    dt.int8: Arithmetic("CUDA_R_8I", "CUDA_R_32I", _INTEGER, "CUDA_R_32I", np.int32),
}
_TRANSPOSED = 1  # CUBLAS_OP_T


class _Descriptor:
    """The library's layout of a stack of matrices. Lines have `length` elements, and stride `step` between them."""

    def __init__(self, kind: int, length: int, lines: int, step: int, batches: int, stride: int) -> None:
        from nvmath.bindings import cublasLt

        self._destroy = cublasLt.matrix_layout_destroy
        self.handle = cublasLt.matrix_layout_create(kind, length, lines, step)
        names = cublasLt.MatrixLayoutAttribute
        for name, value in ((names.BATCH_COUNT, np.int32(batches)), (names.STRIDED_BATCH_OFFSET, np.int64(stride))):
            _set(cublasLt.matrix_layout_set_attribute, self.handle, name, value)

    def __del__(self) -> None:
        self._destroy(self.handle)


def _set(function: Any, handle: int, attribute: Any, value: Any) -> None:
    array = np.asarray(value)
    function(handle, attribute, array.ctypes.data, array.nbytes)


class _Operation:
    """The library's description of a product: the compute type, and which operands are transposed."""

    def __init__(self, compute: int, scale: int, transposed: tuple[bool, bool]) -> None:
        from nvmath.bindings import cublasLt

        self._destroy = cublasLt.matmul_desc_destroy
        self.handle = cublasLt.matmul_desc_create(compute, scale)
        names = cublasLt.MatmulDescAttribute
        for name, turned in zip((names.TRANSA, names.TRANSB), transposed, strict=True):
            _set(cublasLt.matmul_desc_set_attribute, self.handle, name, np.int32(_TRANSPOSED * turned))

    def __del__(self) -> None:
        self._destroy(self.handle)


def _described(product: Product, names: Arithmetic, compute: int) -> tuple[_Operation, list[_Descriptor]]:
    """The operation, and the matrices in the library's order.

    The library's matrices are column-major. So it computes the transposed result as x2.T @ x1.T.
    """
    import nvmath

    rows, columns, inner, step1, step2, batches, strides = product
    count, types = batches[0] if batches else 1, nvmath.CudaDataType
    descriptors, by_lines = [], []
    for lines, steps, stride in ((columns, step2, strides[1]), (rows, step1, strides[0])):
        lying = leading_dimension(lines, inner, steps)
        assert lying is not None
        by_line, step = lying
        shape = (inner, lines) if by_line else (lines, inner)
        descriptors.append(_Descriptor(types[names.operands], *shape, step, count, *(stride or (0,))))
        by_lines.append(by_line)
    descriptors.append(_Descriptor(types[names.result], columns, rows, columns, count, rows * columns))
    return _Operation(compute, types[names.scale], (by_lines[0], not by_lines[1])), descriptors


def gemm(runtime: Runtime, product: Product, dtype: DType, aligns: tuple[int, int], tf32: bool) -> Kernel | None:
    """The kernel ``(stream, out, x1, x2)`` of a product with at most one stack axis; matrices are row- or column-major.

    The result of int8 is int32. None if the library does not support the product.
    """
    opened = library(runtime, "cublasLt")
    names = TYPES[dtype]
    compute = _TF32 if tf32 and names.compute == _FLOAT and dtype.itemsize >= 4 else names.compute
    if product.batches and product.batches[0] > MOST:
        return None
    operation, descriptors = _described(product, names, compute)
    a, b, d = (each.handle for each in descriptors)
    workspace = tuning_of(runtime.context.capability).matmul.workspace
    with opened.current():
        found = _best(opened.handle, operation.handle, (a, b, d), aligns, workspace)
    if found is None:
        return None
    algorithm, space = found
    one, zero = np.ones(1, names.host), np.zeros(1, names.host)
    allocate = runtime.pool.scratch(space)
    call, described, alpha, beta = opened.function("matmul"), operation.handle, one.ctypes.data, zero.ctypes.data
    handle, current = opened.handle, opened.current
    chosen, kept = algorithm.ctypes.data, (operation, *descriptors, one, zero, algorithm)

    @step_of
    def run(stream: int, out: int, x1: int, x2: int, _kept: Any = kept) -> None:
        scratch, block = allocate(stream)
        with current():
            call(handle, described, alpha, x2, a, x1, b, beta, out, d, out, d, chosen, scratch, space, stream)
        del block  # kept until the kernel was launched

    return run


def _best(handle: int, operation: int, layouts: tuple[int, int, int], aligns: tuple[int, int], workspace: int) -> Any:
    """The library's first choice: the algorithm and its bytes of scratch memory. None if it supports no algorithm."""
    from nvmath.bindings import cublasLt

    names = cublasLt.MatmulPreferenceAttribute
    preference = cublasLt.matmul_preference_create()
    result = np.zeros(1, cublasLt.matmul_heuristic_result_dtype)
    count = np.zeros(1, np.int32)
    a, b, d = layouts
    settings = (
        (names.MAX_WORKSPACE_BYTES, np.uint64(workspace)),
        (names.MIN_ALIGNMENT_A_BYTES, np.uint32(aligns[1])),
        (names.MIN_ALIGNMENT_B_BYTES, np.uint32(aligns[0])),
    )
    try:
        for name, value in settings:
            _set(cublasLt.matmul_preference_set_attribute, preference, name, value)
        cublasLt.matmul_algo_get_heuristic(
            handle, operation, a, b, d, d, preference, 1, result.ctypes.data, count.ctypes.data
        )
    except cublasLt.cuBLASLtError:
        return None
    finally:
        cublasLt.matmul_preference_destroy(preference)
    if count[0] == 0:
        return None
    return result["algo"].copy(), int(result["workspace_size"][0])
