"""Cases for the primitives that compute in registers. NumPy computes the expected results."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.helpers.kps import BFLOAT16, Case, NDArray, c_type, some, zeros
from tests.helpers.philox import halves, philox, uniforms

# Elementwise operations on registers

FOUR = """
template <class T> struct Four { XPOPS_DEVICE T operator()(const T* x) const { return x[0] * x[3] + x[1]; } };
template <class T, class From> XPOPS_DEVICE void write_all(T* to, const From* from) {
  for (int j = 0; j < 6; ++j) to[32 * j + threadIdx.x] = from[j];
}
"""


def registers() -> Iterator[Case]:
    body = """
      float x[4][6], y[6]; double z[6]; int w[6]; float16 v[6];
      for (int i = 0; i < 4; ++i) for (int j = 0; j < 6; ++j) x[i][j] = in0[32 * (6 * i + j) + threadIdx.x];
      kps::ElementwiseUnary<float, double, 3, 2, kps::SquareFunctor<float>>(z, x[0], kps::SquareFunctor<float>());
      write_all(out0, z);
      kps::ElementwiseBinary<float, int, 3, 2, kps::SubFunctor<float>>(w, x[0], x[1], kps::SubFunctor<float>());
      write_all(out1, w);
      const auto clamp = [](float a, float b, float c) { return a < b ? b : a > c ? c : a; };
      kps::ElementwiseTernary<float, float16, 3, 2, decltype(clamp)>(v, x[0], x[1], x[2], clamp);
      write_all(out2, v);
      kps::ElementwiseAny<float, float, 3, 2, 4, Four<float>>(y, x, Four<float>());
      write_all(out3, y);
      kps::CycleBinary<float, float, 3, 2, kps::AddFunctor<float>>(y, x[3], x[0], kps::AddFunctor<float>());
      write_all(out4, y);
      const auto seven = [] { return 7.9; };
      kps::ElementwiseConstant<float, int, 3, 2, decltype(seven)>(w, seven);
      write_all(out5, w);
    """
    x = some("float32", 4, 6, 32)
    a, b, c, d = x
    wanted = (
        (a * a).astype(np.float64),
        (a - b).astype(np.int32),
        np.where(a < b, b, np.where(a > c, c, a)).astype(np.float16),
        a * d + b,
        np.concatenate([d[:3], d[:3]]) + a,
        np.full((6, 32), 7, np.int32),
    )
    yield Case("compute", body, (x,), tuple(zeros(each.dtype, 6, 32) for each in wanted), wanted, preamble=FOUR)


# Functors

UNARY: dict[str, Callable[[NDArray], Any]] = {
    "Exp": np.exp,
    "Identity": lambda x: x,
    "Inverse": lambda x: -x,
    "Square": lambda x: x * x,
    "Divide": lambda x: x / 4,
}
BINARY: dict[str, Callable[[NDArray, NDArray], Any]] = {
    "Min": np.minimum,
    "Max": np.maximum,
    "Add": np.add,
    "Mul": np.multiply,
    "LogicalOr": lambda x, y: (x != 0) | (y != 0),
    "LogicalAnd": lambda x, y: (x != 0) & (y != 0),
    "Sub": np.subtract,
    "Div": np.divide,
    # Infinities as the standard names them first, not as in Python.
    "FloorDiv": lambda x, y: np.where(np.isinf(x) | np.isinf(y), np.floor(x / y), np.floor_divide(x, y)),
}
UNORDERED = ("Min", "Max", "FloorDiv")  # not for complex numbers


def quotients(x: NDArray, y: NDArray) -> NDArray:
    """Quotients truncated as in C++, but 0 for a divisor of 0, and modulo 2^n."""
    pairs = [
        0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    return np.array([each % 2**64 for each in pairs], np.uint64).astype(x.dtype)


def extremes(dtype: Any) -> tuple[Any, Any]:
    """The identities of the maximum and the minimum."""
    if np.dtype(dtype).kind in "biu":
        return (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return -np.inf, np.inf


def functors() -> Iterator[Case]:
    for dtype in ("bool", "int8", "uint16", "int32", "int64", "float16", BFLOAT16, "float32", "float64", "complex64"):
        x, y = operands(np.dtype(dtype))
        t, complex_numbers = c_type(x), x.dtype.kind == "c"
        calls, results = zip(*applied(x, y), strict=True)
        body = f"""
          using T = {t};
          for (int i = threadIdx.x; i < {x.size}; i += blockDim.x) {{
            const T x = in0[i], y = in1[i];
            T r;
        """
        body += "\n".join(f"{call}; out0[{x.size * i} + i] = r;" for i, call in enumerate(calls)) + "\n}\n"
        started = ["Add", "Sub", "LogicalOr", "Mul", "LogicalAnd"] + ([] if complex_numbers else ["Max", "Min"])
        body += "\n".join(f"out1[{i}] = kps::{name}Functor<T>().initial();" for i, name in enumerate(started))
        initial = np.array([0, 0, 0, 1, 1, *(() if complex_numbers else extremes(x.dtype))]).astype(dtype)
        outputs = (zeros(dtype, len(results), x.size), zeros(dtype, initial.size))
        preamble = "#include <xpops/math/complex.cuh>" if complex_numbers else ""
        rtol = 4e-7 if dtype in ("float32", "float64", "complex64") else 0
        yield Case(f"functors of {x.dtype.name}", body, (x, y), outputs, (np.stack(results), initial),
                   preamble=preamble, rtol=rtol)  # fmt: skip
    body = """
      kps::DivideFunctor<int, float> third(3); kps::DivideFunctor<float> one;
      kps::ExpFunctor<int, float> power;
      out0[0] = third(2); out0[1] = one(5.0f); out0[2] = power(1); out0[3] = kps::details::Log(2);
      out0[4] = cast<float>(kps::MinFunctor<float8_e4m3fn>().initial());
      out0[5] = cast<float>(kps::MaxFunctor<float8_e5m2>().initial());
      out0[6] = cast<float>(kps::MulFunctor<float8_e4m3fn>().initial());
      out0[7] = sizeof(kps::details::MPTypeTrait<float16>::Type);
    """
    numbers = np.array([2 / 3, 5, math.e, math.log(2), 448, -np.inf, 1, 4], np.float32)
    yield Case("functors of two types", body, (), (zeros("float32", 8),), (numbers,), block=(1, 1, 1), rtol=2e-7)


@np.errstate(all="ignore")
def applied(x: NDArray, y: NDArray) -> list[tuple[str, NDArray]]:
    """The functors for a dtype, as statements that set r, and their expected results."""
    kind, integers = x.dtype.kind, x.dtype.kind in "iu"
    wide = x.astype(np.float32 if x.dtype.name in ("float16", "bfloat16") else x.dtype)
    other = y.astype(wide.dtype)
    found: list[tuple[str, Any]] = []
    for name, unary in UNARY.items():
        if (kind == "b" and name != "Identity") or (integers and name == "Exp"):  # out of the range of integers
            continue
        result = quotients(x, np.full_like(x, 4)) if integers and name == "Divide" else unary(wide)
        call = f"kps::ElementwiseUnary<T, T, 1, 1, kps::{name}Functor<T>>(&r, &x, kps::{name}Functor<T>(4))"
        found.append((call, result))
    for name, binary in BINARY.items():
        if (kind == "c" and name in UNORDERED) or (kind == "b" and name in ("Sub", "FloorDiv", "Div")):
            continue
        result = binary(wide, other)
        if integers and name in ("Div", "FloorDiv"):
            result = quotients(x, y) if name == "Div" else np.where(y == 0, 0, np.floor_divide(x, y))
        call = f"kps::ElementwiseBinary<T, T, 1, 1, kps::{name}Functor<T>>(&r, &x, &y, kps::{name}Functor<T>())"
        found.append((call, result))
    return [(call, np.asarray(result).astype(x.dtype)) for call, result in found]


def operands(dtype: np.dtype[Any]) -> tuple[NDArray, NDArray]:
    """All pairs of a few numbers, including special values of the dtype."""
    if dtype.kind == "b":
        numbers = np.array([False, True])
    elif dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        numbers = np.array([low, 0, 1, 2, 7, 100, high] + ([-1, -2, -7] if low else []), dtype)
    elif dtype.kind == "c":
        numbers = np.array([1, -1, 2.5, 1j, -3 + 4j, 0.25 - 2j], dtype)
    else:
        numbers = np.array([-0.0, 0.0, 1, -1, 2.5, -7.25, 0.1, 300, np.inf, -np.inf, np.nan], np.float64).astype(dtype)
    first, second = zip(*itertools.product(numbers.tolist(), repeat=2), strict=True)
    return np.array(first).astype(dtype), np.array(second).astype(dtype)


# Random numbers

FOUR_NUMBERS = """
struct FourNumbers { float x, y, z, w; };
struct Counting {
  XPOPS_DEVICE FourNumbers operator()(int* state) const {
    const float first = static_cast<float>(*state);
    *state += 4;
    return {first, first + 1, first + 2, first + 3};
  }
};
"""


def random() -> Iterator[Case]:
    seed, stream, threads = 2**63 + 12345, 2**40 + 7, 32
    words = [
        word for i in range(2 * threads) for word in philox((*halves(10 + i), *halves(stream)), halves(seed))
    ]  # counters 10 and up, two for each thread
    body = f"""
      using State = kps::PhiloxState;
      State a({seed}ull, {stream}ull, 10 + 2 * threadIdx.x), b = a, c = a;
      float u[8]; double v[4]; float n[4];
      kps::ElementwiseRandom<State, float, 4, kps::UniformFunctor<float>>(u, kps::UniformFunctor<float>(), &a);
      kps::ElementwiseRandom<State, float, 4, kps::UniformFunctor<float>>(u + 4, kps::UniformFunctor<float>(), &a);
      for (int i = 0; i < 2; ++i) {{
        kps::UniformFunctor<double> twice(1, 2);
        kps::ElementwiseRandom<State, double, 2, kps::UniformFunctor<double>>(v + 2 * i, twice, &b);
      }}
      kps::ElementwiseRandom<State, float, 4, kps::NormalFunctor<float>>(n, kps::NormalFunctor<float>(1, 2), &c);
      int count = 100 * threadIdx.x; int16 numbers[7];
      kps::ElementwiseRandom<int, int16, 4, Counting>(numbers, Counting(), &count);
      kps::ElementwiseRandom<int, int16, 3, Counting>(numbers + 4, Counting(), &count);
      for (int i = 0; i < 8; ++i) out0[8 * threadIdx.x + i] = u[i];
      for (int i = 0; i < 4; ++i) out1[4 * threadIdx.x + i] = v[i];
      for (int i = 0; i < 4; ++i) out2[4 * threadIdx.x + i] = n[i];
      for (int i = 0; i < 7; ++i) out3[7 * threadIdx.x + i] = numbers[i];
    """
    first = np.array(words).reshape(threads, 2, 4)[:, 0].reshape(-1, 2)
    radius = np.sqrt(-2 * np.log((first[:, 0] + 0.5) / 2**32)) * np.where(first[:, 1] >> 31, -1, 1)
    angle = np.pi * (first[:, 1] * 2 % 2**32).astype(np.uint32).view(np.int32) / 2**32
    normal = 1 + 2 * np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    wanted = (
        np.array(uniforms(words, "float32"), np.float32),
        1 + 2 * np.array(uniforms(words, "float64")),
        normal.astype(np.float32).reshape(-1),
        (100 * np.arange(threads)[:, None] + np.arange(7)).astype(np.int16).reshape(-1),
    )
    yield Case("random numbers", body, (), tuple(zeros(each.dtype, each.size) for each in wanted), wanted,
               preamble=FOUR_NUMBERS, rtol=1e-5)  # fmt: skip
