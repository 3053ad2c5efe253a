// Approximations and conversions by one hardware instruction. They are accurate enough for results of 16 bits and less;
// for others, callers correct them.
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
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (is_same_v<Out, bfloat16>) {
    Out y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
#endif
  return Out(x);
}

}  // namespace xpops
