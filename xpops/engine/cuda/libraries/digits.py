"""Large integer matrix products on tensor cores: split the numbers into 8-bit digits, which cuBLASLt multiplies."""

from __future__ import annotations

from math import prod
from struct import pack
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import MAX_ALIGNMENT
from xpops.engine.cuda.kernels.glue import truth
from xpops.engine.cuda.libraries.gemm import gemm
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.program import Kernel
from xpops.plan.matmul import Product
from xpops.plan.strides.divmod import pack_divmod

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

PACK = 16  # digits that a thread writes at a time


def by_digits(runtime: Runtime, product: Product, dtype: DType) -> Kernel | None:
    """The kernel ``(stream, out, x1, x2)`` that multiplies matrices of integers of at most 32 bits.

    None if the product is too small, has several stack axes, or has wider integers, or if cuBLASLt does not support it.
    """
    count = prod(product.batches)
    work = count * product.rows * product.columns * product.inner
    if work < tuning_of(runtime.context.capability).matmul.digits or len(product.batches) > 1 or dtype.itemsize > 4:
        return None
    digits, padded = dtype.itemsize, -(-product.inner // PACK) * PACK
    line = digits * padded
    strides = ((product.rows * line,), (product.columns * line,)) if product.batches else ((), ())
    whole = Product(product.rows, product.columns, line, (line, 1), (line, 1), product.batches, strides)
    parts = [whole._replace(inner=(place + 1) * padded) for place in range(digits)]
    multiply = [gemm(runtime, part, dt.int8, (MAX_ALIGNMENT, MAX_ALIGNMENT), False) for part in parts]
    if None in multiply:
        return None
    split = [
        _splitter(runtime, dtype, lines, product, padded, steps, stride, reverse)
        for lines, steps, stride, reverse in (
            (product.rows, product.x1, product.strides[0], False),
            (product.columns, product.x2, product.strides[1], True),
        )
    ]
    size = count * product.rows * product.columns
    add = [_adder(runtime, dtype, size, place) for place in range(digits)]
    rooms = [
        runtime.pool.allocator(nbytes)
        for nbytes in (count * product.rows * line, count * product.columns * line, 4 * size)
    ]

    def kernel(stream: int, out: int, x1: int, x2: int) -> None:
        (left, _one), (right, _two), (sums, _three) = (room(stream) for room in rooms)  # kept until the last launch
        split[0](stream, left, x1)
        split[1](stream, right, x2)
        for place in range(digits):
            multiply[place](stream, sums, left, right + (digits - 1 - place) * padded)  # type: ignore[misc]
            add[place](stream, out, sums)

    return kernel


def _splitter(
    runtime: Runtime,
    dtype: DType,
    lines: int,
    product: Product,
    padded: int,
    steps: tuple[int, int],
    stride: tuple[int, ...],
    reverse: bool,
) -> Kernel:
    """The kernel ``(stream, digits, x)`` that writes the digits of each matrix, which has `lines` lines."""
    packs, (over, along) = padded // PACK, steps
    threads = prod(product.batches) * lines * packs
    numbers = f"{dt.INFO[dtype].c_type}, {dtype.itemsize}, {truth(reverse)}, {truth(abs(over) < abs(along))}"
    tail = pack("<Q5q", threads, product.inner, padded, *(stride or (0,)), over, along)
    tail += pack_divmod(lines, 64) + pack_divmod(packs, 64)
    return _launcher(runtime, "DigitsParams", f"split_digits<{numbers}>", threads, tail)


def _adder(runtime: Runtime, dtype: DType, size: int, place: int) -> Kernel:
    """The kernel ``(stream, out, sums)`` that adds ``sums * 2**(8 * place)`` to `out`; place 0 overwrites it."""
    body = f"add_digits<{dt.INFO[dtype].c_type}, {place}>"
    return _launcher(runtime, "DigitSumParams", body, size, pack("<Q", size))


def _launcher(runtime: Runtime, params: str, body: str, threads: int, tail: bytes) -> Kernel:
    block = tuning_of(runtime.context.capability).matmul.digits_block
    source = "#include <xpops/kernels/digits.cuh>\nusing namespace xpops;\n" + kernel_text(
        launch_bounds(block), params, body
    )
    return runtime.launcher("matmul", source, -(-threads // block), block, "QQ", tail)
