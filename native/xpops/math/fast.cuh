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
