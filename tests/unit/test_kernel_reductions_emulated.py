"""Kernels of user-defined reductions of several operands, without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.api.kernel import ReductionKernel
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(21)

DOT = ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", 0, "dot")
HIGHEST = ReductionKernel("T x, U y", "T z", "x - T(y)", "a > b ? a : b", "z = a", "", "highest_difference")
NEAREST = ReductionKernel(
    "T x, T y", "T z", "Gap{x, y, x > y ? x - y : y - x}", "a.gap <= b.gap ? a : b", "z = a.x + 2 * a.y",
    "Gap{0, 0, 3e38f}", "nearest", reduce_type="Gap", preamble="struct Gap { T x, y, gap; };",
)  # fmt: skip


class CountingEngine(EmulatedEngine):
    """An engine that counts the kernels that it makes."""

    kernels = 0

    def launcher(self, *arguments: Any) -> Callable[..., None]:
        self.kernels += 1
        return super().launcher(*arguments)


def reduction(kernel: ReductionKernel, *arguments: Any, axis: Any = None, kernels: int = 1) -> NDArray:
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in arguments)
    engine = CountingEngine(workers=2)
    (made,) = run(engine, *kernel._plan(engine, specs, axis, False), *arguments)
    assert engine.kernels == kernels
    return made


def floats(*shape: int, dtype: Any = np.float32) -> NDArray:
    return RANDOM.normal(size=shape).astype(dtype)


def whole(*shape: int, dtype: Any = np.int32) -> NDArray:
    return RANDOM.integers(0, 100, shape).astype(dtype)


def same(got: NDArray, wanted: Any) -> None:
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


LAYOUTS: dict[str, tuple[NDArray, NDArray]] = {
    "alike": (floats(40, 300), floats(40, 300)),
    "long": (floats(100_003), floats(100_003)),
    "few long rows": (floats(3, 20_001), floats(20_001)),
    "few columns": (floats(5000, 3), floats(5000, 3)),
    "row": (floats(300, 40), floats(40)),
    "column": (floats(300, 40), floats(300, 1)),
    "outer": (floats(70, 1), floats(90)),
    "number": (floats(50, 60), floats()),
    "numbers": (floats(), floats()),
    "both transposed": (floats(130, 90).T, floats(130, 90).T),
    "slices": (floats(60, 41)[::2, 1:], floats(30, 40)),
    "odd rows": (floats(37, 331)[:, 1:], floats(37, 330)),
    "misaligned beside a row": (floats(5, 1025)[:, 1:], floats(1024)),
    "backwards": (floats(9, 70)[::-1, ::-1], floats(9, 70)),
    "repeated": (np.broadcast_to(floats(70), (60, 70)), floats(60, 1)),
    "tiles": (floats(70, 64), floats(64, 70).T),
}


@pytest.mark.parametrize("axis", [0, -1, None, ()])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str, axis: Any) -> None:
    x, y = LAYOUTS[name]
    if not x.ndim:
        axis = None
    two = 2 if name == "tiles" else 1
    wide = x.astype(np.float64)
    np.testing.assert_allclose(reduction(DOT, x, y, axis=axis, kernels=two), (wide * y).sum(axis), rtol=1e-5, atol=1e-4)
    same(reduction(HIGHEST, x, y, axis=axis, kernels=two), np.asarray((x - y).max(axis)))
    gap, shape = np.abs(x - y), np.broadcast_shapes(x.shape, y.shape)
    if axis in (0, None) and shape:  # also across memory: states that are structures are never in memory
        place = gap.argmin(axis)
        first, second = (
            np.take_along_axis(each, np.expand_dims(place, 0), 0)[0] if axis == 0 else each.ravel()[place]
            for each in (np.broadcast_to(x, shape), np.broadcast_to(y, shape))
        )
        np.testing.assert_allclose(reduction(NEAREST, x, y, axis=axis), first + 2 * second, rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_mixed_dtypes_and_scalars(axis: Any) -> None:
    kernel = ReductionKernel(
        "int8 x, U y, bool on, int64 s, U t", "int64 z", "on ? x * s + int(y) : int(t)", "a + b", "z = a", 0, "mixed"
    )
    x, y, b = whole(40, 70, dtype=np.int8), whole(70, dtype=np.float64), whole(40, 1) % 2 == 1
    for s, t in ((3, 2.5), (np.int64(-(2**40)), -7)):
        wanted = np.where(b, x * np.int64(s) + y.astype(np.int64), np.int64(t)).sum(axis)
        same(reduction(kernel, x, y, b, s, t, axis=axis), np.asarray(wanted))
    flags = (whole(40, 70) % 4).astype(np.uint8).view(bool)  # any nonzero byte is true
    counted = ReductionKernel("bool on, uint64 s", "uint64 z", "on ? s : 0", "a + b", "z = a", 0, "counted")
    count = np.uint64(np.count_nonzero(flags.view(np.uint8)))
    same(reduction(counted, flags, 2**63 + 1), np.asarray(count + (count % np.uint64(2)) * np.uint64(2**63)))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2], ids=str)
def test_narrow_ones_are_floats(dtype: Any) -> None:
    x, y = whole(300, 48, dtype=np.int8).astype(dtype), (floats(48) * 2).round().astype(dtype)
    kernel = ReductionKernel("T x, T y, T s", "float32 z", "x * y + s / 3", "a > b ? a : b", "z = a", "", "narrow")
    wide = x.astype(np.float32) * y.astype(np.float32)
    for axis in (0, 1, None):
        got = reduction(kernel, x, y, 0.0, axis=axis)
        same(got, np.asarray(wide.max(axis)))
        total = reduction(DOT, x, y, axis=axis)
        assert total.dtype == dtype
        with np.errstate(over="ignore"):
            wanted = wide.astype(np.float64).sum(axis).astype(dtype)
        same(total, np.asarray(wanted))


def test_complex_numbers() -> None:
    x = (whole(60, 33) + 1j * whole(60, 33)).astype(np.complex64)
    y, z = whole(33, dtype=np.float64), 2 - 3j
    kernel = ReductionKernel(
        "complex64 x, T y, complex128 z", "complex128 w", "xpops::cast<complex<double>>(conj(x)) * z + y", "a + b",
        "w = a", 0, "turned",
    )  # fmt: skip
    for axis in (0, 1, None):
        same(reduction(kernel, x, y, z, axis=axis), np.asarray((x.conj().astype(np.complex128) * z + y).sum(axis)))
        same(reduction(DOT, x, x[0], axis=axis), np.asarray((x * x[0]).sum(axis)))


def test_states_without_an_identity() -> None:
    widest = ReductionKernel(
        "T x, T y", "T z", "Pair{x, y}", "a.x - a.y >= b.x - b.y ? a : b", "z = a.x - a.y", None, "widest",
        reduce_type="Pair", preamble="struct Pair { double x, y; };",
    )  # fmt: skip
    x, y = floats(60, 70) - 9, floats(60, 1)
    for axis in (0, 1, None):
        wanted = (x.astype(np.float64) - y).max(axis).astype(np.float32)
        same(reduction(widest, x, y, axis=axis), np.asarray(wanted))
    with pytest.raises(ValueError, match=r"widest: nothing is reduced, of shape \(0, 7\) along the axes \(0,\)"):
        reduction(widest, floats(0, 7), floats(7), axis=0)


def test_empty_arrays() -> None:
    same(reduction(DOT, floats(0, 3), floats(3), axis=0), np.zeros(3, np.float32))
    same(reduction(DOT, floats(0, 3), 2.0, axis=1, kernels=0), np.zeros(0, np.float32))


def test_names_that_we_have_too() -> None:
    kernel = ReductionKernel(
        "T state, T linear", "T z", "Pack{state, linear}", "Pack{a.lower + b.lower, a.upper + b.upper}",
        "z = a.lower * a.upper", "Pack{}", "names", reduce_type="Pack", preamble="struct Pack { T lower, upper; };",
    )  # fmt: skip
    x, y = whole(33, dtype=np.int64), whole(33, dtype=np.int64)
    same(reduction(kernel, x, y), x.sum() * y.sum())


def test_what_needs_a_kernel_before() -> None:
    x, y = whole(6, 50), whole(6, 50)
    at = ReductionKernel("T x, raw T y", "T z", "x * y[n - 1 - i]", "a + b", "z = a", 0, "at")
    same(reduction(at, x, y, axis=0, kernels=2), (x * y.ravel()[::-1].reshape(6, 50)).sum(0, dtype=np.int32))
    last = ReductionKernel("T x, T y", "int64 z", "x > y ? i : -1", "a > b ? a : b", "z = a", -1, "last")
    same(reduction(last, x, y, kernels=2), np.flatnonzero(x > y).max())


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_random_layouts(data: st.DataObject) -> None:
    shapes = st.sampled_from([(7, 33), (33,), (7, 1), (1, 33), (), (2, 7, 33), (2, 1, 33), (2, 7, 1)])
    kinds = st.sampled_from([dt.int8, dt.int32, dt.int64])
    arrays = []
    for _ in range(3):
        shape = data.draw(shapes)
        x = whole(*(length * 2 + 1 for length in shape), dtype=data.draw(kinds))
        if data.draw(st.booleans()):
            x = np.asfortranarray(x)
        keys = st.sampled_from([slice(1, None, 2), slice(-2, None, -2), None])
        picked = tuple(data.draw(keys) for _ in shape)
        arrays.append(x[(*(key or slice(length) for key, length in zip(picked, shape, strict=True)), ...)])
    x, y, z = arrays
    ndim = len(np.broadcast_shapes(x.shape, y.shape, z.shape))
    axis = data.draw(st.sampled_from([None, (), *range(ndim), *([(0, ndim - 1)] if ndim > 1 else [])]))
    kernel = ReductionKernel("A x, B y, C z", "int64 w", "x + 3 * y - 5 * z", "a + b", "w = a", 0, "three")
    specs, engine = tuple(map(layout_on_gpu, arrays)), EmulatedEngine()
    (got,) = run(engine, *kernel._plan(engine, specs, axis, False), *arrays)
    wide = [each.astype(np.int64) for each in arrays]
    same(got, np.asarray((wide[0] + 3 * wide[1] - 5 * wide[2]).sum(axis)))
