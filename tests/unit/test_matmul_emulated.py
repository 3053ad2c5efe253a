"""Our own kernel for matrix products, without a GPU."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run, tuned
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels import matmul
from xpops.engine.cuda.libraries.digits import by_digits
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.matmul import Product, matmul_tail, plan_product

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(11)
POLICY = tuning_of(90).matmul
LARGE_TILES = POLICY._replace(small=POLICY.large)


def multiplied(x1: NDArray, x2: NDArray) -> NDArray:
    engine, (one, two) = EmulatedEngine(), (layout_on_gpu(x1), layout_on_gpu(x2))
    out = layout_of(one.dtype, (*one.shape[:-1], two.shape[-1]), None, one.device)
    (result,) = run(engine, (out,), matmul.tiled(engine, plan_product(one, two), one), x1, x2)
    return result


def some(dtype: Any, *shape: int) -> NDArray:
    if np.dtype(dtype) == bool:
        return RANDOM.random(shape) < 0.2
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)
    return RANDOM.integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [bool, "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"])
def test_every_dtype_wraps_as_numpy_does(dtype: Any) -> None:
    x1, x2 = some(dtype, 37, 45), some(dtype, 45, 66)
    np.testing.assert_array_equal(multiplied(x1, x2), x1 @ x2)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_halves(dtype: Any) -> None:
    x1, x2 = some(dtype, 20, 17), some(dtype, 17, 9)
    wanted = (x1.astype(np.float64) @ x2.astype(np.float64)).astype(dtype)
    np.testing.assert_array_equal(multiplied(x1, x2).view("u2"), wanted.view("u2"))


A, B, STACK = some("i4", 70, 40), some("i4", 40, 90), some("i4", 3, 2, 40, 33)
CASES = {
    "one": (A[:1, :1], B[:1, :1]),
    "row": (A[:1], B),
    "column": (A, B[:, :1]),
    "transposed": (some("i4", 40, 70).T, some("i4", 90, 40).T),
    "one transposed": (A, some("i4", 90, 40).T),
    "backwards": (A[::-1, ::-1], B[::-1]),
    "gaps": (some("i4", 140, 80)[::2, ::2], B[:, ::3]),
    "stacks": (some("i4", 3, 2, 5, 40), STACK),
    "a repeated stack": (np.broadcast_to(A[:5], (3, 2, 5, 40)), STACK),
    "stacks across each other": (
        np.broadcast_to(some("i4", 3, 1, 5, 40), (3, 2, 5, 40)),
        np.broadcast_to(STACK[0], (3, 2, 40, 33)),
    ),
    "a tall stack": (some("i4", 3, 5, 40), np.broadcast_to(B, (3, 40, 90))),
    "a stack of rows": (some("i4", 3, 1, 40), np.broadcast_to(B, (3, 40, 90))),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tile", ["large", "small"])
def test_layouts(name: str, tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if tile == "large":
        tuned(monkeypatch, matmul=LARGE_TILES)
    x1, x2 = CASES[name]
    np.testing.assert_array_equal(multiplied(x1, x2), np.matmul(x1, x2))


@pytest.mark.parametrize("length", [127, 128, 129, 15, 16, 17, 33])
def test_sizes_on_the_edges_of_tiles(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned(monkeypatch, matmul=LARGE_TILES)
    x1, x2 = some("i4", length, 18), some("i4", 18, length)
    np.testing.assert_array_equal(multiplied(x1, x2), x1 @ x2)
    np.testing.assert_array_equal(multiplied(x2, x1), x2 @ x1)


def reference(engine: EmulatedEngine, one: Layout, two: Layout, out: Layout) -> Any:
    _, tail = matmul_tail(plan_product(one, two), 1)
    source = (
        "#include <xpops/kernels/matmul.cuh>\nusing namespace xpops;\n"
        'extern "C" __global__ void __launch_bounds__(64)\n'
        "xpops_kernel(const __grid_constant__ MatmulParams<1> params) { matmul_reference<int32, uint32>(params); }\n"
    )
    return engine.launcher("reference", source, out.size // 64, 64, "QQQ", tail)


def test_the_plain_kernel_agrees() -> None:
    x1, x2 = some("i4", 2, 32, 30), some("i4", 2, 30, 32)
    engine, one, two = EmulatedEngine(), layout_on_gpu(x1), layout_on_gpu(x2)
    out = layout_of(one.dtype, (2, 32, 32), None, one.device)
    (result,) = run(engine, (out,), reference(engine, one, two, out), x1, x2)
    np.testing.assert_array_equal(result, multiplied(x1, x2))


def by_numpy(engine: EmulatedEngine, product: Product, dtype: Any, aligns: Any, tf32: bool) -> Any:
    """A product of int8 matrices, computed with NumPy instead of the library."""
    count = product.batches[0] if product.batches else 1

    def kernel(stream: int, out: int, x1: int, x2: int) -> None:
        def lines(address: int, length: int, step: int, stride: tuple[int, ...]) -> NDArray:
            assert address % 16 == 0
            shape, steps = (count, length, product.inner), (*(stride or (0,)), step, 1)
            layout = layout_of(np.dtype(np.int8), shape, steps, engine.context.device)
            return engine.to_host(address, layout, STREAM).astype(np.int32)

        left = lines(x1, product.rows, product.x1[0], product.strides[0])
        right = lines(x2, product.columns, product.x2[0], product.strides[1])
        result = np.matmul(left, right.swapaxes(1, 2))
        engine.from_host(result, out, layout_of(result.dtype, result.shape, None, engine.context.device), STREAM)

    return kernel


@pytest.mark.parametrize("dtype", [bool, "i1", "u1", "i2", "u2", "i4", "u4"])
@pytest.mark.parametrize("name", ["one", "row", "transposed", "gaps", "backwards", "stacks", "a repeated stack"])
def test_digits(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned(monkeypatch, matmul=POLICY._replace(digits=0))
    monkeypatch.setattr("xpops.engine.cuda.libraries.digits.gemm", by_numpy)
    x1, x2 = (spread(x, dtype) for x in CASES[name])
    engine, one, two = EmulatedEngine(), layout_on_gpu(x1), layout_on_gpu(x2)
    out = layout_of(one.dtype, (*one.shape[:-1], two.shape[-1]), None, one.device)
    kernel = by_digits(engine, plan_product(one, two), one.dtype)
    assert kernel is not None
    (result,) = run(engine, (out,), kernel, x1, x2)
    np.testing.assert_array_equal(result, np.matmul(x1, x2))


def spread(x: NDArray, dtype: Any) -> NDArray:
    """Random bits of the dtype, with the strides of `x`."""
    whole = x if x.base is None else x.base
    while whole.base is not None:
        whole = whole.base
    fresh = some(dtype, *whole.shape)
    steps = tuple(step // x.itemsize * fresh.itemsize for step in x.strides)
    start = (x.ctypes.data - whole.ctypes.data) // x.itemsize
    return np.lib.stride_tricks.as_strided(fresh.reshape(-1)[start:], x.shape, steps)


def test_what_is_not_worth_it_or_too_wide_has_no_digits() -> None:
    small, wide = layout_on_gpu(A), layout_on_gpu(np.empty((2048, 2048), np.int64))
    assert by_digits(EmulatedEngine(), plan_product(small, layout_on_gpu(B)), small.dtype) is None
    assert by_digits(EmulatedEngine(), plan_product(wide, wide), wide.dtype) is None
