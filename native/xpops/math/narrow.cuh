// What the Narrow functors share. They compute results of 16 bits and less in float, with the hardware's approximations
// and minimax polynomials (from Remez exchange).
//
// Those of the standard's functions take operands X, float16 or bfloat16, as they are stored. The relative error of the
// float is at most 2^-18, so that results are within 0.51 units in the last place. A float16 operand is a normal float
// and at most 65504. A bfloat16 operand has 8 digits and the exponents of float, subnormal ones included.
#pragma once

#include "xpops/math/fast.cuh"
#include "xpops/math/scaled_exp.cuh"

namespace xpops {
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

// log(x + root), for x >= 0.5. The sum of two large bfloat16 is no float.
template <class X> XPOPS_DEVICE float log_of_sum(float x, float root) {
  if constexpr (is_same_v<X, bfloat16>) return fma(fast_log2(fma(0.5f, x, 0.5f * root)), kNaturalLog2, kNaturalLog2);
  else return fast_log2(x + root) * kNaturalLog2;
}

// sqrt(x * x + one), for one = 1 or -1. The square of a large bfloat16 is no float; the root is then x.
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
