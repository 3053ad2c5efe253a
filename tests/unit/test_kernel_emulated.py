"""Kernels of user-defined operations, without a GPU."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.emulator import STREAM, EmulatedEngine, addressed, layout_on_gpu, run
from xpops.api.kernel import ElementwiseKernel, ReductionKernel, ScanKernel, functor
from xpops.api.kernel.results import split_arguments
from xpops.core import dtypes as dt
from xpops.core.devices import Device

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(5)


def floats(*shape: int, dtype: Any = np.float32) -> NDArray:
    return RANDOM.normal(size=shape).astype(dtype)


def elementwise(kernel: ElementwiseKernel, *arguments: Any, size: int | None = None, out: Any = None) -> Any:
    """Run the kernel of a call. Returns the result."""
    ins, outs = split_arguments(arguments, out, kernel._operation)
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in (*ins, *outs))
    engine = EmulatedEngine()
    program = kernel._plan.func(kernel._operation, engine, specs, size, bool(outs), Device("cuda"))
    if outs:
        program.kernel(STREAM, *map(addressed, (*ins, *outs)))
        return outs if len(outs) > 1 else outs[0]
    made = run(engine, *program, *ins)
    return made if len(made) > 1 else made[0]


def same(got: NDArray, wanted: Any) -> None:
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


AXPY = ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "axpy")
LAYOUTS: dict[str, tuple[NDArray, NDArray]] = {
    "contiguous": (floats(1003), floats(1003)),
    "row": (floats(70, 3), floats(3)),
    "transposed": (floats(70, 64), floats(64, 70).T),
    "both transposed": (floats(70, 64).T, floats(70, 64).T),
    "boxes": (floats(4, 12, 90, 3), floats(90, 12, 4, 3).transpose(2, 1, 0, 3)),
    "slices": (floats(30, 41)[::2, 1:], floats(15, 40)),
    "backwards": (floats(9, 70)[::-1, ::-1], floats(70)[::-1]),
    "0-d": (floats(5, 6), floats()),
    "0-d alone": (floats(), floats()),
    "empty": (floats(0, 3), floats(3)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    x, y = LAYOUTS[name]
    np.testing.assert_allclose(elementwise(AXPY, 2.5, x, y), np.float32(2.5) * x + y, rtol=1e-5, atol=1e-6)
    order = ElementwiseKernel("float32 x, T y", "int64 z, T w", "z = i * n; w = y")
    z, w = elementwise(order, x, y)
    shape = np.broadcast_shapes(x.shape, y.shape)
    count = int(np.prod(shape))
    same(z, (np.arange(count) * count).reshape(shape))
    same(w, np.broadcast_to(y, shape))


@pytest.mark.parametrize("dtype", dt.INFO, ids=str)
def test_every_dtype(dtype: Any) -> None:
    x = np.array([0, 1, 1, 0, 1, 1, 0]).astype(dtype)
    kernel = ElementwiseKernel("T x, raw T r, T s", "T y, T z, bool b", "y = x; T t = r[n - 1 - i]; z = t; b = x == s")
    y, z, b = elementwise(kernel, x, x, 1)
    same(y, x)
    same(z, x[::-1])
    same(b, np.array([0, 1, 1, 0, 1, 1, 0], bool))
    raw = ElementwiseKernel("raw T x", "raw T y", "y[i] = x[i]; if (i == 0) y[i] = T(1);")
    y = np.zeros_like(x)
    elementwise(raw, x, size=7, out=y)
    same(y, np.array([1, 1, 1, 0, 1, 1, 0]).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2], ids=str)
def test_narrow_ones_are_floats(dtype: Any) -> None:
    x, y = floats(37, dtype=dtype), floats(37, dtype=dtype)
    got = elementwise(ElementwiseKernel("T x, T y, T a", "T z", "T t = x * y; z = t + a * x"), x, y, 0.5)
    wide, other = x.astype(np.float32), y.astype(np.float32)
    same(got, (wide * other + np.float32(0.5) * wide).astype(dtype))
    z = y.copy()
    elementwise(ElementwiseKernel("raw T x", "raw T z", "z[i] += x[i] * 2; z[i] -= 1"), x, z, size=37)
    rounded = (other + wide * 2).astype(dtype).astype(np.float32)
    same(z, (rounded - 1).astype(dtype))


def test_complex() -> None:
    x, y = (floats(33) + 1j * floats(33) for _ in range(2))
    x, y = x.astype(np.complex64), y.astype(np.complex128)
    kernel = ElementwiseKernel(
        "complex64 x, complex128 y, complex64 a",
        "complex128 z, float32 r, complex64 e",
        "z = 2 * y / 3.0 + y * y; z -= 1; r = x.re; e = exp(x) * conj(x) + a",
    )
    z, r, e = elementwise(kernel, x, y, 1j)
    np.testing.assert_allclose(z, 2 * y / 3 + y * y - 1)
    same(r, x.real)
    np.testing.assert_allclose(e, np.exp(x) * x.conj() + 1j, rtol=1e-5)


def test_results_that_were_given_can_be_read() -> None:
    step = ElementwiseKernel(
        "T grad, T rate, T keep", "T param, T mean", "mean = keep * mean + (1 - keep) * grad; param -= rate * mean"
    )
    grad, param, mean = (floats(40, 30, dtype=np.float64) for _ in range(3))
    wanted = 0.9 * mean + (1 - 0.9) * grad
    rest = param - 0.1 * wanted
    got = elementwise(step, grad, 0.1, 0.9, param, mean)
    assert got[0] is param
    np.testing.assert_allclose(mean, wanted)
    np.testing.assert_allclose(param, rest)
    turned = floats(30, 40, dtype=np.float64).T
    wanted = turned + grad
    elementwise(ElementwiseKernel("T x", "T y", "y += x"), grad, out=turned)
    same(turned, wanted)
    fresh = elementwise(ElementwiseKernel("T x", "T y, T z", "if (x > 0) y = x;"), grad)
    same(fresh[0], np.maximum(grad, 0))
    same(fresh[1], np.zeros_like(grad))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0), (1, 2, 3, 0)])
@pytest.mark.parametrize("shape", [(7, 12, 90, 5), (5, 16, 33, 7)])
def test_the_code_runs_once_for_each_element(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    """Also where threads have 14 or 15 elements."""
    x = floats(*shape).transpose(order).copy().transpose(np.argsort(order))
    runs, out = np.zeros(1, np.int64), np.zeros(x.shape, np.float32)
    count = ElementwiseKernel("T x, uint64 runs", "T y", "++*reinterpret_cast<xpops::int64*>(runs); y = -x")
    same(elementwise(count, x, runs.ctypes.data, out=out), -x)
    assert runs[0] == x.size


def test_raw_arrays() -> None:
    x, y = floats(6, 10)[:, ::-2], floats(7, 3).T
    kernel = ElementwiseKernel(
        "raw T x, raw U y",
        "int64 k, T a, U b",
        "k = x.shape()[1] * 1000 + y.size() + x.ndim * 100; a = x[i % x.size()]; b = y[n - 1 - i];",
    )
    k, a, b = elementwise(kernel, x, y, size=21)
    same(k, np.full(21, 5221))
    same(a, x.ravel()[:21])
    same(b, y.ravel()[::-1])
    shifted = ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]")
    x, y = floats(5, 4), floats(20)
    same(elementwise(shifted, x, y), x + y[::-1].reshape(5, 4))
    same(elementwise(shifted, x.T, y), x.T + y[::-1].reshape(4, 5))
    out = np.zeros(4, np.int32)
    scatter = ElementwiseKernel("T x, raw int64 where", "raw T y", "y[where[i]] = x")
    same(elementwise(scatter, np.array([5, 6], np.int32), np.array([3, 0]), out=out), np.array([6, 0, 0, 5], np.int32))


def test_scalars() -> None:
    x = np.arange(5, dtype=np.int8)
    kernel = ElementwiseKernel("T x, T y, float32 a, U s, U t", "T z, float64 w, U u", "z = x + y; w = a; u = s + t")
    z, w, u = elementwise(kernel, x, 3, 2, 1, 0.5)
    same(z, x + np.int8(3))
    same(w, np.full(5, 2.0))
    same(u, np.full(5, 1.5))
    same(elementwise(ElementwiseKernel("T x, T y", "T z", "z = x * y"), x, 2.9), x * np.int8(2))
    big = ElementwiseKernel("uint64 a, int64 b, bool c", "uint64 x, int64 y, bool z", "x = a; y = b; z = c")
    a, b, c = elementwise(big, 2**64 - 1, -(2**63), 5, size=2)
    assert (a.tolist(), b.tolist(), c.tolist()) == ([2**64 - 1] * 2, [-(2**63)] * 2, [True] * 2)
    same(elementwise(ElementwiseKernel("T a", "T y", "y = a + i"), 0.5, size=3), np.array([0.5, 1.5, 2.5]))
    same(elementwise(ElementwiseKernel("", "int32 y", "y = i"), size=3), np.arange(3, dtype=np.int32))


@pytest.mark.parametrize(
    "dtype", [*dt.SIGNED_INTEGERS, *dt.UNSIGNED_INTEGERS, *dt.REAL_FLOATS, *dt.COMPLEX_FLOATS], ids=str
)
def test_scalars_are_converted_as_casts_do(dtype: Any) -> None:
    kernel = ElementwiseKernel("T x, T y", "T z", "z = x + y")
    x = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for value in (-1, 2**32, 2**63 - 1, -(2**63), True):
        with np.errstate(all="ignore"):
            same(elementwise(kernel, x, value), x + np.array(value).astype(dtype))
    same(elementwise(kernel, x, dtype.type(2).item()), x + dtype.type(2))


def test_raw_results_have_the_shape_of_the_elements() -> None:
    x, y = floats(100), floats(100)
    kernel = ElementwiseKernel("raw T x, raw T y", "raw T z", "z[i] = x[i] + y[i];")
    same(elementwise(kernel, x, y, size=100), x + y)
    turned = floats(4, 5).T
    same(elementwise(ElementwiseKernel("T x", "raw T z, T y", "z[i] = x; y = x"), turned)[0], turned)


def test_preambles_statements_and_names() -> None:
    kernel = ElementwiseKernel(
        "T x, T v_", "T y", """
        T sum = 0;  // of powers
        for (int i = 0; i < 3; ++i) {
          if (i == 2) continue;
          sum += power(x, i);
        }
        y = sum + v_;
        return;  // early
        """,
        preamble="__device__ T power(T x, int k) { return k == 0 ? T(1) : x * power(x, k - 1); }",
    )  # fmt: skip
    x = floats(12, dtype=np.float64)
    np.testing.assert_allclose(elementwise(kernel, x, 2), x + 3)


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_random_layouts(data: st.DataObject) -> None:
    shapes = st.sampled_from([(7, 33), (33,), (7, 1), (1, 33), (), (2, 7, 33)])
    x, y = (RANDOM.integers(0, 50, data.draw(shapes)).astype("i4") for _ in range(2))
    if data.draw(st.booleans()):
        x = np.asfortranarray(x)
    got = elementwise(ElementwiseKernel("T x, T y", "T z, int64 k", "z = x - 2 * y; k = i"), x, y)
    wanted = x - 2 * y
    same(got[0], wanted)
    same(got[1], np.arange(wanted.size).reshape(wanted.shape))


REFUSED: list[tuple[Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    (AXPY, (2.0, floats(3)), {}, TypeError, "axpy: 2 arguments and 0 in out; accepted: 3, and 1 or none"),
    (AXPY, (2.0, floats(3), floats(4)), {}, ValueError, r"axpy: shapes \(3,\), \(4,\) cannot be broadcast"),
    (AXPY, (2.0, floats(3), floats(3).astype("f8")), {}, TypeError, "y has dtype float64; accepted: float32, as T is"),
    (AXPY, (2.0, floats(3), floats(3)), {"size": 3}, ValueError, "axpy: size is 3 beside arrays that are not raw"),
    (AXPY, (1j, floats(3), floats(3)), {}, TypeError, "axpy: a is a Python complex; accepted: float32"),
    (AXPY, (1, 2, 3), {}, ValueError, "axpy: no array says how many elements there are; accepted: size="),
    (AXPY, (2.0, floats(3), 1.0), {"out": floats(4)}, ValueError, r"axpy: out has shape \(4,\); accepted: \(3,\)"),
    (AXPY, (2.0, floats(3), 1.0), {"out": floats(3).astype("f8")}, TypeError, "axpy: x has dtype float32; accepted: f"),
    (AXPY, (2.0, floats(3), 1.0), {"out": 3.0}, TypeError, "axpy: z is a Python float; accepted: an array"),
    (AXPY, (2**64, floats(3).astype("u1"), 1), {}, OverflowError, "axpy: a is 18446744073709551616; accepted: numbers"),
    (AXPY, (float("nan"), floats(3).astype("u1"), 1), {}, OverflowError, "axpy: a is nan; accepted: numbers of 64"),
    (AXPY, (1, floats(3), 1.0), {"out": np.broadcast_to(floats(1), 3)}, ValueError, "z may have several elements at"),
    (ElementwiseKernel("raw T x", "T y", "y = x[i]"), (3.0,), {"size": 3}, TypeError, "x is a Python float; accepted"),
    (ElementwiseKernel("T x", "U y", "y = x"), (floats(3),), {}, TypeError, "no argument says what U is, the dtype"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "arguments", "options", "error", "message"), REFUSED)
def test_refusals(kernel: Any, arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        elementwise(kernel, *arguments, **options)


def test_partly_overlapping_results_are_refused() -> None:
    x = floats(10)
    with pytest.raises(ValueError, match="axpy: z partly overlaps x; accepted: the same elements, or memory apart"):
        elementwise(AXPY, 2.0, x[1:], 1.0, out=x[:-1])


TEXTS = [
    ("float x", "T y", "in_params has 'float x'; accepted: 'T x', 'raw T x', 'float32 x'"),
    ("T", "T y", "in_params has 'T'; accepted"),
    ("T x, ", "T y", "in_params has ''; accepted"),
    ("const T x", "T y", "in_params has 'const T x'; accepted"),
    ("T i", "T y", "in_params has 'i' twice, or it is one of i, n, _ind"),
    ("T x, T x", "T y", "in_params has 'x' twice"),
    ("T x", "T x", "out_params is 'T x'; accepted: at least one, by a name of its own"),
    ("T x", "", "out_params is ''; accepted: at least one"),
]


@pytest.mark.parametrize(("ins", "outs", "message"), TEXTS)
def test_parameters_that_are_none(ins: str, outs: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ElementwiseKernel(ins, outs, "")


def test_names_that_are_none() -> None:
    with pytest.raises(ValueError, match="ElementwiseKernel: name is 'a b'; accepted: a name as C\\+\\+ has them"):
        ElementwiseKernel("T x", "T y", "", "a b")


def test_arrays_on_the_cpu_are_refused() -> None:
    message = "axpy: the arrays are on cpu; kernels of one's own need a GPU"
    for x in (xp.ones(3, device="cpu"), np.ones(3)):
        with pytest.raises(xp.DeviceError, match=message):
            AXPY(2.0, x, x)
        with pytest.raises(xp.DeviceError, match=message):
            AXPY(2.0, x, x, out=x)
    with pytest.raises(ValueError, match="axpy: z is read-only; accepted: a writable array"):
        AXPY(2.0, x, x, out=xp.broadcast_to(xp.ones(1, device="cpu"), (3,)))
    assert repr(AXPY) == "<elementwise kernel axpy>"


GELU = functor(
    """
    struct Half { template <class T> XPOPS_DEVICE T operator()(T x) const { return x / 2; } };
    struct Gelu {
      template <class T>
      XPOPS_DEVICE T operator()(T x) const { return Half()(x) * (1 + erf(x * T(0.70710678118654752))); }
    };
    """
)
MUL_ADD = functor(
    "struct MulAdd { template <class T> XPOPS_DEVICE T operator()(T x, T y, T z) const { return x * y + z; } };"
)


def called(operator: Any, *arguments: Any, result: Any = None) -> NDArray:
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in arguments)
    engine = EmulatedEngine()
    (made,) = run(engine, *operator._plan(engine, specs, result), *arguments)
    return made


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_functors(dtype: Any) -> None:
    x = floats(301, dtype=dtype)
    wide = x.astype(np.float64)
    wanted = [v / 2 * (1 + math.erf(v * math.sqrt(0.5))) for v in wide]
    got = called(GELU, x)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=float(np.finfo(dtype).eps) * 4, atol=1e-7)


def test_functors_promote_and_broadcast() -> None:
    i, x, h = np.arange(-5, 5, dtype=np.int8), floats(7, 10), floats(7, 1, dtype=np.float16)
    same(called(MUL_ADD, i, x, h), i.astype(np.float32) * x + h.astype(np.float32))
    same(called(MUL_ADD, i, 3, 100), i * np.int8(3) + np.int8(100))
    same(called(MUL_ADD, i, i, i, result=dt.float64), (i * i + i).astype(np.float64))
    same(called(MUL_ADD, x, 2.0, x, result=dt.bool), (x * 3) != 0)
    less = functor(
        "struct Other {}; class Less { public: XPOPS_DEVICE bool operator()(float x, float y) { return x < y; } };"
    )
    same(called(less, h, x, result=dt.bool), h.astype(np.float32) < x)
    same(called(less, h, x), (h.astype(np.float32) < x).astype(np.float32))


PAIRED = """
struct Scaled {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x * y; }
  template <class T> XPOPS_DEVICE xpops::packed2<T> apply2(xpops::packed2<T> x, xpops::packed2<T> y) const {
    return {one(x.first(), y.first()), one(x.second(), y.second())};
  }
  template <class T> XPOPS_DEVICE T one(T x, T y) const { return T(float(x) * float(y) + 1); }
};
"""


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_functors_of_pairs(dtype: Any) -> None:
    scaled = functor(PAIRED)  # apply2 adds 1, so that the results show which function ran
    for shape in ((1000,), (33, 7), (3,), (1,)):
        x, y = floats(*shape, dtype=dtype), floats(shape[-1], dtype=dtype)
        wanted = x.astype(np.float32) * y.astype(np.float32)
        same(called(scaled, x, y), (wanted + 1).astype(dtype))
        same(called(scaled, x, y, result=dt.float32), wanted)
    same(called(scaled, x, 2.0), (x.astype(np.float32) * 2 + 1).astype(dtype))
    same(called(scaled, x.astype(np.float32), y), x.astype(np.float32) * y.astype(np.float32))


def test_functors_that_are_refused() -> None:
    x = xp.ones(3, device="cpu")
    with pytest.raises(xp.DeviceError, match="Gelu: the arrays are on cpu; kernels of one's own need a GPU"):
        GELU(x)
    with pytest.raises(TypeError, match="Gelu: every operand is a Python scalar"):
        GELU(1.0)
    with pytest.raises(TypeError, match="MulAdd: float8_e5m2 and float32 have no common dtype"):
        called(MUL_ADD, floats(3, dtype=ml_dtypes.float8_e5m2), floats(3), 1.0)
    with pytest.raises(ValueError, match="MulAdd: shapes"):
        called(MUL_ADD, floats(3), floats(4), 1.0)
    with pytest.raises(ValueError, match="functor: name is 'B'; accepted: a structure of the source: A"):
        functor("struct A { };", "B")
    with pytest.raises(ValueError, match="functor: name is None; accepted: a structure of the source: none"):
        functor("int a;")
    with pytest.raises(TypeError, match="functor: source is an int; accepted: text"):
        functor(3)  # type: ignore[arg-type]
    assert repr(functor("struct A { }; struct B { };", "A")) == "<functor A>"


NORM = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
DOT = ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", 0, "dot")
SPREAD = ReductionKernel(
    "T x", "float64 y", "Range{double(x), double(x)}", "wider(a, b)", "y = a.high - a.low",
    "Range{1e300, -1e300}", "spread", reduce_type="Range", preamble="""
    struct Range { double low, high; };
    XPOPS_DEVICE Range wider(Range a, Range b) {
      return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
    }
    """,
)  # fmt: skip


def reduction(kernel: ReductionKernel, *arguments: Any, axis: Any = None, keepdims: bool = False) -> NDArray:
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in arguments)
    engine = EmulatedEngine()
    (made,) = run(engine, *kernel._plan(engine, specs, axis, keepdims), *arguments)
    return made


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (), (2, 1, 0)])
def test_reductions_along_axes(axis: Any) -> None:
    x = floats(5, 7, 33)
    wanted = np.sqrt((x.astype(np.float64) ** 2).sum(axis))
    np.testing.assert_allclose(reduction(NORM, x, axis=axis), wanted, rtol=1e-5)
    kept = reduction(NORM, x.T, axis=axis, keepdims=True)
    np.testing.assert_allclose(kept, np.sqrt((x.T.astype(np.float64) ** 2).sum(axis, keepdims=True)), rtol=1e-5)


@pytest.mark.parametrize("shape", [(40_000,), (3, 9000), (1,), (), (9000, 3), (1000, 1, 2)])
def test_reductions_of_shapes(shape: tuple[int, ...]) -> None:
    x = floats(*shape, dtype=np.float64)
    np.testing.assert_allclose(reduction(NORM, x), np.sqrt((x**2).sum()), rtol=1e-12)
    np.testing.assert_allclose(reduction(SPREAD, x), np.ptp(x))
    if shape:
        np.testing.assert_allclose(reduction(SPREAD, x, axis=0), np.ptp(x, 0))


def test_reductions_of_nothing() -> None:
    same(reduction(NORM, floats(0, 3), axis=0), np.zeros(3, np.float32))
    same(reduction(NORM, floats(0, 3), axis=1), np.zeros(0, np.float32))
    kernel = ReductionKernel("T x", "int32 y", "x", "a < b ? a : b", "y = int(a) + 1", "41", reduce_type="T")
    same(reduction(kernel, floats(0)), np.array(42, np.int32))


def test_reductions_of_several_operands() -> None:
    x, y = floats(6, 40, dtype=np.float64), floats(40, dtype=np.float64)
    np.testing.assert_allclose(reduction(DOT, x, y, axis=1), (x * y).sum(1))
    np.testing.assert_allclose(reduction(DOT, x.T, 2.5), (x * 2.5).sum())
    np.testing.assert_allclose(reduction(DOT, x, y, axis=0), (x * y).sum(0))
    weighted = ReductionKernel("T x, raw T y", "T z", "x * y[n - 1 - i]", "a + b", "z = a", "0")
    np.testing.assert_allclose(reduction(weighted, y, x), (y * x.ravel()[39::-1]).sum())
    places = ReductionKernel("T x", "int64 z", "x > 0 ? i : -1", "max(a, b)", "z = a", "-1", preamble=MAX)
    same(reduction(places, np.array([1, 2, -1, 3, 0], np.int8)), np.array(3))


MAX = "template <class A> XPOPS_DEVICE A max(A a, A b) { return a > b ? a : b; }"


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.int8, dt.bool, dt.complex64, dt.uint64], ids=str)
def test_reductions_of_dtypes(dtype: Any) -> None:
    x = RANDOM.integers(0, 3, (20, 33)).astype(dtype)
    total = ReductionKernel("T x", "U y", "x", "a + b", "y = a", "0", "total", reduce_type="U")
    with pytest.raises(TypeError, match="total: no argument says what U is, the dtype of y"):
        reduction(total, x)
    same(reduction(ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0"), x, axis=0), x.sum(0, dtype=dtype))
    wide = ReductionKernel("T x", "complex128 y", "x", "a + b", "y = a", "0") if dtype == dt.complex64 else (
        ReductionKernel("T x", "float64 y", "x", "a + b", "y = a", "0", reduce_type="float32")
    )  # fmt: skip
    same(reduction(wide, x), x.astype(np.complex128 if dtype == dt.complex64 else np.float64).sum())


REDUCTIONS_REFUSED: list[tuple[Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    (NORM, (floats(3),), {"axis": 1}, IndexError, "norm: axis"),
    (NORM, (floats(3, 3),), {"axis": (0, 0)}, ValueError, "norm: axis is .*, which names an axis twice"),
    (DOT, (floats(3), floats(4)), {}, ValueError, "dot: shapes"),
    (DOT, (floats(3), floats(3, dtype=np.float64)), {}, TypeError, "dot: y has dtype float64; accepted: float32, as T"),
    (
        ReductionKernel("T x, raw T y", "T z", "x", "a", "z = a.x", "Pair{}", "pairs", reduce_type="Pair"),
        (floats(3), floats(3)), {}, ValueError, "pairs: reduce_type is 'Pair'; accepted where map_expr is a kernel of",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "arguments", "options", "error", "message"), REDUCTIONS_REFUSED)
def test_reductions_that_are_refused(
    kernel: Any, arguments: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        reduction(kernel, *arguments, **options)


def test_texts_of_reductions_that_are_refused() -> None:
    with pytest.raises(ValueError, match="kernel: _in_ind is not known here; accepted: i, n and _ind in map_expr"):
        ReductionKernel("T x", "T y", "x", "a + b", "y = a / _in_ind.size()", "0")
    for outs in ("T y, T z", "raw T y", "", "T x"):
        with pytest.raises(ValueError, match="accepted: one that is not raw"):
            ReductionKernel("T x", outs, "x", "a + b", "y = a", "0")
    with pytest.raises(ValueError, match="ReductionKernel: name is '1'"):
        ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "1")
    x = xp.ones(3, device="cpu")
    with pytest.raises(TypeError, match="norm: 3 arguments and 0 in out; accepted: 1, and 1 or none"):
        NORM(x, x, x)
    with pytest.raises(xp.DeviceError, match="norm: the arrays are on cpu; kernels of one's own need a GPU"):
        NORM(x, axis=0)
    assert repr(NORM) == "<reduction kernel norm>"


HIGHEST = ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "highest")
POWERS = ScanKernel("T x", "float64 y", "double(x) + 1", "a * b", "y = a - 1", "powers")
LAST = ScanKernel("T x", "int32 y", "int(x)", "b >= 0 ? b : a", "y = a", "last")  # not commutative


def scanned(kernel: ScanKernel, x: NDArray, axis: int | None = None) -> NDArray:
    engine = EmulatedEngine(workers=2)
    (made,) = run(engine, *kernel._plan(engine, (layout_on_gpu(x),), axis), x)
    return made


@pytest.mark.parametrize("shape", [(5000,), (3, 700), (300, 5), (700, 40), (2, 90, 3), (1, 1), (0, 4)])
def test_scans(shape: tuple[int, ...]) -> None:
    x = floats(*shape)
    for axis in range(len(shape)):
        same(scanned(HIGHEST, x, axis), np.maximum.accumulate(x, axis))
        small = x / 100
        np.testing.assert_allclose(
            scanned(POWERS, small, axis), np.cumprod(small.astype(np.float64) + 1, axis) - 1, rtol=1e-9, atol=1e-12
        )
    same(scanned(HIGHEST, x.T, 0), np.maximum.accumulate(x.T, 0))


def test_scans_go_from_left_to_right() -> None:
    x = np.where(RANDOM.random(3000) < 0.1, np.arange(3000), -1).astype(np.int16)
    x[0] = 0
    same(scanned(LAST, x), np.maximum.accumulate(x).astype(np.int32))


@pytest.mark.parametrize("dtype", [dt.float16, dt.bool, dt.int8, dt.uint64, dt.complex64, dt.complex128], ids=str)
def test_scans_of_dtypes(dtype: Any) -> None:
    x = np.array([0, 1, 0, 0, 1, 1] * 50).astype(dtype)
    first = ScanKernel("T x", "T y", "x", "b == T(0) ? a : b", "y = a")
    same(scanned(first, x), np.maximum.accumulate(x.real.astype(int)).astype(dtype))


LOOKED_UP = ScanKernel(
    "int32 x", "float32 y", "prices[x]", "a + b", "y = a", "looked_up",
    preamble="__device__ const float prices[4] = {5, 6, 7, 8};",
)  # fmt: skip


@pytest.mark.parametrize("shape", [(3000, 3), (700, 10), (1001, 5), (90, 2, 6), (700, 70), (37, 131), (5000,)])
def test_scans_map_elements_and_zeros_only(shape: tuple[int, ...]) -> None:
    """A table is read at places that exist, although threads have rows beyond the end of the array."""
    x = RANDOM.integers(0, 4, shape).astype(np.int32)
    for axis in range(len(shape)):
        same(scanned(LOOKED_UP, x, axis), np.cumsum(x + np.float32(5), axis, dtype=np.float32))


EXTREMES = ScanKernel(
    "T x", "T y", "Range{x, x}", "Range{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}",
    "y = a.high - a.low", "extremes", scan_type="Range", preamble="struct Range { T low, high; };",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5000,), (3, 700), (700, 40), (2, 90, 3), (1,)])
def test_scans_of_structures(shape: tuple[int, ...], dtype: Any) -> None:
    x = floats(*shape, dtype=dtype)
    wide = x.astype(np.float32 if dtype == np.float16 else dtype)
    for axis in range(len(shape)):
        wanted = np.maximum.accumulate(wide, axis) - np.minimum.accumulate(wide, axis)
        same(scanned(EXTREMES, x, axis), wanted.astype(dtype))


def test_types_of_scans() -> None:
    x = RANDOM.integers(0, 100, 3000).astype(np.int8)
    wide = ScanKernel("T x", "float32 y", "x", "a + b", "y = a / 2.0", scan_type="int64")
    same(scanned(wide, x), (x.astype(np.int64).cumsum() / 2).astype(np.float32))
    narrow = ScanKernel("T x", "T y", "x", "a + b", "y = a", scan_type="T")
    same(scanned(narrow, x), x.cumsum(dtype=np.int8))


def test_scans_that_are_refused() -> None:
    for ins, outs in (("T x, T y", "T z"), ("raw T x", "T y"), ("T x", "T x"), ("T a", "T y"), ("T x", "T y, T z")):
        with pytest.raises(ValueError, match=r"kernel: the parameters are .*; accepted: one each that is not raw"):
            ScanKernel(ins, outs, "x", "a + b", "y = a")
    with pytest.raises(ValueError, match="ScanKernel: name is '-'"):
        ScanKernel("T x", "T y", "x", "a + b", "y = a", "-")
    with pytest.raises(
        ValueError, match="highest: axis is None for an array of 2 axes; accepted: None for 1 axis only"
    ):
        scanned(HIGHEST, floats(2, 2))
    with pytest.raises(IndexError, match="highest: axis"):
        scanned(HIGHEST, floats(2, 2), 2)
    with pytest.raises(TypeError, match="x has dtype float32; accepted: int8"):
        scanned(ScanKernel("int8 x", "T y", "x", "a", "y = a"), floats(2))
    with pytest.raises(TypeError, match="no argument says what U is"):
        scanned(ScanKernel("T x", "U y", "x", "a", "y = a"), floats(2))
    with pytest.raises(xp.DeviceError, match="highest: the arrays are on cpu"):
        HIGHEST(xp.ones(3, device="cpu"))
    assert repr(HIGHEST) == "<scan kernel highest>"
