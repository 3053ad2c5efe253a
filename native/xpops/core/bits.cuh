// The bits of floating-point numbers.
#pragma once

#include "xpops/core/config.cuh"

namespace xpops {

XPOPS_DEVICE uint32 float_bits(float x) {
#if XPOPS_ON_GPU
  return __float_as_uint(x);
#else
  uint32 b;
  __builtin_memcpy(&b, &x, 4);
  return b;
#endif
}

XPOPS_DEVICE float bits_float(uint32 b) {
#if XPOPS_ON_GPU
  return __uint_as_float(b);
#else
  float x;
  __builtin_memcpy(&x, &b, 4);
  return x;
#endif
}

XPOPS_DEVICE uint64 float_bits(double x) {
#if XPOPS_ON_GPU
  return static_cast<uint64>(__double_as_longlong(x));
#else
  uint64 b;
  __builtin_memcpy(&b, &x, 8);
  return b;
#endif
}

XPOPS_DEVICE double bits_float(uint64 b) {
#if XPOPS_ON_GPU
  return __longlong_as_double(static_cast<int64>(b));
#else
  double x;
  __builtin_memcpy(&x, &b, 8);
  return x;
#endif
}

}  // namespace xpops
