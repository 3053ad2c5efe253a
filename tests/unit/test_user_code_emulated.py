"""What the code of users has without an include: 16-bit floats with operators, atomic functions; forms of functors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.test_kernel_emulated import NDArray, called, elementwise, floats, same
from xpops.api.kernel import ElementwiseKernel, functor
from xpops.core import dtypes as dt

HALVES: tuple[Any, ...] = (np.float16, ml_dtypes.bfloat16)
RANDOM = np.random.default_rng(11)


def name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def special(dtype: Any) -> NDArray:
    """Every kind of 16-bit number, and random bits."""
    known = np.array([0.0, -0.0, 1, -1, 0.5, 3, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 65504, 1e-5], np.float32).astype(
        dtype
    )
    drawn = RANDOM.integers(0, 2**16, 487, np.uint16).view(dtype)
    return np.concatenate([known, drawn])


def equal(got: NDArray, wanted: NDArray) -> None:
    """The same numbers, NaN where NaN is wanted, and the same signs of zeros."""
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))
    zero = wanted.astype(np.float64) == 0
    np.testing.assert_array_equal(np.signbit(got.astype(np.float64))[zero], np.signbit(wanted.astype(np.float64))[zero])


OPERATIONS: dict[str, tuple[str, Any]] = {
    "sum": ("a + b", lambda a, b, d: (a + b).astype(d)),
    "difference": ("a - b", lambda a, b, d: (a - b).astype(d)),
    "product": ("a * b", lambda a, b, d: (a * b).astype(d)),
    "quotient": ("a / b", lambda a, b, d: (a / b).astype(d)),
    "every operation rounds": ("a * b + a", lambda a, b, d: ((a * b).astype(d).astype("f4") + a).astype(d)),
    "compound": ("(c += a, c *= b, c)", lambda a, b, d: ((a + 2).astype(d).astype("f4") * b).astype(d)),
    "integers do not widen": ("a + 2 * b", lambda a, b, d: (a + (2 * b).astype(d).astype("f4")).astype(d)),
    "float widens": ("a * 1.5f + b", lambda a, b, d: (a * np.float32(1.5) + b).astype(d)),
    "double widens": ("H(a * 1.25)", lambda a, b, d: (a * np.float32(1.25)).astype(d)),
    "negative": ("-a", lambda a, b, d: -a.astype(d)),
    "absolute": ("abs(a)", lambda a, b, d: abs(a).astype(d)),
    "larger": ("a > b ? a : b", lambda a, b, d: np.where(a > b, a, b).astype(d)),
    "clipped": ("a < 0 ? 0 : a", lambda a, b, d: np.where(a < 0, 0, a).astype(d)),
    "root": ("sqrt(a)", lambda a, b, d: np.sqrt(a).astype(d)),
    "as float": ("sqrtf(a)", lambda a, b, d: np.sqrt(a).astype(d)),
    "floor": ("floor(a)", lambda a, b, d: np.floor(a).astype(d)),
    "by float": ("(f += b, f)", lambda a, b, d: (a + b).astype(d)),
    "condition": ("a && !(b == b) ? H(1) : H(0)", lambda a, b, d: ((a != 0) & (b != b)).astype(d)),
    "incremented": ("(++c, c++ + c)", lambda a, b, d: np.full(a.shape, 7).astype(d)),
    "intrinsics": ("__hadd(__hmul(a, b), __hneg(a))", lambda a, b, d: ((a * b).astype(d).astype("f4") - a).astype(d)),
    "maximum": ("__hmax(a, b)", lambda a, b, d: np.fmax(a, b).astype(d)),
    "minimum with NaN": ("__hmin_nan(a, b)", lambda a, b, d: np.minimum(a, b).astype(d)),
    "compared": ("H(__hgt(a, b)) + H(__hltu(a, b))", lambda a, b, d: ((a > b) * 1.0 + ~(a >= b)).astype(d)),
    "different": ("H(__hne(a, b)) + H(__hneu(a, b))", lambda a, b, d: (((a < b) | (a > b)) * 1.0 + (a != b)).astype(d)),
    "not a number": ("H(__hisnan(a)) + H(isnan(b))", lambda a, b, d: (np.isnan(a) * 1.0 + np.isnan(b)).astype(d)),
    "of pairs": ("__high2half(__hadd2(__halves2half2(a, b), __half2half2(a)))", lambda a, b, d: (a + b).astype(d)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", HALVES, ids=name_of)
@pytest.mark.parametrize("name", OPERATIONS)
def test_halves_are_numbers(name: str, dtype: Any) -> None:
    text, reference = OPERATIONS[name]
    body = f"const H a = x, b = y; H c = 2; float f = a; z = {text};"
    kernel = ElementwiseKernel(
        "T x, T y", "T z", body.replace("H", "Number"), preamble=f"using Number = {name_of(dtype)};"
    )
    x = special(dtype)
    y = RANDOM.permutation(x)
    with np.errstate(all="ignore"):
        wanted = reference(x.astype(np.float32), y.astype(np.float32), dtype)
    for _ in range(2):
        equal(elementwise(kernel, x, y), wanted)


@pytest.mark.parametrize("dtype", HALVES, ids=name_of)
@pytest.mark.parametrize("source", [dt.int8, dt.int32, dt.int64, dt.uint64, dt.float32, dt.float64, dt.bool], ids=str)
def test_halves_convert_as_astype_does(source: Any, dtype: Any) -> None:
    x = np.array([0, 1, -1, 3, 2049, 2051, 70000, 2**53 + 1, 65519.99, 65520.1, 1e-7]).astype(np.float64)
    with np.errstate(all="ignore"):
        x = x.astype(source)
        wanted = x.astype(dtype)
    kernel = ElementwiseKernel("T x", "float32 z, U back", f"{name_of(dtype)} h = x; z = h; back = static_cast<U>(h)")
    z, back = elementwise(kernel, x, out=(np.zeros(x.shape, np.float32), np.zeros(x.shape, source)))
    equal(z, wanted.astype(np.float32))
    known = np.isfinite(z) & (abs(z) < 100)
    same(back[known], z[known].astype(source))


def test_a_fused_product_is_rounded_once() -> None:
    x = np.array([1.0009765625, 1.001953125, 3.0], np.float16)
    kernel = ElementwiseKernel("T x", "T z", "float16 h = x; z = __hfma(h, h, float16(-1))")
    same(elementwise(kernel, x), (x.astype(np.float64) ** 2 - 1).astype(np.float16))


def test_fixed_width_integers_and_traits_need_no_include() -> None:
    kernel = ElementwiseKernel(
        "T x", "int64 z",
        """
        int32_t small = x; uint64_t large = ~uint64_t(0); std::int8_t tiny = -3;
        typename std::enable_if<std::is_same<int32_t, int>::value, int64_t>::type sum = small;
        static_assert(sizeof(typename std::aligned_storage<16, 16>::type) == 16, "");
        z = sum + std::max<int64_t>(tiny, 2) + std::min(3, 4) + int64_t(large >> 60);
        z += std::numeric_limits<short>::max();
        """,
    )  # fmt: skip
    x = np.arange(5, dtype=np.int16)
    same(elementwise(kernel, x), x + np.int64(2 + 3 + 15 + 32767))


NUMBERS = [each for each in dt.INFO if each not in dt.COMPLEX_FLOATS and each not in dt.FLOAT8 and each != dt.bool]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_atomic_functions_of_every_dtype(dtype: Any) -> None:
    """Many threads change the same few elements; all intermediate values are exact."""
    places = RANDOM.integers(0, 5, 700)
    x = RANDOM.integers(0, 7 if dtype.itemsize > 1 else 2, 700).astype(dtype)
    wide = x.astype(np.float64)
    body = "atomicAdd(&a[at], x); atomicMax(&b[at], x); atomicMin(&c[at], x); d[i] = atomicExch(&e[i], x);"
    body += "f[i] = atomicCAS(&g[i], T(3), x); atomicSub(&h[at], x);"
    names = "abcdefgh"
    kernel = ElementwiseKernel("T x, int64 at", ", ".join(f"raw T {each}" for each in names), body)
    count = np.zeros(5)
    np.add.at(count, places, wide)
    for _ in range(2):
        a, h = np.zeros(5, dtype), np.zeros(5, dtype)
        b, c = np.full(5, 2, dtype), np.full(5, 4, dtype)
        d, f = np.full((2, 700), 9, dtype)
        e, g = np.full((2, 700), 3, dtype)
        g[::2] = 1
        elementwise(kernel, x, places, out=(a, b, c, d, e, f, g, h))
        fits = count.astype(dtype) if dtype.kind not in "iu" else np.zeros(5, dtype)
        if dtype.kind in "iu":
            np.add.at(fits, places, x)
        rounds = dtype in (dt.float16, dt.bfloat16) and count.max() > 2 ** (ml_dtypes.finfo(dtype).nmant + 1)
        if not rounds:
            same(a, fits)
            same(h, (np.zeros(5, dtype) - fits).astype(dtype))
        same(b, np.array([max(2, wide[places == k].max()) for k in range(5)]).astype(dtype))
        same(c, np.array([min(4, wide[places == k].min()) for k in range(5)]).astype(dtype))
        same(d, np.full(700, 3, dtype))
        same(e, x)
        same(f, np.where(np.arange(700) % 2, 3, 1).astype(dtype))
        same(g, np.where(np.arange(700) % 2, wide, 1).astype(dtype))


def test_atomic_functions_of_bits_complex_numbers_and_truth() -> None:
    x = RANDOM.integers(0, 256, 300).astype(np.uint8)
    kernel = ElementwiseKernel(
        "T x",
        "raw T y, raw bool t",
        "atomicOr(&y[0], x); atomicAnd(&y[1], x); atomicXor(&y[2], x); atomicOr(&t[1], x > 3);",
    )
    y, t = np.array([0, 255, 0, 77], np.uint8), np.zeros(3, np.bool_)
    elementwise(kernel, x, out=(y, t))
    same(y, np.array([np.bitwise_or.reduce(x), np.bitwise_and.reduce(x), np.bitwise_xor.reduce(x), 77], np.uint8))
    same(t, np.array([False, True, False]))
    for dtype in (np.complex64, np.complex128):
        z = (RANDOM.integers(-9, 9, 100) + 1j * RANDOM.integers(-9, 9, 100)).astype(dtype)
        total = np.zeros(2, dtype)
        elementwise(ElementwiseKernel("T z", "raw T y", "atomicAdd(&y[1], z)"), z, out=total)
        same(total, np.array([0, z.sum()], dtype))


def test_a_nan_loses_in_atomic_maxima() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        x = np.array([np.nan, 1, -2, np.nan, 5, -np.inf], dtype)
        y = np.full(3, np.nan, dtype)
        elementwise(ElementwiseKernel("T x", "raw T y", "atomicMax(&y[0], x); atomicMin(&y[2], x)"), x, out=y)
        same(y, np.array([5, np.nan, -np.inf], dtype))


@pytest.mark.parametrize("dtype", [*HALVES, np.float32, np.float64, np.int64], ids=name_of)
@pytest.mark.parametrize(
    "text",
    [
        "FastAtomicAdd(&y[0], at, y.size(), x)",
        "FastAtomicAdd(reinterpret_cast<E*>(&y[0]), size_t(at), int(y.size()), E(x))",
    ],
)
def test_fast_additions_at_any_address(text: str, dtype: Any) -> None:
    """Odd and even bases, every element, and neighbours on both sides that must keep their bits."""
    kernel = ElementwiseKernel("T x, int64 at", "raw T y", text, preamble=f"using E = {_c_type(dtype)};")
    guard = np.frombuffer(b"\x80" * np.dtype(dtype).itemsize, dtype)[0] if np.dtype(dtype).kind == "i" else -0.0
    for length in (1, 2, 3, 4, 5, 33):
        for start in (1, 2, 3):
            memory = np.full(length + 6, guard, dtype)
            before = memory.copy()
            y = memory[start : start + length]
            y[:] = 1
            places = np.arange(4 * length) % length
            x = RANDOM.integers(-3, 4, places.size).astype(dtype)
            wanted = np.ones(length)
            np.add.at(wanted, places, x.astype(np.float64))
            elementwise(kernel, x, places, out=y)
            same(y, wanted.astype(dtype))
            y[:] = guard
            assert memory.tobytes() == before.tobytes()


def test_a_fast_addition_keeps_the_sign_of_its_neighbours_zero() -> None:
    kernel = ElementwiseKernel("T x", "raw T y", "FastAtomicAdd(&y[0], 1, 4, x)")
    for dtype in HALVES:
        y = np.array([-0.0, 1, -0.0, np.inf], dtype)
        elementwise(kernel, np.array([2, 3], dtype), out=y)
        assert y.tobytes() == np.array([-0.0, 6, -0.0, np.inf], dtype).tobytes()


def _c_type(dtype: Any) -> str:
    return {"float32": "float", "float64": "double", "int64": "xpops::int64"}.get(
        name_of(dtype), f"xpops::{name_of(dtype)}"
    )


# Functors.

AVERAGE = """
template <typename Number>
struct Average {
  XPOPS_DEVICE Number operator()(const Number& a, Number b) const { return (a + b) / Number(2); }
};
"""


@pytest.mark.parametrize("dtype", [*HALVES, np.float32, np.float64, np.int32], ids=name_of)
def test_class_templates_get_the_dtype(dtype: Any) -> None:
    x, y = floats(33, dtype=np.float32) * 100, floats(33, dtype=np.float32) * 100
    x, y = x.astype(dtype), y.astype(dtype)
    if dtype in HALVES:
        wanted = ((x.astype("f4") + y.astype("f4")).astype(dtype).astype("f4") / 2).astype(dtype)
    else:
        wanted = (np.trunc((x + y) / 2)).astype(dtype) if dtype is np.int32 else (x + y) / dtype(2)
    for operator in (functor(AVERAGE), functor(AVERAGE, "Average<T>"), functor(AVERAGE, "Average<R>")):
        for _ in range(2):
            same(called(operator, x, y), wanted)
    wide = "float" if dtype in HALVES else "double"
    wanted = (x.astype("f8") + y.astype("f8")) / 2
    got = called(functor(AVERAGE, f"Average<{wide}>"), x, y, result=dt.float64)
    np.testing.assert_allclose(got, wanted, rtol=1e-7 if dtype in HALVES else 0)


CONVERT = """
template <class To, class From, class Enable = void>
struct Convert {
  XPOPS_DEVICE To operator()(From from) const { return static_cast<To>(from); }
};
// Pairs add 1, so that results show which function ran.
template <class To>
struct Convert<To, xpops::float16, typename std::enable_if<!std::is_same<To, xpops::float16>::value>::type> {
  XPOPS_DEVICE To operator()(xpops::float16 from) const { return static_cast<To>(static_cast<float>(from)); }
  XPOPS_DEVICE void Apply2(To* to, const xpops::float16* from) const {
    to[0] = static_cast<To>(static_cast<float>(from[0]) + 1);
    to[1] = static_cast<To>(static_cast<float>(from[1]) + 1);
  }
};
"""


def test_two_at_once_between_two_types() -> None:
    convert = functor(CONVERT, "Convert<R, T>")
    for shape in ((1000,), (33, 7), (3,), (1,)):
        x = (floats(*shape) * 50).astype(np.float16)
        wide = x.astype(np.float32)
        for result, dtype in ((dt.float32, np.float32), (dt.float64, np.float64), (dt.int32, np.int32)):
            for _ in range(2):
                same(called(convert, x, result=result), (wide + 1).astype(dtype))
        same(called(convert, x), x)  # the general template has no Apply2
        same(called(convert, wide, result=dt.float16), x)
    turned = (floats(70, 64) * 50).astype(np.float16).T
    same(called(convert, turned, result=dt.float32), turned.astype(np.float32) + 1)


def test_two_at_once_of_several_operands() -> None:
    text = """
    struct Sum3 {
      float bias;
      template <class T> XPOPS_DEVICE T operator()(T x, T y, T z) const { return x + y + z + T(bias); }
      template <class T> XPOPS_DEVICE void Apply2(T* to, const T* x, const T* y, const T* z) const {
        for (int i = 0; i < 2; ++i) to[i] = x[i] + y[i] + z[i] + T(bias) + T(1);
      }
    };
    """
    operator = functor(text, parameters="float32 bias")
    x, y, z = (RANDOM.integers(-50, 50, (5, 40)).astype(np.float32) for _ in range(3))
    for given in ((x, y, z), (x, y[0], z), (x, y[:, :1], 3.0), (x.astype("f2"), y.astype("f2"), z.astype("f2"))):
        wanted = sum(np.asarray(each, np.float32) for each in given) + 8
        same(called_with(operator, *given, bias=7), wanted.astype(given[0].dtype))
    same(called_with(operator, x, y, z.astype("f2"), bias=7), x + y + z + 7)


def called_with(operator: Any, *arguments: Any, result: Any = None, **parameters: Any) -> NDArray:
    return called(operator, *arguments, *operator._state(parameters), result=result)


STATE = {
    "members": (
        """
        struct F {
          float a; int b;
          template <class T> XPOPS_DEVICE T operator()(T x) const { return x * T(a) + T(b); }
        };
        """,
        "F",
    ),
    "constructor": (
        """
        struct F {
          XPOPS_DEVICE explicit F(float a, int b) : a_(a), b_(b) {}
          XPOPS_DEVICE float operator()(float x) const { return x * a_ + b_; }
         private:
          float a_; int b_;
        };
        """,
        "F",
    ),
    "factory": (
        """
        struct G { float a; int b; XPOPS_DEVICE float operator()(float x) const { return x * a + b; } };
        struct F { float a; int b; XPOPS_DEVICE G operator()() const { return G{a, b}; } };
        """,
        "F",
    ),
    "template": (
        """
        template <class Number> struct F {
          float a; int b;
          XPOPS_DEVICE Number operator()(Number x) const { return x * Number(a) + Number(b); }
        };
        """,
        "F<T>",
    ),
    "factory template": (
        """
        template <class G> struct F {
          XPOPS_DEVICE F(float a, int b) : made{a, b} {}
          XPOPS_DEVICE G operator()() const { return made; }
          G made;
        };
        template <class Number> struct G {
          float a; int b;
          XPOPS_DEVICE Number operator()(Number x) { return x * Number(a) + Number(b); }
        };
        """,
        "F<G<T>>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", STATE)
def test_parameters(form: str) -> None:
    text, name = STATE[form]
    operator = functor(text, name, "float32 a, int32 b")
    x = RANDOM.integers(-20, 20, 33).astype(np.float32)
    for a, b in ((2.0, 3), (0.5, -1), (np.float64(4), np.int64(9)), (3, 0), (True, 1)):
        for dtype in (np.float32, np.float64, np.float16):
            same(called_with(operator, x.astype(dtype), a=a, b=b), (x * float(a) + float(b)).astype(dtype))


SHIFT = """
template <class Number>
struct Shift {
  Number by;
  XPOPS_DEVICE Number operator()(Number x) const { return x + by; }
};
"""


def test_parameters_of_the_operands_dtype() -> None:
    operator = functor(SHIFT, parameters="T by")
    for dtype in (np.int8, np.int64, np.float16, np.float64):
        x = np.arange(17).astype(dtype)
        same(called_with(operator, x, by=3), x + dtype(3))
    with pytest.raises(TypeError, match="Shift: by is a Python complex; accepted: int64"):
        called_with(operator, np.arange(3), by=1j)


def test_parameters_may_have_the_names_of_an_operations_variables() -> None:
    text = """
    struct Divide {
      XPOPS_DEVICE Divide(int n, float i) : inverse(i / n) {}
      XPOPS_DEVICE float operator()(float x) const { return x * inverse; }
      float inverse;
    };
    """
    operator = functor(text, parameters="int32 n, float32 i")
    x = floats(40, 30).T
    same(called_with(operator, x, n=4, i=2), x * np.float32(0.5))


def test_parameters_that_are_refused() -> None:
    operator = functor(SHIFT, parameters="T by")
    x = floats(3)
    with pytest.raises(TypeError, match="Shift: parameters are missing; accepted: by, by name"):
        operator(x)
    with pytest.raises(TypeError, match="Shift: parameters are to; accepted: by, by name"):
        operator(x, to=3)
    with pytest.raises(TypeError, match=r"Shift: by is a numpy\.ndarray; accepted: a number"):
        operator(x, by=x)
    with pytest.raises(TypeError, match="Average: parameters are by; accepted: none, by name"):
        functor(AVERAGE)(x, x, by=1)
    for parameters, message in (
        ("raw T by", "parameters has raw T by; accepted: a dtype, or T for that of the operands"),
        ("U by", "parameters has U by; accepted: a dtype, or T for that of the operands"),
        ("T x0", "parameters has 'x0', the name of an operand; accepted: another name"),
        ("T result", "parameters has 'result' twice, or it is one of T, R, y, result"),
        ("float by", "parameters has 'float by'; accepted: 'T x'"),
    ):
        with pytest.raises(ValueError, match=message):
            functor(SHIFT, parameters=parameters)
    with pytest.raises(
        ValueError, match="Convert is a template of class To, class From, class Enable = void; accepted: a name"
    ):
        functor(CONVERT)
    with pytest.raises(
        ValueError, match="N is a template of int k; accepted: a name with its arguments, like 'N<R, T>'"
    ):
        functor("template <int k> struct N {};")
    with pytest.raises(ValueError, match="name is 'A<T>', which is no class template; accepted: 'A'"):
        functor("struct A {};", "A<T>")
    with pytest.raises(ValueError, match="name is 'Missing<T>'; accepted: a structure of the source: Average"):
        functor(AVERAGE, "Missing<T>")
