// Approximations and conversions by one hardware instruction. They are accurate enough for results of 16 bits and less;
// for others, callers correct them.
//
// And what the Narrow functors share, which compute results of 16 bits and less in float, with these approximations and
// minimax polynomials (from Remez exchange). Those of the standard's functions take operands X, float16 or bfloat16, as
// they are stored. The relative error of the float is at most 2^-18, or 2^-17 for bfloat16, so that results are within
// 0.51 units in the last place. A float16 operand is a normal float and at most 65504. A bfloat16 operand has 8 digits
// and the exponents of float, subnormal ones included.
#pragma once

#include "xpops/core/traits.cuh"
#include "xpops/core/types.cuh"
#include "xpops/math/real.cuh"

namespace xpops {

// The error is at most 2 ulp. Subnormal operands and results are taken as 0.
XPOPS_DEVICE float fast_exp2(float x) {
#if XPOPS_ON_GPU
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return ::exp2f(x);
#endif
}
XPOPS_DEVICE float fast_reciprocal(float x) {
#if XPOPS_ON_GPU
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}

// An integer below 2^23 as a float, and the integer part of a number from 0 to below 2^23: an addition each, which is
// four times as fast as the conversion. Such integers are the low bits of floats from 2^23 on.
XPOPS_DEVICE float fast_float(uint32 x) { return bits_float(0x4b000000u | x) - 0x1p23f; }
XPOPS_DEVICE uint32 fast_integer(float x) {
#if XPOPS_ON_GPU
  return float_bits(__fadd_rz(x, 0x1p23f)) & 0x7fffffu;
#else
  return static_cast<uint32>(x);
#endif
}
// The error is at most 2^-22: of the result, or between 0.5 and 2 absolute.
XPOPS_DEVICE float fast_log2(float x) {
#if XPOPS_ON_GPU
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return ::log2f(x);
#endif
}
XPOPS_DEVICE float fast_sqrt(float x) {
#if XPOPS_ON_GPU
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return ::sqrtf(x);
#endif
}

// Conversions by one instruction. Unlike float16's own, they do not preserve the sign of NaN.
XPOPS_DEVICE float widened(float x) { return x; }
XPOPS_DEVICE float widened(bfloat16 x) { return static_cast<float>(x); }
XPOPS_DEVICE float widened(float16 x) {
#if XPOPS_ON_GPU
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
#else
  return static_cast<float>(x);
#endif
}
template <class Out> XPOPS_DEVICE Out narrowed(float x) {
#if XPOPS_ON_GPU
  if constexpr (is_same_v<Out, float16>) {
    Out y;
    y.bits = detail::float16_bits(x);
    return y;
  }
#endif
#if XPOPS_PTX_SM80
  if constexpr (is_same_v<Out, bfloat16>) {
    Out y;
    y.bits = detail::bfloat16_bits(x);
    return y;
  }
#endif
  return Out(x);
}

// The bits of two numbers of 16 bits, the first in the low half.
template <class Out> XPOPS_DEVICE uint32 narrowed_pair(float first, float second) {
#if XPOPS_PTX_SM80
  uint32 pair;
  if constexpr (is_same_v<Out, float16>) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return packed2<Out>(narrowed<Out>(first), narrowed<Out>(second)).bits;
#endif
}

// One of two numbers of 16 bits.
template <class T> XPOPS_DEVICE float widened_half(uint32 pair, bool second) {
  if constexpr (is_same_v<T, bfloat16>) return bits_float(second ? pair & 0xffff0000 : pair << 16);
#if XPOPS_ON_GPU
  float y;
  if (second) asm("{ .reg .b16 x<2>; mov.b32 {x0, x1}, %1; cvt.f32.f16 %0, x1; }" : "=f"(y) : "r"(pair));
  else asm("{ .reg .b16 x<2>; mov.b32 {x0, x1}, %1; cvt.f32.f16 %0, x0; }" : "=f"(y) : "r"(pair));
  return y;
#else
  const packed2<T> both(pair);
  return widened(second ? both.second() : both.first());
#endif
}

namespace detail {

constexpr float kLog2e = 0x1.715476p+0f, kNaturalLog2 = 0.693147181f, kHalfPi = 1.57079633f;

// 2^x. Subnormal floats are kept for bfloat16, which has the same exponents; for float16 they are 0 anyway.
template <class Out> XPOPS_DEVICE float narrow_exp2(float x) {
#if XPOPS_ON_GPU
  if constexpr (is_same_v<Out, bfloat16>) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
#endif
  return fast_exp2(x);
}

// log2(x). Only bfloat16 operands may be subnormal floats.
template <class X> XPOPS_DEVICE float narrow_log2(float x) {
#if XPOPS_ON_GPU
  if constexpr (is_same_v<X, bfloat16>) {
    float y;
    asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
#endif
  return fast_log2(x);
}

// log(x + root), for x >= 0.5. The sum of two large bfloat16 numbers overflows float, so they are halved first.
template <class X> XPOPS_DEVICE float log_of_sum(float x, float root) {
  if constexpr (is_same_v<X, bfloat16>) return fma(fast_log2(fma(0.5f, x, 0.5f * root)), kNaturalLog2, kNaturalLog2);
  else return fast_log2(x + root) * kNaturalLog2;
}

// sqrt(x * x + one), where `one` is 1 or -1. The square of a large bfloat16 number overflows float, so for large x the
// function returns x.
template <class X> XPOPS_DEVICE float root_beside(float x, float one) {
  const float root = fast_sqrt(fma(x, x, one));
  if constexpr (is_same_v<X, bfloat16>) return x < 0x1p60f ? root : x;
  else return root;
}

// A power of 2 whose product with a finite x >= 0 is below 8, and at least 2^-7 unless x is 0; and its inverse. Both
// are normal floats.
XPOPS_DEVICE float scale_of(float x) { return bits_float(0x7e800000u - (float_bits(x) & 0x7e000000u)); }
XPOPS_DEVICE float inverse_scale_of(float x) { return bits_float((float_bits(x) & 0x7e000000u) + 0x00800000u); }

}  // namespace detail
}  // namespace xpops
