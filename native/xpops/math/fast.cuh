// What the hardware does in one instruction: good enough for results of 16 bits and less, or to be mended after.
#pragma once

#include "xpops/core/traits.cuh"
#include "xpops/core/types.cuh"
#include "xpops/math/real.cuh"

namespace xpops {

// Within 2 units in the last place; subnormal numbers are 0.
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

// Without what float16's own conversions do for the signs of NaNs.
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
